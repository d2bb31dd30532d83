"""What several commands read: puzzles from text, files and banks, and ranges of blanks."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles import banks
from sudoku_gym.puzzles.sources import Blanks


def read_boards(text: str, geometry: Geometry | None) -> NDArray[np.int8]:
    """Read boards from `text`: a puzzle, the name of a text file, or `-` for standard input.

    A file holds one board a line, or a single one drawn over several lines.

    Returns:
        int8 `[B, N, N]`.

    Raises:
        ValueError: if it is none of these, or a board does not parse.
    """
    if text == "-":
        return _parse_lines(sys.stdin.read(), "standard input", geometry)
    if _is_file(text):
        return _parse_lines(Path(text).read_text(encoding="utf-8"), text, geometry)
    try:
        return board.parse(text, geometry)[None]
    except ValueError as error:
        if Path(text).suffix and not text.count(".") > 1:
            raise ValueError(f"there is no file {text!r}") from None
        raise ValueError(f"{error}") from None


def parse_blanks(text: str) -> Blanks:
    """Read a number of blanks, `40`, or a range with both ends, `30-40`; nothing means None."""
    if not text:
        return None
    low, dash, high = text.partition("-")
    try:
        return (int(low), int(high)) if dash else int(low)
    except ValueError:
        raise ValueError(f"blanks {text!r}: write a number such as 40, or a range, 30-40") from None


def geometry_of(name: str) -> Geometry:
    """Return the geometry called `9x9`, `9`, `12x12`, or as a bank, such as `x9x9`.

    Raises:
        ValueError: if there is none.
    """
    if name in banks.NAMES:
        return banks.geometry_of(name)
    size = name.partition("x")[0]
    if not size.isdecimal() or name not in (size, f"{size}x{size}"):
        raise ValueError(
            f"no board is called {name!r}: use 4x4, 6x6, 9x9 ... 25x25, or one of "
            f"{', '.join(banks.VARIANTS)}"
        )
    return Geometry.standard(int(size))


def _parse_lines(text: str, where: str, geometry: Geometry | None) -> NDArray[np.int8]:
    try:
        return board.parse_many(text.splitlines(), geometry)
    except ValueError as error:
        try:
            return board.parse(text, geometry)[None]
        except ValueError:
            raise ValueError(f"{where}: {error}") from None


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # a puzzle may be longer than a file's name can be
        return False
