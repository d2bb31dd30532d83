"""What the rules say of boards: candidates, conflicts, satisfied units.

A board is int8 with 0 for a blank. Functions take a batch `[B, N, N]`; `geometry=None` means the
standard boxes for that N. The kernels take flat boards int8 `[B, N**2]`, and tables of a geometry.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudoku_gym.board.notation import SYMBOLS, cell_name
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry, geometry_for


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
    if array.dtype.kind not in "iu":
        raise TypeError(f"boards must hold integers, not {array.dtype}")
    size = array.shape[1]
    geometry = geometry_for(size, geometry)
    if array.size and (array.min() < 0 or array.max() > size):
        index, row, column = np.argwhere((array < 0) | (array > size))[0].tolist()
        raise ValueError(
            f"board {index}, row {row + 1}, column {column + 1}: {array[index, row, column]} is no "
            f"digit of a {geometry.name} board (use 1 to {size}, and 0 for a blank)"
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
    masks = candidate_masks(flat, geometry.units, geometry.cell_units)
    bits = np.uint32(1) << np.arange(geometry.size, dtype=np.uint32)
    allowed: NDArray[np.bool_] = (masks[:, :, None] & bits) != 0
    return allowed.reshape(-1, *3 * (geometry.size,))


def conflicts(boards: ArrayLike, geometry: Geometry | None = None) -> NDArray[np.bool_]:
    """Return the filled cells whose digit stands twice in a unit: bool `[B, N, N]`."""
    flat, geometry = flat_boards(boards, geometry)
    found = _conflicting_cells(flat, geometry.units)
    return found.reshape(-1, geometry.size, geometry.size)


def satisfied_units(boards: ArrayLike, geometry: Geometry | None = None) -> NDArray[np.bool_]:
    """Return the units that hold all N digits: bool `[B, U]`, in the order of `geometry.units`."""
    flat, geometry = flat_boards(boards, geometry)
    return _satisfied_units(flat, geometry.units)


def constraint_fraction(boards: ArrayLike, geometry: Geometry | None = None) -> NDArray[np.float32]:
    """Return the share of satisfied units, float32 `[B]`; 1 exactly where the board is solved.

    Source: cAlphaZero (Agarwal et al.), equation 4.
    """
    return satisfied_units(boards, geometry).mean(1, dtype=np.float32)


def is_solved(boards: ArrayLike, geometry: Geometry | None = None) -> NDArray[np.bool_]:
    """Return which boards are full and satisfy every unit: bool `[B]`."""
    return np.logical_and.reduce(satisfied_units(boards, geometry), axis=1)


def check_puzzles(boards: ArrayLike, geometry: Geometry | None = None) -> None:
    """Check boards `[B, N, N]` for wrong digits and for givens that contradict each other.

    Raises:
        ValueError: that names the first such board, two cells and the digit.
    """
    flat, geometry = flat_boards(boards, geometry)
    for index, cell in np.argwhere(_conflicting_cells(flat, geometry.units))[:1].tolist():
        alike = flat[index, geometry.peers[cell]] == flat[index, cell]
        other = geometry.peers[cell][alike & (geometry.peers[cell] != cell)][0]
        first, second = (cell_name(each, geometry.size) for each in (cell, other))
        which = f"board {index}: " if len(flat) > 1 else ""
        raise ValueError(
            f"{which}{SYMBOLS[flat[index, cell]]} stands twice in a unit, at {first} and {second}; "
            "change one of these givens"
        )


@njit(cache=True)
def _used_digits(board, units, used):
    """Write into `used [U + 1]` the digits each unit holds, as bits; the last (padding) is 0."""
    for unit in range(units.shape[0]):
        digits = np.uint32(0)
        for cell in units[unit]:
            if board[cell] > 0:
                digits |= np.uint32(1) << np.uint32(board[cell] - 1)
        used[unit] = digits
    used[units.shape[0]] = 0


@njit(cache=True)
def candidate_masks(boards, units, cell_units):
    """Return the candidates of each cell, uint32 `[B, N**2]` with bit `digit - 1`; 0 if filled."""
    size = units.shape[1]
    full = np.uint32((1 << size) - 1)
    masks = np.zeros(boards.shape, np.uint32)
    used = np.empty(len(units) + 1, np.uint32)
    for b in range(len(boards)):
        _used_digits(boards[b], units, used)
        for cell in range(boards.shape[1]):
            if boards[b, cell] == 0:
                digits = np.uint32(0)
                for unit in cell_units[cell]:
                    digits |= used[unit]
                masks[b, cell] = full & ~digits
    return masks


@njit(cache=True)
def _conflicting_cells(boards, units):
    conflicting = np.zeros(boards.shape, np.bool_)
    size = units.shape[1]
    first = np.empty(size + 1, np.int64)
    for b in range(len(boards)):
        for unit in range(len(units)):
            first[:] = -1
            for cell in units[unit]:
                digit = boards[b, cell]
                if digit > 0:
                    if first[digit] >= 0:
                        conflicting[b, cell] = True
                        conflicting[b, first[digit]] = True
                    first[digit] = cell
    return conflicting


@njit(cache=True)
def _satisfied_units(boards, units):
    full = np.uint32((1 << units.shape[1]) - 1)
    satisfied = np.zeros((len(boards), len(units)), np.bool_)
    used = np.empty(len(units) + 1, np.uint32)
    for b in range(len(boards)):
        _used_digits(boards[b], units, used)
        for unit in range(len(units)):
            satisfied[b, unit] = used[unit] == full
    return satisfied
