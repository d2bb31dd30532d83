"""Depth-first search on sixteen 9x9 boards at once, each in a lane of its own, compiled.

A round of propagation serves all lanes. A lane in which it finds no further single branches, by
itself: one candidate of a cell is placed, and the board without that candidate is kept for later.
"""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.intrinsics import lowest_bit
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.compiler.lanes import NUM_LANES, empty_rows
from sudoku_gym.solver.band_words import (
    NUM_CELLS,
    NUM_ROWS,
    OPEN_CELLS,
    SINGLES,
    STORED,
    WORDS,
    choose_cell,
    load_lane,
    propagate_round,
    write_solution,
)

NUM_SETS = 5  # of lanes, for `lane_sharing`
_ONE = np.uint32(1)

LANE = np.dtype(
    [
        ("limit", np.int64),  # solutions after which the search ends
        ("found", np.int64),  # solutions found
        ("nodes", np.int64),  # candidates tried
        ("first_nodes", np.int64),  # candidates tried until the first solution was found
        ("depth", np.int64),  # number of boards kept, with those that other lanes have taken over
        ("taken", np.int64),  # how many of them other lanes have taken over, the first ones
        ("board", np.int64),  # index of the board
        ("following", np.int64),  # the lane that searches the part that comes next, or -1
        ("decided", np.int64),  # 0 where the node limit ended the search, else 1
    ]
)
"""The search of a lane."""


class LaneSearch(NamedTuple):
    """The searches of 16 lanes."""

    rows: NDArray[np.uint32]  # [66, 16], the boards
    stack: NDArray[np.uint32]  # [16, 81, 30], the boards kept by each lane, the last one first
    lanes: NDArray[np.void]  # [16], records of `LANE`
    solutions: NDArray[np.int8]  # [16, 81], the first solution
    sets: NDArray[np.uint32]  # [5], sets of lanes as bits, see `lane_sharing`


_of_thread = threading.local()


def lane_search() -> LaneSearch:
    """Return the arrays of this thread's searches, which are allocated once."""
    search: LaneSearch | None = getattr(_of_thread, "search", None)
    if search is None:
        search = _of_thread.search = LaneSearch(
            empty_rows(NUM_ROWS),
            np.empty((NUM_LANES, NUM_CELLS, STORED), np.uint32),
            np.zeros(NUM_LANES, LANE),
            np.empty((NUM_LANES, NUM_CELLS), np.int8),
            np.zeros(NUM_SETS, np.uint32),
        )
    return search


@inlined
def start_search(search, lane, boards, index, limit):
    """Begin to search board `index` of int8 `[B, 81]` for up to `limit` solutions."""
    load_lane(search.rows, lane, boards, index)
    reset_lane(search.lanes[lane], limit)


@inlined
def reset_lane(state, limit):
    """Let a lane have found, tried and kept nothing."""
    state.limit, state.found, state.nodes, state.decided = limit, 0, 0, 1
    state.depth, state.taken = 0, 0


@inlined
def _branch(search, lane):
    """Place a candidate of an open cell; keep the board without it."""
    rows, stack, state = search.rows, search.stack, search.lanes[lane]
    depth = state.depth
    band, bit = choose_cell(rows, lane)
    for i in range(WORDS):
        stack[lane, depth, i] = rows[i, lane]
    for i in range(WORDS, STORED):
        stack[lane, depth, i] = 0
    first = band
    while rows[first, lane] & bit == 0:
        first += 3
    left = 0
    for i in range(first + 3, WORDS, 3):
        left += rows[i, lane] & bit != 0
        rows[i, lane] &= ~bit
    stack[lane, depth, first] ^= bit
    if left == 1:
        stack[lane, depth, SINGLES + band] = bit
    rows[SINGLES + band, lane] |= bit
    state.depth += 1
    state.nodes += 1


@inlined
def _backtrack(search, lane):
    """Go on with the board that was kept last."""
    state = search.lanes[lane]
    state.depth -= 1
    for i in range(STORED):
        search.rows[i, lane] = search.stack[lane, state.depth, i]


@inlined
def continue_search(search, lane):
    """Look for another solution after the one that ended the search of a lane, which is forgotten.

    Returns False, and changes nothing, if the board was searched to the end.
    """
    state = search.lanes[lane]
    if state.depth == state.taken:
        return False
    state.found = 0
    _backtrack(search, lane)
    return True


@njit(cache=True, nogil=True, _nrt=False)
def search_round(search, active, node_limit, first_limit):
    """Do a round of propagation, and let the lanes that it did not help branch or backtrack.

    Returns those of the active lanes, bits, that are done: they have found as many solutions as
    they should, have searched their board to the end, or would try more than `node_limit`
    candidates, or more than `first_limit` before the first solution.
    """
    rows = search.rows
    failed, changed = propagate_round(rows)
    waiting, done = active & ~changed, np.uint32(0)
    while waiting:
        lane = lowest_bit(waiting)
        bit, state = _ONE << lane, search.lanes[lane]
        waiting ^= bit
        if not failed & bit:
            if rows[OPEN_CELLS, lane] | rows[OPEN_CELLS + 1, lane] | rows[OPEN_CELLS + 2, lane]:
                if state.nodes < (node_limit if state.found else first_limit):
                    _branch(search, lane)
                else:
                    state.decided = 0
                    done |= bit
                continue
            if state.found == 0:
                state.first_nodes = state.nodes
                write_solution(rows, lane, search.solutions, lane)
            state.found += 1
        if state.found >= state.limit or state.depth == state.taken:
            done |= bit
        else:
            _backtrack(search, lane)
    return done
