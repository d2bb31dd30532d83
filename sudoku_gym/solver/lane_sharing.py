"""Search many 9x9 boards in the lanes of `lane_search`, and share the last ones out, compiled.

A lane that is done gets the next board. When there is none, it takes over a part of another lane's
search: the board that was kept first, which that lane would come to last. The results of the parts
are added up in the order in which one lane would have searched them, and a part that it would not
have come to is dropped. So no result depends on the other boards, or on who searched what.
"""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.intrinsics import lowest_bit
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.compiler.lanes import NUM_LANES
from sudoku_gym.solver.band_words import NUM_CELLS, STORED
from sudoku_gym.solver.lane_search import (
    NUM_SETS,
    lane_search,
    reset_lane,
    search_round,
    start_search,
)

_NONE = -1
_ONE = np.uint32(1)
_EVERY_LANE = np.uint32((1 << NUM_LANES) - 1)
FIRST_LIMIT = 2_000
"""Candidates tried on a board without a solution, after which it is left to another search."""
_SHARED_LIMIT = 2  # of more solutions, it isn't known when a part has found those that it needs

# Sets of lanes, as bits of a uint32 each.
_ACTIVE = 0  # lanes that search
_IDLE = 1  # lanes without a part; those in neither are done, and wait for the parts before
_FIRST = 2  # lanes whose part is the first that isn't added up yet
_SHARING = 3  # lanes whose search others may take over in part
_SPLIT = 4  # lanes whose board several lanes have searched


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
    limits = node_limit, min(node_limit, FIRST_LIMIT)
    results = solutions, found, decided, nodes
    cut: int = _search(lane_search(), limit, limits, boards, *results)
    return cut


@njit(cache=True, nogil=True, _nrt=False)
def _search(search, limit, limits, boards, solutions, found, decided, nodes):
    results = solutions, found, decided, nodes
    sets = search.sets
    for i in range(NUM_SETS):
        sets[i] = 0
    sets[_IDLE] = _EVERY_LANE
    node_limit, first_limit = limits
    started, cut = 0, 0
    while True:
        while sets[_IDLE] and started < len(boards):
            lane = lowest_bit(sets[_IDLE])
            _start(search, lane, boards, started, limit, limit <= _SHARED_LIMIT, results)
            started += 1
        if not sets[_ACTIVE]:
            return cut
        if sets[_IDLE]:
            _take_over(search)
        done = search_round(search, sets[_ACTIVE], node_limit, first_limit)
        sets[_ACTIVE] ^= done
        while done:
            lane = lowest_bit(done)
            done ^= _ONE << lane
            cut += _add_up(search, lane, node_limit, first_limit, boards, results)


@inlined
def _start(search, lane, boards, index, limit, is_sharing, results):
    """Let a lane search a board from the beginning."""
    solutions, found, _, nodes = results
    found[index], nodes[index] = 0, 0
    for cell in range(NUM_CELLS):
        solutions[index, cell] = 0
    sets, bit = search.sets, _ONE << lane
    start_search(search, lane, boards, index, limit)
    search.lanes[lane].board, search.lanes[lane].following = index, _NONE
    sets[_IDLE] &= ~bit
    sets[_SPLIT] &= ~bit
    sets[_ACTIVE] |= bit
    sets[_FIRST] |= bit
    sets[_SHARING] = sets[_SHARING] | bit if is_sharing else sets[_SHARING] & ~bit


@inlined
def _take_over(search):
    """Give each idle lane the board that some other lane has kept longest, while there is one."""
    sets = search.sets
    givers = sets[_ACTIVE] & sets[_SHARING]
    while givers and sets[_IDLE]:
        giver, lane = lowest_bit(givers), lowest_bit(sets[_IDLE])
        state, other = search.lanes[lane], search.lanes[giver]
        if other.taken == other.depth:
            givers &= givers - _ONE
            continue
        for i in range(STORED):
            search.rows[i, lane] = search.stack[giver, other.taken, i]
        other.taken += 1
        reset_lane(state, other.limit)
        state.board, state.following, other.following = other.board, other.following, lane
        bit = _ONE << lane
        sets[_IDLE] ^= bit
        sets[_ACTIVE] |= bit
        sets[_SHARING] |= bit
        sets[_SPLIT] |= bit | _ONE << giver


@inlined
def _add_up(search, lane, node_limit, first_limit, boards, results):
    """Add up the parts of a board that are done, from the first on, if a lane now done has that.

    Returns whether the board is left undecided.
    """
    solutions, found, decided, nodes = results
    sets, board = search.sets, search.lanes[lane].board
    while sets[_FIRST] & ~sets[_ACTIVE] & _ONE << lane:
        bit, state = _ONE << lane, search.lanes[lane]
        wanted = state.limit - found[board]
        is_enough = state.found >= wanted
        until_first = nodes[board] + (state.first_nodes if state.found else state.nodes)
        nodes[board] += state.first_nodes if is_enough and wanted == 1 else state.nodes
        decided[board] = state.decided == 1 and nodes[board] <= node_limit
        if found[board] == 0 and until_first > first_limit:
            decided[board] = False
        if not decided[board] and sets[_SPLIT] & bit:
            # A single lane would have stopped somewhere in between, so let it.
            _drop(search, state.following)
            _start(search, lane, boards, board, state.limit, False, results)
            return False
        if found[board] == 0 and state.found:
            for cell in range(NUM_CELLS):
                solutions[board, cell] = search.solutions[lane, cell]
        found[board] = min(found[board] + state.found, state.limit)
        sets[_FIRST] ^= bit
        sets[_IDLE] |= bit
        if is_enough or state.following == _NONE:
            _drop(search, state.following)
            return not decided[board]
        lane = np.uint32(state.following)
        sets[_FIRST] |= _ONE << lane
    return False


@inlined
def _drop(search, lane):
    """Give up a part and all that follow."""
    sets = search.sets
    while lane != _NONE:
        bit = _ONE << np.uint32(lane)
        sets[_ACTIVE] &= ~bit
        sets[_FIRST] &= ~bit
        sets[_IDLE] |= bit
        lane = search.lanes[lane].following
