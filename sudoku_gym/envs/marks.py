"""What a picture shows in blank cells: candidates, and how likely a policy is to place each.

Every digit has a place of its own in its cell, so small marks can be told apart without reading.
"""

from __future__ import annotations

from functools import cache
from math import isqrt

import numpy as np
from numpy.typing import NDArray
from PIL import ImageDraw, ImageFont

from sudoku_gym.board import SYMBOLS

_MARK = "#8a8a8a"
_HEAT = ((255, 255, 255), (240, 170, 90), (130, 40, 90))  # dark is likely, also in shades of grey
_READABLE = 8  # pixels; smaller digits become dots


@cache
def font(pixels: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return the font for digits of a height."""
    return ImageFont.load_default(size=pixels)


def marks_side(size: int) -> int:
    """Return how many marks stand side by side in a cell of an N x N board."""
    return isqrt(size - 1) + 1


def draw_marks(
    canvas: ImageDraw.ImageDraw,
    candidates: NDArray[np.bool_],
    heat: NDArray[np.floating] | None,
    frame: tuple[int, int, int, int],
) -> None:
    """Draw the candidates of one blank cell.

    Args:
        canvas: to draw on.
        candidates: bool `[N]`.
        heat: float `[N]` in [0, 1], how strongly each candidate is coloured; None for no colour.
        frame: left, top, right and bottom of the cell.
    """
    left, top, right, bottom = frame
    side = marks_side(len(candidates))
    step_x, step_y = (right - left - 3) / side, (bottom - top - 3) / side
    for index in np.flatnonzero(candidates).tolist():
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
            canvas.text((x, y), SYMBOLS[index + 1], ink, font(pixels), anchor="mm")
        elif heat is None:
            more = max(1, int(min(step_x, step_y) / 3) - 1)
            corner_x, corner_y = int(x - more / 2), int(y - more / 2)
            canvas.rectangle((corner_x, corner_y, corner_x + more, corner_y + more), fill=ink)


def _heat_color(share: float) -> tuple[int, int, int]:
    """Return the colour for a share in [0, 1]."""
    place = min(max(share, 0.0), 1.0) * (len(_HEAT) - 1)
    index = min(int(place), len(_HEAT) - 2)
    mix = place - index
    red, green, blue = (
        round(a + (b - a) * mix) for a, b in zip(_HEAT[index], _HEAT[index + 1], strict=True)
    )
    return red, green, blue
