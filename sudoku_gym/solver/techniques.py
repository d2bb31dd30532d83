"""Techniques of people, from naked singles to Swordfish, on the candidates of one board.

Each removes candidates, uint32 `masks` `[N * N]` with bit `digit - 1`; `done`, bool `[N * N]`, says
which naked singles have been removed from their peers. `lines` uint32 `[N]` is working memory.
"""

# mypy: disable-error-code="no-untyped-def,call-arg"

from __future__ import annotations

import numpy as np

from sudoku_gym.compiler.intrinsics import lowest_bit, popcount
from sudoku_gym.compiler.jit import njit
from sudoku_gym.solver.cover_bits import NO_RUNTIME_JIT

_ONE = np.uint32(1)


@njit(**NO_RUNTIME_JIT)
def open_masks(board, units, masks, done):
    """Set the candidates of a board, int8 `[N * N]`, before any technique."""
    full = np.uint32((1 << units.shape[1]) - 1)
    for cell in range(len(board)):
        masks[cell] = _ONE << np.uint32(board[cell] - 1) if board[cell] > 0 else full
        done[cell] = False


@njit(**NO_RUNTIME_JIT)
def apply_techniques(technique, masks, done, units, cell_units, peers, lines):
    """Apply techniques 0 to `technique` until none changes anything."""
    changed = True
    while changed:
        changed = _naked_singles(masks, done, peers)
        if not changed and technique >= 1:
            changed = _hidden_singles(masks, done, units)
        if not changed and technique >= 2:
            changed = _locked_candidates(masks, done, units, cell_units)
        for size in range(2, 4):
            if not changed and technique > size:
                changed = _subsets(size, masks, units, lines)
            if not changed and technique > size + 2:
                changed = _fish(size, masks, units, lines)


@njit(**NO_RUNTIME_JIT)
def _naked_singles(masks, done, peers):
    """Fill each cell that has one candidate; its peers lose that digit."""
    changed = False
    for cell in range(len(masks)):
        mask = masks[cell]
        if not done[cell] and mask != 0 and mask & (mask - _ONE) == 0:
            done[cell] = True
            changed = True
            for peer in peers[cell]:
                if peer != cell:
                    masks[peer] &= ~mask
    return changed


@njit(**NO_RUNTIME_JIT)
def _hidden_singles(masks, done, units):
    """Fill each cell that is the only one left for a digit in a unit."""
    changed = False
    for unit in units:
        once, twice = np.uint32(0), np.uint32(0)
        for cell in unit:
            twice |= once & masks[cell]
            once |= masks[cell]
        single = once & ~twice
        for cell in unit:
            new_mask = masks[cell] & single
            if not done[cell] and new_mask != 0 and new_mask != masks[cell]:
                masks[cell] = new_mask
                changed = True
    return changed


@njit(**NO_RUNTIME_JIT)
def _positions(masks, unit, digit):
    """Return the positions in a unit that a digit can take, as bits."""
    positions = np.uint32(0)
    for k in range(len(unit)):
        positions |= ((masks[unit[k]] >> np.uint32(digit)) & _ONE) << np.uint32(k)
    return positions


@njit(**NO_RUNTIME_JIT)
def _locked_candidates(masks, done, units, cell_units):
    """Where a digit's cells in a unit all lie in a second one, remove it from the rest of that."""
    changed = False
    for first in range(len(units)):
        for digit in range(units.shape[1]):
            positions = _positions(masks, units[first], digit)
            if positions == 0 or done[units[first, lowest_bit(positions)]]:
                continue
            for second in cell_units[units[first, lowest_bit(positions)]]:
                if second == first or second == len(units):
                    continue
                if _all_in(positions, units[first], second, cell_units):
                    bit = _ONE << np.uint32(digit)
                    for cell in units[second]:
                        if masks[cell] & bit and not _lies_in(cell, first, cell_units):
                            masks[cell] &= ~bit
                            changed = True
    return changed


@njit(**NO_RUNTIME_JIT)
def _all_in(positions, unit, second, cell_units):
    while positions:
        if not _lies_in(unit[lowest_bit(positions)], second, cell_units):
            return False
        positions &= positions - _ONE
    return True


@njit(**NO_RUNTIME_JIT)
def _lies_in(cell, unit, cell_units):
    for k in range(cell_units.shape[1]):
        if cell_units[cell, k] == unit:
            return True
    return False


@njit(**NO_RUNTIME_JIT)
def _subsets(size, masks, units, lines):
    """Pairs or triples: `size` cells of a unit share their candidates, or digits their places."""
    changed = False
    for unit in units:
        for k in range(len(unit)):
            lines[k] = masks[unit[k]]
        if _narrow(lines, size):
            changed = True
            for k in range(len(unit)):
                masks[unit[k]] = lines[k]
        for digit in range(len(unit)):
            lines[digit] = _positions(masks, unit, digit)
        if _narrow(lines, size):
            changed = True
            for digit in range(len(unit)):
                _keep(masks, unit, digit, lines[digit])
    return changed


@njit(**NO_RUNTIME_JIT)
def _fish(size, masks, units, lines):
    """X-Wing or Swordfish: a digit's places in `size` rows (columns) lie in as many columns."""
    changed = False
    for first in (0, len(lines)):  # of the rows, of the columns
        for digit in range(len(lines)):
            for k in range(len(lines)):
                lines[k] = _positions(masks, units[first + k], digit)
            if _narrow(lines, size):
                changed = True
                for k in range(len(lines)):
                    _keep(masks, units[first + k], digit, lines[k])
    return changed


@njit(**NO_RUNTIME_JIT)
def _narrow(lines, size):
    """Where `size` (2 or 3) sets of bits have `size` bits together, take these from the others.

    Each set, an item of uint32 `[N]`, needs one of its bits. Returns whether any set has changed.
    """
    changed = False
    for i in range(len(lines)):
        if popcount(lines[i]) > size:
            continue
        for j in range(i + 1):
            for k in range(j + 1):
                together, inside = lines[i] | lines[j] | lines[k], 0
                if popcount(together) != size:
                    continue
                for line in lines:
                    inside += line & ~together == 0
                for other in range(len(lines) if inside == size else 0):
                    if lines[other] & together and lines[other] & ~together:
                        lines[other] &= ~together
                        changed = True
    return changed


@njit(**NO_RUNTIME_JIT)
def _keep(masks, unit, digit, positions):
    """Remove a digit from all positions of a unit but these."""
    for k in range(len(unit)):
        if not (positions >> np.uint32(k)) & _ONE:
            masks[unit[k]] &= ~(_ONE << np.uint32(digit))
