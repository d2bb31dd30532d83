"""Depth-first search on sixteen 9x9 boards at once, each in a lane of its own, compiled.

A round of propagation serves all lanes. A lane in which it finds no further single branches, by
itself: one candidate of a cell is placed, and the board without that candidate is kept for later.
"""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

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

_ONE = np.uint32(1)


class LaneSearch(NamedTuple):
    """The searches of 16 lanes."""

    rows: NDArray[np.uint32]  # [66, 16], the boards
    stack: NDArray[np.uint32]  # [81, 16, 30], the boards kept by each lane, the last one first
    depth: NDArray[np.int64]  # [16], their number, with those taken over
    taken: NDArray[np.int64]  # [16], how many other lanes have taken over
    found: NDArray[np.int64]  # [16], solutions found
    decided: NDArray[np.bool_]  # [16], False where the node limit ended the search
    limit: NDArray[np.int64]  # [16], solutions after which a search ends
    nodes: NDArray[np.int64]  # [16], candidates tried
    first_nodes: NDArray[np.int64]  # [16], candidates tried until the first solution was found
    solutions: NDArray[np.int8]  # [16, 81], the first solution


@njit(cache=True, nogil=True)
def new_lane_search():
    """Allocate what searches need."""
    stack = np.empty((NUM_LANES, NUM_CELLS, STORED), np.uint32)
    counts = np.zeros((6, NUM_LANES), np.int64)
    solutions = np.empty((NUM_LANES, NUM_CELLS), np.int8)
    depth, taken, found, limit, nodes, first_nodes = counts
    decided = np.ones(NUM_LANES, np.bool_)
    rows = empty_rows(NUM_ROWS)
    return LaneSearch(
        rows, stack, depth, taken, found, decided, limit, nodes, first_nodes, solutions
    )


@inlined
def start_search(search, lane, boards, index, limit):
    """Begin to search board `index` of int8 `[B, 81]` for up to `limit` solutions."""
    load_lane(search.rows, lane, boards, index)
    reset_counts(search, lane, limit)


@inlined
def reset_counts(search, lane, limit):
    """Let a lane have found, tried and kept nothing."""
    search.limit[lane] = limit
    search.depth[lane], search.taken[lane] = 0, 0
    search.found[lane], search.nodes[lane], search.decided[lane] = 0, 0, True


@inlined
def _branch(search, lane):
    """Place a candidate of an open cell; keep the board without it."""
    rows, stack, depth = search.rows, search.stack, search.depth[lane]
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
    search.depth[lane] += 1


@inlined
def _backtrack(search, lane):
    """Go on with the board that was kept last."""
    search.depth[lane] -= 1
    depth = search.depth[lane]
    for i in range(STORED):
        search.rows[i, lane] = search.stack[lane, depth, i]


@njit(cache=True, nogil=True, _nrt=False)
def search_round(search, active, node_limit):
    """Do a round of propagation, and let the lanes that it did not help branch or backtrack.

    Returns those of the active lanes, bits, that are done: they have found as many solutions as
    they should, have searched their board to the end, or would try more than `node_limit`
    candidates.
    """
    rows, found, nodes = search.rows, search.found, search.nodes
    failed, changed = propagate_round(rows)
    waiting, done = active & ~changed, np.uint32(0)
    while waiting:
        lane = lowest_bit(waiting)
        bit = _ONE << lane
        waiting ^= bit
        if not failed & bit:
            if rows[OPEN_CELLS, lane] | rows[OPEN_CELLS + 1, lane] | rows[OPEN_CELLS + 2, lane]:
                if nodes[lane] < node_limit:
                    nodes[lane] += 1
                    _branch(search, lane)
                else:
                    search.decided[lane] = False
                    done |= bit
                continue
            if found[lane] == 0:
                search.first_nodes[lane] = nodes[lane]
                write_solution(rows, lane, search.solutions, lane)
            found[lane] += 1
        if found[lane] >= search.limit[lane] or search.depth[lane] == search.taken[lane]:
            done |= bit
        else:
            _backtrack(search, lane)
    return done
