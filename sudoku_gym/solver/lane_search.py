"""Depth-first search on sixteen 9x9 boards at once, each in a lane of its own, compiled.

A round of propagation serves all lanes. A lane in which it finds no further single branches, by
itself: one candidate of a cell is placed, and the board without that candidate is kept for later. A
lane that is done gets the next board, so no result depends on the other boards.
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

FIRST_LIMIT = 2_000
"""Candidates tried on a board without a solution, after which it is left to another search."""
_ONE = np.uint32(1)
_EVERY_LANE = np.uint32((1 << NUM_LANES) - 1)

LANE = np.dtype(
    [
        ("limit", np.int64),  # solutions after which the search ends
        ("found", np.int64),  # solutions found
        ("nodes", np.int64),  # candidates tried
        ("depth", np.int64),  # number of boards kept
        ("board", np.int64),  # index of the board
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
        )
    return search


@inlined
def start_search(search, lane, boards, index, limit):
    """Begin to search board `index` of int8 `[B, 81]` for up to `limit` solutions."""
    load_lane(search.rows, lane, boards, index)
    state = search.lanes[lane]
    state.limit, state.found, state.nodes, state.decided = limit, 0, 0, 1
    state.depth, state.board = 0, index


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
def backtrack(search, lane):
    """Go on with the board that was kept last."""
    state = search.lanes[lane]
    state.depth -= 1
    for i in range(STORED):
        search.rows[i, lane] = search.stack[lane, state.depth, i]


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
                write_solution(rows, lane, search.solutions, lane)
            state.found += 1
        if state.found >= state.limit or state.depth == 0:
            done |= bit
        else:
            backtrack(search, lane)
    return done


def search_in_lanes(
    boards: NDArray[np.int8],
    limit: int,
    node_limit: int,
    solutions: NDArray[np.int8],
    found: NDArray[np.int64],
    decided: NDArray[np.bool_],
    nodes: NDArray[np.int64],
) -> int:
    """Search each board of int8 `[B, 81]`; write its first solution, or zeros, and numbers.

    `found` and `nodes` are the solutions found and the candidates tried; `decided` is False where
    the node limit ended the search, or `FIRST_LIMIT` before a solution was found. Returns how many
    boards that are.
    """
    limits = limit, node_limit, min(node_limit, FIRST_LIMIT)
    cut: int = _search(lane_search(), limits, boards, solutions, found, decided, nodes)
    return cut


@njit(cache=True, nogil=True, _nrt=False)
def _search(search, limits, boards, solutions, found, decided, nodes):
    limit, node_limit, first_limit = limits
    active, started, cut = np.uint32(0), 0, 0
    while True:
        while active != _EVERY_LANE and started < len(boards):
            lane = lowest_bit(~active)
            start_search(search, lane, boards, started, limit)
            active |= _ONE << lane
            started += 1
        if not active:
            return cut
        done = search_round(search, active, node_limit, first_limit)
        active ^= done
        while done:
            lane = lowest_bit(done)
            done ^= _ONE << lane
            state = search.lanes[lane]
            board = state.board
            found[board], nodes[board] = state.found, state.nodes
            decided[board] = state.decided == 1
            cut += state.decided == 0
            for cell in range(NUM_CELLS):
                solutions[board, cell] = search.solutions[lane, cell] if state.found else 0
