"""Boards as text: one line of symbols, or a drawn grid."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudoku_gym.geometry import MAX_SIZE, Geometry, geometry_for

SYMBOLS = ".123456789ABCDEFGHIJKLMNOP"
"""The symbol of each digit, `.` for a blank."""
_CODES = np.frombuffer(SYMBOLS.encode("ascii"), np.uint8)
_VALUES = {symbol: digit for digit, symbol in enumerate(SYMBOLS)} | {"0": 0}
_VALUES |= {symbol.lower(): digit for symbol, digit in _VALUES.items()}
_SEPARATORS = str.maketrans("_*", "..", " \t\r\n|+,;")
SIZES = tuple(n for n in range(4, MAX_SIZE + 1) if any(n % k == 0 for k in range(2, n)))
"""Numbers of digits that boxes can hold."""


def parse(text: str, geometry: Geometry | None = None) -> NDArray[np.int8]:
    """Read one board, row by row: int8 `[N, N]`.

    Digits above 9 are letters (A = 10 ... P = 25), `.` or `0` is a blank; spaces, line breaks and
    rules are as `symbols_of` says, so a drawn grid reads as well as a single line. Without a
    geometry N follows from the number of symbols.

    Raises:
        ValueError: if the length fits no board, a symbol is no digit of it, or `.` and `0` both
            stand in it, so that digits may be counted from 0.
    """
    given_size = geometry.size if geometry else 0
    symbols = "".join(symbols_of(line, given_size) for line in text.splitlines())
    size = isqrt(len(symbols))
    if size**2 != len(symbols) or (geometry is not None and size != geometry.size):
        wanted = f"{geometry.size**2} for {geometry.name}" if geometry else "16, 36, 81, 256 or 625"
        raise ValueError(
            f"a board of {len(symbols)} cells: expected as many symbols as cells ({wanted}), "
            "with 0 or . for a blank"
        )
    name = geometry_for(size, geometry).name
    if {".", "0"} <= {*symbols}:
        raise ValueError("0 and . stand in one board: write . for blanks, and digits from 1 on")
    digits = [_VALUES.get(each, MAX_SIZE + 1) for each in symbols]
    for cell, digit in enumerate(digits):
        if digit > size:
            raise ValueError(
                f"row {cell // size + 1}, column {cell % size + 1}: {symbols[cell]!r} is no digit "
                f"of a {name} board (use {digit_range(size)}, and 0 or . for a blank)"
            )
    return np.array(digits, np.int8).reshape(size, size)


def symbols_of(line: str, size: int = 0) -> str:
    """Return the symbols of a board, or of a row of one, `.` for the blanks `_` and `*`.

    Spaces and `| + , ;` are left out; so is `-`, unless it makes the line as long as a board of
    `size` digits, or a row of one, where it is a blank. A rule between drawn boxes has no symbols.
    """
    plain = line.translate(_SEPARATORS)
    if "-" not in plain:
        return plain
    if "+" in line and not plain.strip("-="):
        return ""
    counts = (size, size**2) if size else (*SIZES, *(n * n for n in SIZES))
    return plain.replace("-", "." if len(plain) in counts else "")


def parse_many(lines: Iterable[str], geometry: Geometry | None = None) -> NDArray[np.int8]:
    """Read boards of one size, one a line: int8 `[B, N, N]`.

    Empty lines and lines that start with # are skipped.

    Raises:
        ValueError: with the number of the line (from 1), if one does not parse, if the sizes
            differ, or if there is no board at all.
    """
    boards: list[NDArray[np.int8]] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            board = parse(line, geometry)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
        geometry = geometry_for(len(board), geometry)
        boards.append(board)
    if not boards:
        raise ValueError("no board found: give one board a line")
    return np.stack(boards)


def to_line(board: ArrayLike) -> str:
    """Format one board, int `[N, N]`, as a line of N**2 symbols, `.` for a blank."""
    return "".join(SYMBOLS[digit] for digit in _as_digits(board).ravel().tolist())


def to_lines(boards: NDArray[np.int8]) -> NDArray[np.bytes_]:
    """Format boards, int `[B, N, N]`, as lines, ASCII `[B]`, of N**2 symbols each.

    Raises:
        ValueError: if a value is no digit of any board, or the shape is another.
        TypeError: if the values are no integers.
    """
    cells = _as_digits(boards)
    if cells.ndim != 3:
        raise ValueError(f"boards are [B, N, N], not {list(cells.shape)}")
    count, height, width = cells.shape
    codes = _CODES[cells.reshape(count, height * width)]
    return codes.view(f"S{height * width}").reshape(count)


def to_text(board: ArrayLike, geometry: Geometry | None = None) -> str:
    """Format one board, int `[N, N]`, as a grid of N lines, with rules between the boxes."""
    cells = _as_digits(board)
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
        raise ValueError(f"one board is [N, N], not {list(cells.shape)}")
    geometry = geometry_for(len(cells), geometry)
    symbols = [[SYMBOLS[digit] for digit in digits] for digits in cells.tolist()]
    return grid_of(symbols, geometry.regions if geometry.box_shape else 0 * geometry.regions)


def grid_of(symbols: Sequence[Sequence[str]], regions: NDArray[np.int32]) -> str:
    """Draw symbols `[N, N]` as a grid of N lines, with rules between regions, int `[N, N]`."""
    is_wide = (regions[:, 1:] != regions[:, :-1]).any(0)  # whether a line follows a column
    lines = []
    for row in range(len(regions)):
        if row and (regions[row - 1] != regions[row]).any():
            lines.append(_rule(regions[row - 1], regions[row], is_wide))
        line = " " + symbols[row][0]
        for column in range(1, len(regions)):
            parts = regions[row, column - 1] != regions[row, column]
            line += " | " if parts else "   " if is_wide[column - 1] else " "
            line += symbols[row][column]
        lines.append(line)
    return "\n".join(lines)


def _rule(above: NDArray[np.int32], below: NDArray[np.int32], is_wide: NDArray[np.bool_]) -> str:
    """Return the rule between two rows: `-` where their regions differ, `+` at corners."""
    dash = np.where(above != below, "-", " ").tolist()
    line = dash[0] * 2
    for column in range(1, len(above)):
        left, right = dash[column - 1], dash[column]
        if is_wide[column - 1]:
            lines = [row[column] != row[column - 1] for row in (above, below)]
            crosses = "-" in (left, right)
            middle = ("+" if any(lines) else "-") if crosses else "|" if all(lines) else " "
            line += left + middle + right
        else:
            line += "-" if left == right == "-" else " "
        line += right
    return (line + dash[-1]).rstrip()


def _as_digits(board: ArrayLike) -> NDArray[np.integer]:
    """Return the cells of a board, which must have symbols."""
    cells = np.asarray(board)
    if cells.dtype.kind not in "iu":
        raise TypeError(f"a board consists of integers, not {cells.dtype}")
    if cells.size and not (cells.min() >= 0 and cells.max() < len(SYMBOLS)):
        raise ValueError(
            f"a board has digits from 0 to {MAX_SIZE}, not {cells.min()} to {cells.max()}"
        )
    return cells


def digit_range(size: int) -> str:
    """Name the digits of an N x N board, e.g. `1-9` or `1-9 and A-G`."""
    return f"1-{size}" if size <= 9 else f"1-9 and A-{SYMBOLS[size]}"


def cell_name(cell: int, size: int) -> str:
    """Name a cell as people do, counting from 1: `row 2, column 5`."""
    return f"row {cell // size + 1}, column {cell % size + 1}"
