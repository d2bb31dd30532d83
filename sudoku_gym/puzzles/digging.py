"""Remove givens while a puzzle keeps one solution, compiled: for one puzzle, or for 16 in lanes.

Cells are tried in a given order, many at a time first, then one by one; what is needed is put
back. Afterwards the puzzle is minimal, unless a limit came first.
"""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.solver.band_words import ban_candidate
from sudoku_gym.solver.cover_bits import NO_RUNTIME_JIT, load_board, reset_weights
from sudoku_gym.solver.depth_first import explore
from sudoku_gym.solver.lane_search import start_search

_NOT_KNOWN = -1  # whether there are other solutions


class Dig(NamedTuple):
    """How far the removal of givens has come, for each of L puzzles."""

    order: NDArray[np.int64]  # [L, N**2], the cells to try
    count: NDArray[np.int64]  # [L], how many these are
    start: NDArray[np.int64]  # [L], those before it are done
    stop: NDArray[np.int64]  # [L], those from `start` to it have been removed and are in question
    chunk: NDArray[np.int64]  # [L], cells to remove at once
    givens: NDArray[np.int64]  # [L], number of givens, with those in question
    proven: NDArray[np.bool_]  # [L], whether each given that was put back alone is needed


@njit(cache=True, nogil=True)
def new_dig(puzzles, cells):
    """Allocate what the removal of up to `cells` cells needs, for a number of puzzles."""
    count, start, stop, chunk, givens = np.zeros((5, puzzles), np.int64)
    order, proven = np.zeros((puzzles, cells), np.int64), np.ones(puzzles, np.bool_)
    return Dig(order, count, start, stop, chunk, givens, proven)


@njit(**NO_RUNTIME_JIT)
def start_dig(dig, k, count, chunk, puzzle):
    """Begin with puzzle k, int8 `[N**2]`; the first of `dig.order[k]`, all filled, are tried."""
    dig.count[k], dig.start[k], dig.chunk[k], dig.proven[k] = count, 0, chunk, True
    dig.givens[k] = 0
    for cell in range(len(puzzle)):
        dig.givens[k] += puzzle[cell] != 0


@njit(**NO_RUNTIME_JIT)
def remove_next(dig, k, least, puzzle, solution):
    """Remove the next cells of puzzle k, while `least` givens stay; returns False at the end."""
    while dig.start[k] < dig.count[k] and dig.givens[k] > least:
        dig.stop[k] = min(dig.start[k] + dig.chunk[k], dig.count[k])
        for i in range(dig.start[k], dig.stop[k]):
            puzzle[dig.order[k, i]] = 0
        if dig.givens[k] - (dig.stop[k] - dig.start[k]) >= least:
            return True
        conclude(dig, k, _NOT_KNOWN, puzzle, solution)
    return False


@njit(**NO_RUNTIME_JIT)
def conclude(dig, k, others, puzzle, solution):
    """Put the cells in question back if there are other solutions, or it isn't known (negative).

    After several cells fewer are tried, so that a single one ends it.
    """
    if others == 0:
        dig.givens[k] -= dig.stop[k] - dig.start[k]
        dig.start[k] = dig.stop[k]
        return
    for i in range(dig.start[k], dig.stop[k]):
        puzzle[dig.order[k, i]] = solution[dig.order[k, i]]
    if dig.chunk[k] > 1:
        dig.chunk[k] //= 2
    else:
        dig.proven[k] = dig.proven[k] and others > 0
        dig.start[k] = dig.stop[k]


@inlined
def is_minimal(dig, k):
    """Return whether all cells of puzzle k were tried, and all that are left are needed."""
    return dig.proven[k] and dig.start[k] == dig.count[k]


@inlined
def single_cell(dig, k):
    """Return the cell of puzzle k in question, or -1 if there are several."""
    return dig.order[k, dig.start[k]] if dig.stop[k] - dig.start[k] == 1 else -1


@njit(**NO_RUNTIME_JIT)
def remove_givens(searcher, dig, k, least, puzzle, solution):
    """Remove what can be removed from puzzle k, which has been started, to `least` givens."""
    reset_weights(searcher.workspace)
    while remove_next(dig, k, least, puzzle, solution):
        others = count_other_solutions(searcher, single_cell(dig, k), puzzle, solution)
        conclude(dig, k, others, puzzle, solution)


@njit(**NO_RUNTIME_JIT)
def count_other_solutions(searcher, removed, puzzle, solution):
    """Count solutions besides the known one, up to 1; negative if the node limit came first.

    `removed` is the only cell in which they can differ from it in a given of before, or -1. In that
    cell its digit is banned, and the solution that is found is left in `searcher.scratch[1]`.
    """
    workspace, scratch, tables, node_limit = searcher
    filled, other, banned = scratch[0], scratch[1], scratch[2]
    known = 1 if removed < 0 else 0
    if removed >= 0:
        banned[removed] = solution[removed]
    state = load_board(workspace, puzzle, banned, filled, tables)
    if removed >= 0:
        banned[removed] = 0
    if state < 0:
        return 0
    found = explore(workspace, 1 + known, node_limit, filled, other, tables)[0]
    return found - known if found > 0 else found


@inlined
def start_lane(search, lane, dig, puzzles, index, solutions):
    """Let a lane look for other solutions of puzzle `index`, whose dig has the lane's number."""
    cell = single_cell(dig, lane)
    start_search(search, lane, puzzles, index, 2 if cell < 0 else 1)
    if cell >= 0:
        ban_candidate(search.rows, lane, cell, solutions[index, cell])


@inlined
def others_of_lane(search, lane, dig):
    """Return what `count_other_solutions` does, of a lane that is done."""
    state = search.lanes[lane]
    if not state.decided:
        return _NOT_KNOWN
    return state.found - (1 if single_cell(dig, lane) < 0 else 0)
