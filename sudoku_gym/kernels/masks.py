"""The action masks of positions, compiled: bits in, bytes out.

`state` and `sizes` are those of `sudoku_gym.kernels.layout`.
"""

# mypy: disable-error-code="no-untyped-def,call-arg"

from __future__ import annotations

import numpy as np

from sudoku_gym.compiler.intrinsics import spread_bits
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.kernels.moves import all_digits, may_erase


@njit(cache=True, inline="always")
def write_mask(state, b, any_digit, sizes, masks, t):
    """Write the action mask of board b into `masks[t]`, int8 `[*, A]`.

    With `any_digit` every digit is legal in every blank cell, otherwise candidates are.
    """
    row, target, placements = np.uint64(b), np.uint64(t), np.uint64(sizes.size**3)
    _write_placements(state, row, any_digit, sizes, masks, target)
    for cell in range(np.uint64(sizes.num_actions) - placements):
        masks[target, placements + cell] = may_erase(state, b, cell, sizes)


@inlined
def _write_placements(state, row, any_digit, sizes, masks, target):
    """Write which placements are legal into `masks[target, :N**3]`, 64 bytes at a time."""
    candidates, whole = state.candidates, sizes.whole_words
    length, step = sizes.size**3, sizes.cells_a_word * sizes.size
    # The next word overwrites excess bytes. One loop with a branch would take 1.5 times as long.
    if any_digit:
        for k in range(np.uint64(whole)):
            word = any_placements(state, row, k, sizes)
            spread_bits(word, masks, target, k * np.uint64(step))
    else:
        for k in range(np.uint64(whole)):
            spread_bits(candidates[row, k], masks, target, k * np.uint64(step))
    if whole == candidates.shape[1]:
        return
    word = _legal_placements(state, row, np.uint64(whole), any_digit, sizes)
    rest = length - whole * step
    if whole > 0:  # the last 64 bytes begin with the end of the last word but one
        before = _legal_placements(state, row, np.uint64(whole - 1), any_digit, sizes)
        before >>= np.uint64(step + rest - 64)
        spread_bits(before | (word << np.uint64(64 - rest)), masks, target, length - 64)
    else:
        for i in range(np.uint64(rest)):
            masks[target, i] = (word >> i) & np.uint64(1)


@njit(cache=True, inline="always")
def _legal_placements(state, row, k, any_digit, sizes):
    """Return the legal placements into the cells of word k, one bit each."""
    if any_digit:
        return any_placements(state, row, k, sizes)
    return state.candidates[row, k]


@inlined
def any_placements(state, row, k, sizes):
    """Return the placements of any digits into the blank cells of word k, one bit each."""
    word, first, cell = np.uint64(0), np.uint64(0), k * np.uint64(sizes.cells_a_word)
    for _ in range(min(sizes.cells_a_word, sizes.num_cells - np.int64(cell))):
        word |= (all_digits(sizes) if state.rows[row, cell] == 0 else np.uint64(0)) << first
        first += np.uint64(sizes.size)
        cell += np.uint64(1)
    return word
