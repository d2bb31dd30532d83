"""Boards: as text, checked, and what the rules allow on them.

A board is int8 with 0 for a blank. Functions of `boards` take a batch `[B, N, N]`, and
`geometry=None` means the standard boxes for that N.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudoku_gym.geometry import MAX_SIZE, Geometry, geometry_for
from sudoku_gym.kernels import rules

SYMBOLS = ".123456789ABCDEFGHIJKLMNOP"
"""The characters of a blank and of the digits, in order."""
_VALUES = {symbol: digit for digit, symbol in enumerate(SYMBOLS)} | {"0": 0}
_VALUES |= {symbol.lower(): digit for symbol, digit in _VALUES.items()}
_SEPARATORS = frozenset(" \t\r\n|+-,;")


def parse(text: str, geometry: Geometry | None = None) -> NDArray[np.int8]:
    """Read one board, row by row: int8 `[N, N]`.

    Digits above 9 are letters (A = 10 ... P = 25); `0` and `.` are blanks; spaces, line breaks
    and `| + - , ;` are skipped, so a drawn grid reads as well as a single line. Without a geometry
    N follows from the number of symbols.

    Raises:
        ValueError: if the length fits no board, or a symbol is no digit of it.
    """
    symbols = [symbol for symbol in text if symbol not in _SEPARATORS]
    size = isqrt(len(symbols))
    if size**2 != len(symbols) or (geometry is not None and size != geometry.size):
        wanted = f"{geometry.size**2} for {geometry.name}" if geometry else "16, 36, 81, 256 or 625"
        raise ValueError(
            f"a board of {len(symbols)} cells: expected as many symbols as cells ({wanted}), "
            "with 0 or . for a blank"
        )
    name = geometry_for(size, geometry).name
    digits = [_VALUES.get(symbol, MAX_SIZE + 1) for symbol in symbols]
    for cell, digit in enumerate(digits):
        if digit > size:
            raise ValueError(
                f"row {cell // size + 1}, column {cell % size + 1}: {symbols[cell]!r} is no digit "
                f"of a {name} board (use {digit_range(size)}, and 0 or . for a blank)"
            )
    return np.array(digits, np.int8).reshape(size, size)


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
        if boards and board.shape != boards[0].shape:
            raise ValueError(
                f"line {number}: a board of {len(board)} x {len(board)} cells after boards of "
                f"{len(boards[0])} x {len(boards[0])}; give boards of one size"
            )
        boards.append(board)
    if not boards:
        raise ValueError("no board found: give one board a line")
    return np.stack(boards)


def to_line(board: ArrayLike) -> str:
    """Format one board `[N, N]` as a line of N**2 symbols, `.` for a blank."""
    return "".join(SYMBOLS[digit] for digit in np.asarray(board).ravel())


def to_text(board: ArrayLike, geometry: Geometry | None = None) -> str:
    """Format one board `[N, N]` as a grid of N lines, with rules between the boxes."""
    cells = np.asarray(board)
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


def digit_range(size: int) -> str:
    """Name the digits of an N x N board, e.g. `1-9` or `1-9 and A-G`."""
    return f"1-{size}" if size <= 9 else f"1-9 and A-{SYMBOLS[size]}"


def cell_name(cell: int, size: int) -> str:
    """Name a cell as people do, counting from 1: `row 2, column 5`."""
    return f"row {cell // size + 1}, column {cell % size + 1}"


def as_boards(boards: ArrayLike, geometry: Geometry | None = None) -> NDArray[np.int8]:
    """Check a batch of boards and return it as a C-contiguous int8 array `[B, N, N]`.

    Raises:
        ValueError: if the shape is wrong or a value is no digit.
        TypeError: if the values are not integers.
    """
    array = np.asarray(boards)
    if array.ndim != 3 or array.shape[1] != array.shape[2]:
        raise ValueError(
            f"boards must be [B, N, N], not {list(array.shape)} (one board: board[None])"
        )
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"boards must hold integers, not {array.dtype}")
    size = array.shape[1]
    name = geometry_for(size, geometry).name
    wrong = (array < 0) | (array > size)
    if wrong.any():
        index, row, column = (int(i[0]) for i in np.nonzero(wrong))
        raise ValueError(
            f"board {index}, row {row + 1}, column {column + 1}: {array[index, row, column]} is no "
            f"digit of a {name} board (use 1 to {size}, and 0 for a blank)"
        )
    return np.ascontiguousarray(array, np.int8)


def flat_boards(boards: ArrayLike, geometry: Geometry | None) -> tuple[NDArray[np.int8], Geometry]:
    """Return boards, checked as `as_boards` does, as int8 `[B, N**2]`, and their geometry."""
    array = as_boards(boards, geometry)
    geometry = geometry_for(array.shape[1], geometry)
    return array.reshape(len(array), geometry.num_cells), geometry


def candidates(boards: ArrayLike, geometry: Geometry | None = None) -> NDArray[np.bool_]:
    """Return which digits each blank cell may still take: bool `[B, N, N, N]`, last axis digit - 1.

    A candidate is a digit that no unit of a blank cell holds yet; filled cells have none.
    Flattened to `[B, N**3]` this is the mask of legal placements.
    """
    flat, geometry = flat_boards(boards, geometry)
    masks = rules.candidate_masks(flat, geometry.units, geometry.cell_units)
    bits = np.uint32(1) << np.arange(geometry.size, dtype=np.uint32)
    allowed: NDArray[np.bool_] = (masks[:, :, None] & bits) != 0
    return allowed.reshape(-1, *3 * (geometry.size,))


def conflicts(boards: ArrayLike, geometry: Geometry | None = None) -> NDArray[np.bool_]:
    """Return the filled cells whose digit stands twice in a unit: bool `[B, N, N]`."""
    flat, geometry = flat_boards(boards, geometry)
    found = rules.conflicting_cells(flat, geometry.units)
    return found.reshape(-1, geometry.size, geometry.size)


def satisfied_units(boards: ArrayLike, geometry: Geometry | None = None) -> NDArray[np.bool_]:
    """Return the units that hold all N digits: bool `[B, U]`, in the order of `geometry.units`."""
    flat, geometry = flat_boards(boards, geometry)
    return rules.satisfied_unit_flags(flat, geometry.units)


def constraint_fraction(boards: ArrayLike, geometry: Geometry | None = None) -> NDArray[np.float32]:
    """Return the share of satisfied units, float32 `[B]`; 1 exactly where the board is solved.

    Source: cAlphaZero (Agarwal et al.), equation 4.
    """
    return satisfied_units(boards, geometry).mean(1, dtype=np.float32)


def is_solved(boards: ArrayLike, geometry: Geometry | None = None) -> NDArray[np.bool_]:
    """Return which boards are full and satisfy every unit: bool `[B]`."""
    return np.logical_and.reduce(satisfied_units(boards, geometry), axis=1)


def check_puzzle(board: ArrayLike, geometry: Geometry | None = None) -> None:
    """Check one board `[N, N]` for wrong digits and for givens that contradict each other.

    Raises:
        ValueError: that names the two cells and the digit.
    """
    (flat,), geometry = flat_boards(np.asarray(board)[None], geometry)
    for unit in geometry.units:
        seen: dict[int, int] = {}
        for cell in unit[flat[unit] > 0].tolist():
            digit = int(flat[cell])
            if digit in seen:
                first, second = (cell_name(each, geometry.size) for each in (seen[digit], cell))
                raise ValueError(
                    f"{SYMBOLS[digit]} stands twice in a unit, at {first} and {second}; "
                    "change one of these givens"
                )
            seen[digit] = cell
