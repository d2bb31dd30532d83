"""Boards as images and text.

Colour and form both mark givens (black, bold, on grey), placements (blue), the last move (on
yellow, framed) and conflicts (vermilion, with a corner); a cross marks a dead end. Other blank
cells may show their candidates, coloured by a policy's probabilities.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import cache
from math import isqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from sudoku_gym.board import SYMBOLS, candidates, conflicts
from sudoku_gym.board.notation import grid_of
from sudoku_gym.geometry import Geometry, geometry_for
from sudoku_gym.plugins import suggest_extra

# Okabe and Ito's palette, which colour-blind readers can tell apart, and tints of it.
_PAPER, _GIVEN, _SHADE, _GIVEN_SHADE = "#ffffff", "#ececec", "#dcebf5", "#c5d7e3"
_LAST, _LAST_FRAME, _CLASH = "#fdf0b8", "#e69f00", "#fbdccb"
_INK, _BLUE, _VERMILION, _THIN, _MARK = "#1b1b1b", "#0072b2", "#c84b00", "#b4b4b4", "#8a8a8a"
HEAT_COLORS = ((255, 255, 255), (240, 170, 90), (130, 40, 90))
"""Colours of a candidate with no probability, half of the largest, and the largest, which is dark
in shades of grey too."""
_READABLE = 8  # pixels; smaller digits become dots

_RESET, _BOLD, _REVERSE = "\x1b[0m", "\x1b[1m", "\x1b[7m"
_ANSI_BLUE, _ANSI_CLASH = "\x1b[34m", "\x1b[4;31m"


def render(
    mode: str,
    board: NDArray[np.int8],
    givens: NDArray[np.bool_],
    geometry: Geometry,
    last_cell: int,
) -> str | NDArray[np.uint8]:
    """Draw one board in an environment's render mode; `last_cell` is -1 before the first move."""
    last = None if last_cell < 0 else divmod(last_cell, geometry.size)
    if mode == "ansi":
        return to_ansi(board, givens, geometry, last=last)
    return draw(board, givens, geometry, last=last, show_candidates=True)


def draw(
    board: NDArray[np.int8],
    givens: NDArray[np.bool_] | None = None,
    geometry: Geometry | None = None,
    *,
    last: tuple[int, int] | None = None,
    show_candidates: bool = False,
    heat: NDArray[np.floating] | None = None,
    size: int | None = None,
) -> NDArray[np.uint8]:
    """Draw a board as an image.

    Args:
        board: int8 `[N, N]`, 0 for a blank.
        givens: bool `[N, N]`; None takes every digit for a given.
        geometry: the board's shape; None means the standard one for N.
        last: (row, column) of the last move, counted from 0.
        show_candidates: whether blank cells show their candidates: small digits, or dots where
            there is no room for them.
        heat: float `[N, N, N]` or `[N**3]`, not negative: a policy's probabilities.
            Candidates are shown on a colour that is darkest for the largest.
        size: approximate height and width in pixels; None fits the digits.

    Returns:
        uint8 `[H, W, 3]`, H = W, even (as video encoders want it).

    Raises:
        ValueError: if `size` leaves a cell less than 8 pixels, or `heat` has another shape.
    """
    geometry = geometry_for(len(board), geometry)
    digits = geometry.size
    cell = max(30, 480 // digits) if size is None else size // digits
    if heat is not None:
        heat = _scaled(heat, digits)
        if size is None:
            cell = max(cell, 10 * _marks_side(digits))
    if cell < 8:
        raise ValueError(f"size={size}: a {geometry.name} board needs at least {8 * digits + 8}")
    margin = max(4, cell // 10)
    side = (digits * cell + 2 * margin + 1) // 2 * 2
    image = Image.new("RGB", (side, side), _PAPER)
    canvas = ImageDraw.Draw(image)
    styles = _CellStyles(board, givens, geometry)
    for row, column in np.ndindex(board.shape):
        left, top = margin + column * cell, margin + row * cell
        frame = (left, top, left + cell - 1, top + cell - 1)
        canvas.rectangle(frame, fill=styles.paper(row, column, (row, column) == last))
        _draw_content(canvas, styles, row, column, frame)
        if (show_candidates or heat is not None) and board[row, column] == 0:
            warmth = None if heat is None else heat[row, column]
            _draw_marks(canvas, styles.candidates[row, column], warmth, frame)
    _draw_lines(canvas, geometry.regions, cell, margin)
    if last is not None:
        thick = max(1, cell // 40)
        top, left = (margin + number * cell + thick + 1 for number in last)
        inner = cell - 2 * thick - 2
        frame = (left, top, left + inner, top + inner)
        canvas.rectangle(frame, outline=_LAST_FRAME, width=thick + 1)
    return np.asarray(image).copy()


def save_film(frames: Iterable[NDArray[np.uint8]], path: str | Path, fps: float = 4.0) -> None:
    """Save a film, whose last frame stays for two seconds.

    Args:
        frames: uint8 `[H, W, 3]` each, all of one size, at least one.
        path: `.gif` (endless) or `.mp4`, which takes imageio, of the extra `render`; ValueError if
            the suffix is another. Missing folders are made.
        fps: frames per second.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".gif", ".mp4"):
        raise ValueError(f"{path}: the name of a film ends in .gif or .mp4")
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    shown = list(frames)
    if suffix == ".mp4":
        with suggest_extra("a film as MP4"):
            from imageio.v3 import imwrite
        imwrite(path, np.stack(shown + shown[-1:] * int(2 * fps)), fps=fps, macro_block_size=2)
        return
    first, *rest = map(Image.fromarray, shown)
    durations = [round(1000 / fps)] * len(rest) + [2000]  # milliseconds
    first.save(path, save_all=True, append_images=rest, duration=durations, loop=0)


def _scaled(heat: NDArray[np.floating], size: int) -> NDArray[np.floating]:
    """Return heat as `[N, N, N]` with a maximum of 1."""
    if heat.size != size**3:
        raise ValueError(f"heat must be [{size}, {size}, {size}], not {list(heat.shape)}")
    largest = heat.max()
    return heat.reshape(size, size, size) / (largest if largest > 0 else 1)


class _CellStyles:
    """The colours of each cell of a board."""

    def __init__(
        self, board: NDArray[np.int8], givens: NDArray[np.bool_] | None, geometry: Geometry
    ) -> None:
        self.board = board
        self.givens = board > 0 if givens is None else givens
        self.clashes = conflicts(board[None], geometry)[0]
        self.candidates = candidates(board[None], geometry)[0]
        self.dead = (board == 0) & ~self.candidates.any(-1)
        self.shaded = np.zeros(board.shape, np.bool_)
        ordinary = 3 if geometry.regions.any() else 2
        self.shaded.ravel()[geometry.units[ordinary * geometry.size :].ravel()] = True

    def paper(self, row: int, column: int, is_last: bool) -> str:
        """Return the background's colour."""
        if is_last:
            return _LAST
        if self.clashes[row, column]:
            return _CLASH
        given, shaded = self.givens[row, column], self.shaded[row, column]
        if given:
            return _GIVEN_SHADE if shaded else _GIVEN
        return _SHADE if shaded else _PAPER

    def ink(self, row: int, column: int) -> str:
        """Return the digit's colour."""
        if self.clashes[row, column]:
            return _VERMILION
        return _INK if self.givens[row, column] else _BLUE


def _draw_content(
    canvas: ImageDraw.ImageDraw,
    styles: _CellStyles,
    row: int,
    column: int,
    frame: tuple[int, int, int, int],
) -> None:
    """Draw the digit, the corner of a conflict, or the cross of a dead end."""
    left, top, right, bottom = frame
    cell = right - left + 1
    middle = ((left + right) / 2, (top + bottom) / 2)
    digit = int(styles.board[row, column])
    if digit > 0:
        bold = cell // 40 if styles.givens[row, column] else 0
        ink, font = styles.ink(row, column), _font(cell * 5 // 8)
        canvas.text(middle, SYMBOLS[digit], ink, font, anchor="mm", stroke_width=bold)
    elif styles.dead[row, column]:
        arm, width = cell // 8, max(1, cell // 24)
        x, y = int(middle[0]), int(middle[1])
        canvas.line((x - arm, y - arm, x + arm, y + arm), _VERMILION, width)
        canvas.line((x - arm, y + arm, x + arm, y - arm), _VERMILION, width)
    if styles.clashes[row, column]:
        corner = cell // 4
        canvas.polygon([(right - corner, top), (right, top), (right, top + corner)], _VERMILION)


@cache
def _font(pixels: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size=pixels)


def _marks_side(size: int) -> int:
    """Return the number of candidates per row in a cell of an N x N board."""
    return isqrt(size - 1) + 1


def _draw_marks(
    canvas: ImageDraw.ImageDraw,
    allowed: NDArray[np.bool_],
    heat: NDArray[np.floating] | None,
    frame: tuple[int, int, int, int],
) -> None:
    """Draw a blank cell's candidates, bool `[N]`, coloured by `heat [N]` in [0, 1] or not."""
    left, top, right, bottom = frame
    side = _marks_side(len(allowed))
    step_x, step_y = (right - left - 3) / side, (bottom - top - 3) / side
    for index in np.flatnonzero(allowed).tolist():
        row, column = divmod(index, side)
        x, y = left + 2 + (column + 0.5) * step_x, top + 2 + (row + 0.5) * step_y
        ink = _MARK
        if heat is not None:
            paper = _heat_color(float(heat[index]))
            box = (x - step_x / 2, y - step_y / 2, x + step_x / 2 - 1, y + step_y / 2 - 1)
            canvas.rectangle(box, fill=paper)
            ink = "#ffffff" if sum(paper) < 330 else "#4a4a4a"
        pixels = int(min(step_x, step_y) * 0.85)
        if pixels >= _READABLE:
            canvas.text((x, y), SYMBOLS[index + 1], ink, _font(pixels), anchor="mm")
        elif heat is None:
            more = max(1, int(min(step_x, step_y) / 3) - 1)
            corner_x, corner_y = int(x - more / 2), int(y - more / 2)
            canvas.rectangle((corner_x, corner_y, corner_x + more, corner_y + more), fill=ink)


def _heat_color(share: float) -> tuple[int, int, int]:
    """Return the colour of a value in [0, 1]."""
    red, green, blue = (
        round(float(np.interp(2 * share, range(3), shades)))
        for shades in zip(*HEAT_COLORS, strict=True)
    )
    return red, green, blue


def _draw_lines(
    canvas: ImageDraw.ImageDraw, regions: NDArray[np.int32], cell: int, margin: int
) -> None:
    """Draw thin lines between cells, then thick ones between regions and around the board."""
    size = len(regions)
    thick = max(1, cell // 40)
    outside = np.pad(regions, 1, constant_values=-1)
    for heavy in (False, True):
        for row, column in np.ndindex(size + 1, size + 1):
            x, y = margin + column * cell, margin + row * cell
            here, above = outside[row + 1, column + 1], outside[row, column + 1]
            before = outside[row + 1, column]
            reach = thick if heavy else 0
            ink = _INK if heavy else _THIN
            if column < size and (here != above) == heavy:
                canvas.rectangle((x - reach, y - reach, x + cell + reach, y + reach), ink)
            if row < size and (here != before) == heavy:
                canvas.rectangle((x - reach, y - reach, x + reach, y + cell + reach), ink)


def to_ansi(
    board: NDArray[np.int8],
    givens: NDArray[np.bool_] | None = None,
    geometry: Geometry | None = None,
    *,
    last: tuple[int, int] | None = None,
    color: bool | None = None,
) -> str:
    """Write a board as N lines of text with rules between its regions; see `draw` for the rest.

    `color` says whether to mark givens (bold), placements (blue), the last move (reversed) and
    conflicts (red, underlined); None asks the terminal, and heeds `NO_COLOR`.
    """
    geometry = geometry_for(len(board), geometry)
    if color is None:
        color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    styles = _CellStyles(board, givens, geometry)
    symbols = [[SYMBOLS[digit] for digit in digits] for digits in board]
    if color:
        for row, column in np.ndindex(board.shape):
            symbols[row][column] = _styled(symbols[row][column], styles, row, column, last)
    return grid_of(symbols, geometry.regions)


def _styled(
    symbol: str, styles: _CellStyles, row: int, column: int, last: tuple[int, int] | None
) -> str:
    style = _REVERSE if (row, column) == last else ""
    if styles.clashes[row, column]:
        style += _ANSI_CLASH
    elif styles.board[row, column] > 0:
        style += _BOLD if styles.givens[row, column] else _ANSI_BLUE
    return f"{style}{symbol}{_RESET}" if style else symbol
