"""The action masks of positions, compiled: bits in, bytes out.

`state` and `sizes` are those of `sudoku_gym.kernels.positions`.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,var-annotated"

from __future__ import annotations

import numpy as np

from sudoku_gym.kernels.compiler import njit
from sudoku_gym.kernels.intrinsics import spread_bits
from sudoku_gym.kernels.positions import all_digits, may_erase


@njit(cache=True, inline="always")
def write_mask(state, b, any_digit, sizes, masks):
    """Write the action mask of board b into `masks[b]`, int8 `[B, A]`.

    With `any_digit` every digit is legal in every blank cell, otherwise candidates are.
    """
    size, num_actions, _, _, _, _ = sizes
    row, placements = np.uint64(b), np.uint64(size**3)
    _write_placements(state, row, any_digit, sizes, masks)
    for cell in range(np.uint64(num_actions) - placements):
        masks[row, placements + cell] = may_erase(state, b, cell, sizes)


@njit(cache=True, inline="always")
def _write_placements(state, row, any_digit, sizes, masks):
    """Write which placements are legal into `masks[row, :N**3]`, 64 bytes at a time."""
    size, _, _, fields, whole, _ = sizes
    length, step = size**3, fields * size
    # What is written too much, the next word overwrites. Two loops, since one with a branch inside
    # takes half as long again.
    if any_digit:
        for k in range(np.uint64(whole)):
            word = _legal_placements(state, row, k, True, sizes)
            spread_bits(word, masks, row, k * np.uint64(step))
    else:
        for k in range(np.uint64(whole)):
            spread_bits(state[1][row, k], masks, row, k * np.uint64(step))
    if whole == state[1].shape[1]:
        return
    word = _legal_placements(state, row, np.uint64(whole), any_digit, sizes)
    rest = length - whole * step
    if whole > 0:  # the last 64 bytes begin with the end of the last word but one
        before = _legal_placements(state, row, np.uint64(whole - 1), any_digit, sizes)
        before >>= np.uint64(step + rest - 64)
        spread_bits(before | (word << np.uint64(64 - rest)), masks, row, length - 64)
    else:
        for i in range(np.uint64(rest)):
            masks[row, i] = (word >> i) & np.uint64(1)


@njit(cache=True, inline="always")
def _legal_placements(state, row, k, any_digit, sizes):
    """Return the legal placements into the cells of word k, one bit each."""
    rows, candidates, _ = state
    if not any_digit:
        return candidates[row, k]
    size, fields = sizes[0], sizes[3]
    word, first, cell = np.uint64(0), np.uint64(0), k * np.uint64(fields)
    for _ in range(min(fields, size * size - np.int64(cell))):
        word |= (all_digits(sizes) if rows[row, cell] == 0 else np.uint64(0)) << first
        first += np.uint64(size)
        cell += np.uint64(1)
    return word
