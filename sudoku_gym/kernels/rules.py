"""The rules as compiled kernels on batches of flat boards.

Boards are int8 `[B, N**2]`, units int32 `[U, N]`, cell_units int32 `[N**2, K]` (padded with U); a
set of digits is a uint32 with bit `digit - 1`.
"""

from __future__ import annotations

import numpy as np

from sudoku_gym.compiler.jit import njit

# mypy: disable-error-code="no-untyped-def"


@njit(cache=True)
def used_digits(board, units, used):
    """Write into `used [U + 1]` the digits each unit holds; the last entry (padding) stays 0."""
    for unit in range(units.shape[0]):
        digits = np.uint32(0)
        for cell in units[unit]:
            if board[cell] > 0:
                digits |= np.uint32(1) << np.uint32(board[cell] - 1)
        used[unit] = digits
    used[units.shape[0]] = 0


@njit(cache=True)
def candidate_masks(boards, units, cell_units):
    """Return the candidates of each cell, uint32 `[B, N**2]`; 0 for filled cells."""
    size = units.shape[1]
    full = np.uint32((1 << size) - 1)
    masks = np.zeros(boards.shape, np.uint32)
    used = np.empty(len(units) + 1, np.uint32)
    for b in range(len(boards)):
        used_digits(boards[b], units, used)
        for cell in range(boards.shape[1]):
            if boards[b, cell] == 0:
                digits = np.uint32(0)
                for unit in cell_units[cell]:
                    digits |= used[unit]
                masks[b, cell] = full & ~digits
    return masks


@njit(cache=True)
def conflicting_cells(boards, units):
    """Return which filled cells share a unit with their own digit: bool `[B, N**2]`."""
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
def satisfied_unit_flags(boards, units):
    """Return which units hold all N digits: bool `[B, U]`."""
    full = np.uint32((1 << units.shape[1]) - 1)
    satisfied = np.zeros((len(boards), len(units)), np.bool_)
    used = np.empty(len(units) + 1, np.uint32)
    for b in range(len(boards)):
        used_digits(boards[b], units, used)
        for unit in range(len(units)):
            satisfied[b, unit] = used[unit] == full
    return satisfied
