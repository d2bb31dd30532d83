"""How hard puzzles are: a grade by techniques, and a rating by the guesses of a search.

The grade is the first technique that, together with those before it, solves the puzzle.
docs/puzzles.md defines the techniques. Each only removes candidates, so their order is free.

The rating counts the candidates that the depth-first search on the exact cover tries until the
solution is proven unique (on 9x9 too, where `solver` is another): 0 is what singles solve, random
minimal 9x9 puzzles have 1, the hardest that are known around 170.
"""

# mypy: disable-error-code="no-untyped-def,call-arg"

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudoku_gym import board
from sudoku_gym.compiler.intrinsics import lowest_bit, popcount
from sudoku_gym.compiler.jit import njit
from sudoku_gym.compiler.random_stream import COUNTER, new_stream
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.symmetry import draw_symmetry, group_of
from sudoku_gym.solver.api import NODE_LIMIT
from sudoku_gym.solver.chunks import in_chunks
from sudoku_gym.solver.cover_bits import NO_RUNTIME_JIT, cover_tables, load_board, reset_weights
from sudoku_gym.solver.depth_first import explore, new_searcher

GRADES = ("naked singles", "hidden singles", "locked candidates", "pairs", "search")
"""The grades by number: grade 2 is `GRADES[2]`, puzzles that need locked candidates."""

_ONE = np.uint32(1)


def grade(boards: ArrayLike, geometry: Geometry | None = None) -> NDArray[np.int8]:
    """Return the grade of each puzzle, int8 `[B]`, an index into `GRADES`.

    The boards, int `[B, N, N]`, should have exactly one solution; else the grade is `search`.
    """
    flat, geometry = board.flat_boards(boards, geometry)
    grades = np.empty(len(flat), np.int8)
    for part in in_chunks(len(flat)):
        _grade(flat[part], geometry.units, geometry.cell_units, geometry.peers, grades[part])
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
    masks = np.empty(flat.shape, np.uint32)
    tables = geometry.units, geometry.cell_units, geometry.peers
    for part in in_chunks(len(flat)):
        _exhaust(flat[part], technique, *tables, masks[part])
    return masks.reshape(-1, geometry.size, geometry.size)


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
def _exhaust(boards, technique, units, cell_units, peers, masks):
    done = np.empty(boards.shape[1], np.bool_)
    for b in range(len(boards)):
        _open(boards[b], units, masks[b], done)
        _apply(technique, masks[b], done, units, cell_units, peers)


@njit(**NO_RUNTIME_JIT)
def _open(board, units, masks, done):
    full = np.uint32((1 << units.shape[1]) - 1)
    for cell in range(len(board)):
        masks[cell] = _ONE << np.uint32(board[cell] - 1) if board[cell] > 0 else full
        done[cell] = False


@njit(**NO_RUNTIME_JIT)
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


@njit(**NO_RUNTIME_JIT)
def _hidden_pairs(masks, done, units):
    """Where two digits share their only two cells in a unit, those cells lose all others."""
    changed = False
    for unit in units:
        for digit in range(len(unit)):
            positions = _positions(masks, unit, digit)
            if popcount(positions) != 2:
                continue
            for other in range(digit):
                if _positions(masks, unit, other) == positions:
                    pair = (_ONE << np.uint32(digit)) | (_ONE << np.uint32(other))
                    remaining = positions
                    while remaining:
                        cell = unit[lowest_bit(remaining)]
                        remaining &= remaining - _ONE
                        if masks[cell] & ~pair:
                            masks[cell] &= pair
                            changed = True
    return changed


def rate(
    boards: ArrayLike,
    rng: np.random.Generator,
    geometry: Geometry | None = None,
    *,
    symmetries: int = 31,
    node_limit: int = NODE_LIMIT,
) -> NDArray[np.int64]:
    """Return the rating of each puzzle, int64 `[B]`: median guesses over random symmetries.

    All boards are transformed by the same symmetries, so a rating does not depend on the other
    boards. Its standard deviation is about 8 % of it with 31 symmetries, and 12 % with 15.

    Args:
        boards: int `[B, N, N]`, each with exactly one solution.
        rng: random generator of the symmetries.
        geometry: None means the standard one for N.
        symmetries: number of symmetries, odd.
        node_limit: guesses after which a search ends. A rating of this value is a lower bound.

    Raises:
        ValueError: if the boards have a wrong shape or digit, or a number is out of range.
    """
    if symmetries < 1 or symmetries % 2 == 0 or node_limit < 1:
        raise ValueError(
            f"symmetries={symmetries}, node_limit={node_limit}: symmetries must be odd, so that "
            "one search is the middle one, and node_limit at least 1"
        )
    flat, geometry = board.flat_boards(boards, geometry)
    guesses = np.empty((len(flat), symmetries), np.int64)
    tables = cover_tables(geometry)
    stream, group = new_stream(rng), group_of(geometry)
    _rate(stream, group, node_limit, tables, flat, guesses)
    guesses.partition(symmetries // 2, axis=1)
    return guesses[:, symmetries // 2]


@njit(cache=True, nogil=True)
def _rate(stream, group, node_limit, tables, boards, guesses):
    """Count the guesses of all searches, int64 `[B, symmetries]`."""
    searcher, symmetry = new_searcher(tables, node_limit), new_symmetry(tables)
    for b in range(len(boards)):
        stream[COUNTER] = 0
        for i in range(guesses.shape[1]):
            guesses[b, i] = count_guesses(stream, searcher, group, symmetry, boards[b])


@njit(cache=True, nogil=True)
def new_symmetry(tables):
    """Allocate what `draw_symmetry` fills: `rows [N]`, `columns [N]`, `digits [N + 1]`."""
    size = np.int64(tables.size)
    return np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size + 1, np.int8)


@njit(**NO_RUNTIME_JIT)
def count_guesses(stream, searcher, group, symmetry, puzzle):
    """Count the guesses of one search of `puzzle`, int8 `[N**2]`, under a random symmetry.

    `symmetry`, from `new_symmetry`, is overwritten. The count ends at the node limit.
    """
    workspace, scratch, tables, node_limit = searcher
    rows, columns, digits = symmetry
    transpose = draw_symmetry(stream, group, rows, columns, digits)
    solution, first_solution, no_bans, moved = scratch[0], scratch[1], scratch[2], scratch[3]
    size = len(rows)
    for row in range(size):
        for column in range(size):
            new_row, new_column = rows[row], columns[column]
            if transpose:
                new_row, new_column = new_column, new_row
            image = new_row * size + new_column
            moved[image] = digits[puzzle[row * size + column]]
    reset_weights(workspace)
    if load_board(workspace, moved, no_bans, solution, tables) < 0:
        return 0
    return explore(workspace, 2, node_limit, solution, first_solution, tables)[1]
