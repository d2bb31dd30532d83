"""Grade a puzzle by the first technique that, together with those before it, solves it.

docs/puzzles.md defines the techniques. Each only removes candidates, so their order is free.
"""

# mypy: disable-error-code="no-untyped-def,call-arg"

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudoku_gym import board
from sudoku_gym.compiler.intrinsics import lowest_bit, popcount
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry
from sudoku_gym.solver.cover_bits import INNER

GRADES = ("naked singles", "hidden singles", "locked candidates", "pairs", "search")
"""The grades by number: grade 2 is `GRADES[2]`, puzzles that need locked candidates."""

_ONE = np.uint32(1)


def grade(boards: ArrayLike, geometry: Geometry | None = None) -> NDArray[np.int8]:
    """Return the grade of each puzzle, int8 `[B]`, an index into `GRADES`.

    The boards, int `[B, N, N]`, should have exactly one solution; else the grade is `search`.

    Raises:
        ValueError: if the boards have a wrong shape or digit.
    """
    flat, geometry = board.flat_boards(boards, geometry)
    grades = np.empty(len(flat), np.int8)
    _grade(flat, geometry.units, geometry.cell_units, geometry.peers, grades)
    return grades


def candidates_after(
    boards: ArrayLike, technique: int, geometry: Geometry | None = None
) -> NDArray[np.uint32]:
    """Return the candidates left when techniques 0 to `technique` (of `GRADES`) are exhausted.

    They are uint32 `[B, N, N]`, bit `digit - 1`; a filled cell keeps its one bit, and a cell
    without any bit shows a contradiction. The boards are int `[B, N, N]`.

    Raises:
        ValueError: if the technique has no such number or the boards a wrong shape or digit.
    """
    if not 0 <= technique < len(GRADES) - 1:
        raise ValueError(f"technique={technique}: use 0 to {len(GRADES) - 2}, see GRADES")
    flat, geometry = board.flat_boards(boards, geometry)
    left = np.empty(flat.shape, np.uint32)
    _exhaust(flat, technique, geometry.units, geometry.cell_units, geometry.peers, left)
    return left.reshape(-1, geometry.size, geometry.size)


@njit(cache=True)
def _grade(boards, units, cell_units, peers, grades):
    masks = np.empty(boards.shape[1], np.uint32)
    done = np.empty(boards.shape[1], np.bool_)
    for b in range(len(boards)):
        grades[b] = 4
        _open(boards[b], units, masks, done)
        for technique in range(4):
            _apply(technique, masks, done, units, cell_units, peers)
            if done.all():
                grades[b] = technique
                break


@njit(cache=True)
def _exhaust(boards, technique, units, cell_units, peers, left):
    done = np.empty(boards.shape[1], np.bool_)
    for b in range(len(boards)):
        _open(boards[b], units, left[b], done)
        _apply(technique, left[b], done, units, cell_units, peers)


@njit(**INNER)
def _open(board, units, masks, done):
    full = np.uint32((1 << units.shape[1]) - 1)
    for cell in range(len(board)):
        masks[cell] = _ONE << np.uint32(board[cell] - 1) if board[cell] > 0 else full
        done[cell] = False


@njit(**INNER)
def _apply(technique, masks, done, units, cell_units, peers):
    """Apply techniques 0 to `technique` until none changes anything."""
    changed = True
    while changed:
        changed = _naked_singles(masks, done, peers)
        if not changed and technique >= 1:
            changed = _hidden_singles(masks, done, units)
        if not changed and technique >= 2:
            changed = _locked_candidates(masks, done, units, cell_units)
        if not changed and technique >= 3:
            changed = _naked_pairs(masks, done, units) or _hidden_pairs(masks, done, units)


@njit(**INNER)
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


@njit(**INNER)
def _hidden_singles(masks, done, units):
    """Give each digit that has one place left in a unit that place."""
    changed = False
    for unit in units:
        once, twice = np.uint32(0), np.uint32(0)
        for cell in unit:
            twice |= once & masks[cell]
            once |= masks[cell]
        single = once & ~twice
        for cell in unit:
            mine = masks[cell] & single
            if not done[cell] and mine != 0 and mine != masks[cell]:
                masks[cell] = mine
                changed = True
    return changed


@njit(**INNER)
def _places(masks, unit, digit):
    """Return the places of a digit in a unit, as bits."""
    places = np.uint32(0)
    for k in range(len(unit)):
        places |= ((masks[unit[k]] >> np.uint32(digit)) & _ONE) << np.uint32(k)
    return places


@njit(**INNER)
def _locked_candidates(masks, done, units, cell_units):
    """Where a digit's places in a unit all lie in a second one, take it from the rest of that."""
    changed = False
    for first in range(len(units)):
        for digit in range(units.shape[1]):
            places = _places(masks, units[first], digit)
            if places == 0 or done[units[first, lowest_bit(places)]]:
                continue
            for second in cell_units[units[first, lowest_bit(places)]]:
                if second == first or second == len(units):
                    continue
                if _all_in(places, units[first], second, cell_units):
                    bit = _ONE << np.uint32(digit)
                    for cell in units[second]:
                        if masks[cell] & bit and not _lies_in(cell, first, cell_units):
                            masks[cell] &= ~bit
                            changed = True
    return changed


@njit(**INNER)
def _all_in(places, unit, second, cell_units):
    while places:
        if not _lies_in(unit[lowest_bit(places)], second, cell_units):
            return False
        places &= places - _ONE
    return True


@njit(**INNER)
def _lies_in(cell, unit, cell_units):
    for k in range(cell_units.shape[1]):
        if cell_units[cell, k] == unit:
            return True
    return False


@njit(**INNER)
def _naked_pairs(masks, done, units):
    """Where two cells of a unit have the same two candidates, the others of the unit lose them."""
    changed = False
    for unit in units:
        for i in range(len(unit)):
            pair = masks[unit[i]]
            if popcount(pair) != 2:
                continue
            for j in range(i):
                if masks[unit[j]] == pair:
                    for k in range(len(unit)):
                        if k != i and k != j and masks[unit[k]] & pair:
                            masks[unit[k]] &= ~pair
                            changed = True
    return changed


@njit(**INNER)
def _hidden_pairs(masks, done, units):
    """Where two digits share their only two places in a unit, those cells lose all others."""
    changed = False
    for unit in units:
        for digit in range(len(unit)):
            places = _places(masks, unit, digit)
            if popcount(places) != 2:
                continue
            for other in range(digit):
                if _places(masks, unit, other) == places:
                    pair = (_ONE << np.uint32(digit)) | (_ONE << np.uint32(other))
                    rest = places
                    while rest:
                        cell = unit[lowest_bit(rest)]
                        rest &= rest - _ONE
                        if masks[cell] & ~pair:
                            masks[cell] &= pair
                            changed = True
    return changed
