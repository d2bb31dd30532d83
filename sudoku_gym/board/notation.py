"""Boards as text: one line of symbols, or a drawn grid."""

from __future__ import annotations

from collections.abc import Iterable
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

    Digits above 9 are letters (A = 10 ... P = 25); blanks are as `counts_from_0` says, and spaces,
    line breaks and rules as `symbols_of`, so a drawn grid reads as well as a single line. Without a
    geometry N follows from the number of symbols.

    Raises:
        ValueError: if the length fits no board, a symbol is no digit of it, or `0` may be a digit
            as well as a blank.
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
    first = int(counts_from_0(symbols, size))
    digits = [_VALUES.get(each, MAX_SIZE + 1) + first * (each != ".") for each in symbols]
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


def counts_from_0(symbols: str, size: int) -> bool:
    """Whether `0` is the first of a board's N digits: it is where `.` stands too, else a blank.

    ValueError if `.`, `0` and the digit N all stand in the board.
    """
    is_mixed = "0" in symbols and "." in symbols
    if is_mixed and SYMBOLS[size] in symbols.upper():
        raise ValueError(
            f"0 and . stand beside {SYMBOLS[size]} in a board of {size} digits: if 0 is a blank, "
            f"write . for it; if 0 is a digit, {SYMBOLS[size]} is none (0 to {SYMBOLS[size - 1]})"
        )
    return is_mixed


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
    """Format one board, int `[N, N]`, as a line of N**2 symbols, `.` for a blank.

    Raises:
        ValueError: if a value is no digit of any board.
        TypeError: if the values are no integers.
    """
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
    """Format one board, int `[N, N]`, as a grid of N lines, with rules between the boxes.

    Raises:
        ValueError: if a value is no digit of any board, or the board is none of the geometry.
        TypeError: if the values are no integers.
    """
    cells = _as_digits(board)
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
        raise ValueError(f"one board is [N, N], not {list(cells.shape)}")
    geometry = geometry_for(len(cells), geometry)
    height, width = geometry.box_shape or (geometry.size, geometry.size)
    lines = []
    for row, digits in enumerate(cells):
        if row and row % height == 0:
            lines.append("+".join(["-" * (2 * width + 1)] * (geometry.size // width)))
        symbols = [SYMBOLS[digit] for digit in digits]
        stacks = [" ".join(symbols[i : i + width]) for i in range(0, geometry.size, width)]
        lines.append(" " + " | ".join(stacks))
    return "\n".join(lines)


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
