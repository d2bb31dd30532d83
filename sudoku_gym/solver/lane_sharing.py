"""Search many 9x9 boards in the lanes of `lane_search`, and share the last ones out, compiled.

A lane that is done gets the next board. When there is none, it takes over a part of another lane's
search: the board that was kept first, which that lane would come to last. The results of the parts
are added up in the order in which one lane would have searched them, and a part that it would not
have come to is dropped. So no result depends on the other boards, or on who searched what.
"""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.intrinsics import lowest_bit
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.compiler.lanes import NUM_LANES
from sudoku_gym.solver.band_words import NUM_CELLS, STORED
from sudoku_gym.solver.cover_bits import NO_RUNTIME_JIT
from sudoku_gym.solver.lane_search import (
    new_lane_search,
    reset_counts,
    search_round,
    start_search,
)

_NONE = -1
_ONE = np.uint32(1)
_EVERY_LANE = np.uint32((1 << NUM_LANES) - 1)
_SHARED_LIMIT = 2  # of more solutions, it isn't known when a part has found those that it needs


class Parts(NamedTuple):
    """The part of a board's search that each lane has; sets of lanes are bits of `lanes`."""

    board: NDArray[np.int64]  # [16], index of the board
    following: NDArray[np.int64]  # [16], the lane that has the next part, or -1
    lanes: NDArray[np.uint32]  # [5], the sets below


_ACTIVE, _IDLE = 0, 1  # lanes that search, and lanes without a part; the others wait
_FIRST = 2  # lanes whose part is the first that isn't added up yet
_SHARING = 3  # lanes whose search others may take over in part
_SPLIT = 4  # lanes whose board several lanes have searched


@njit(cache=True, nogil=True)
def search_in_lanes(boards, limit, node_limit, solutions, found, decided, nodes):
    """Search each board of int8 `[B, 81]`; write its first solution, over zeros, and numbers.

    `found` and `nodes`, over zeros, are the solutions found and the candidates tried; `decided`,
    over ones, is False where the node limit ended the search.
    """
    parts = Parts(
        np.zeros(NUM_LANES, np.int64), np.zeros(NUM_LANES, np.int64), np.zeros(5, np.uint32)
    )
    _search(new_lane_search(), parts, limit, node_limit, boards, (solutions, found, decided, nodes))


@njit(**NO_RUNTIME_JIT)
def _search(search, parts, limit, node_limit, boards, results):
    lanes = parts.lanes
    lanes[_IDLE] = _EVERY_LANE
    started = 0
    while True:
        while lanes[_IDLE] and started < len(boards):
            lane = lowest_bit(lanes[_IDLE])
            _start(search, parts, lane, boards, started, limit, limit <= _SHARED_LIMIT)
            started += 1
        if not lanes[_ACTIVE]:
            return
        if lanes[_IDLE]:
            _take_over(search, parts)
        done = search_round(search, lanes[_ACTIVE], node_limit)
        lanes[_ACTIVE] ^= done
        while done:
            lane = lowest_bit(done)
            done ^= _ONE << lane
            _add_up(search, parts, lane, limit, node_limit, boards, results)


@inlined
def _start(search, parts, lane, boards, index, limit, is_sharing):
    """Let a lane search a board from the beginning."""
    lanes, bit = parts.lanes, _ONE << lane
    start_search(search, lane, boards, index, limit)
    parts.board[lane], parts.following[lane] = index, _NONE
    lanes[_IDLE] &= ~bit
    lanes[_SPLIT] &= ~bit
    lanes[_ACTIVE] |= bit
    lanes[_FIRST] |= bit
    lanes[_SHARING] = lanes[_SHARING] | bit if is_sharing else lanes[_SHARING] & ~bit


@inlined
def _take_over(search, parts):
    """Give each idle lane the board that some other lane has kept longest, while there is one."""
    lanes = parts.lanes
    givers = lanes[_ACTIVE] & lanes[_SHARING]
    while givers and lanes[_IDLE]:
        giver, lane = lowest_bit(givers), lowest_bit(lanes[_IDLE])
        taken = search.taken[giver]
        if taken == search.depth[giver]:
            givers &= givers - _ONE
            continue
        for i in range(STORED):
            search.rows[i, lane] = search.stack[giver, taken, i]
        search.taken[giver] += 1
        reset_counts(search, lane, search.limit[giver])
        parts.board[lane] = parts.board[giver]
        parts.following[lane] = parts.following[giver]
        parts.following[giver] = lane
        lanes[_IDLE] ^= _ONE << lane
        lanes[_ACTIVE] |= _ONE << lane
        lanes[_SHARING] |= _ONE << lane
        lanes[_SPLIT] |= _ONE << lane | _ONE << giver


@inlined
def _add_up(search, parts, lane, limit, node_limit, boards, results):
    """Add up the parts of a board that are done, from the first on, if a lane now done has that."""
    solutions, found, decided, nodes = results
    lanes, board = parts.lanes, parts.board[lane]
    while lanes[_FIRST] & ~lanes[_ACTIVE] & _ONE << lane:
        bit, wanted = _ONE << lane, limit - found[board]
        is_enough = search.found[lane] >= wanted
        is_one_enough = is_enough and wanted == 1
        nodes[board] += search.first_nodes[lane] if is_one_enough else search.nodes[lane]
        decided[board] = search.decided[lane] and nodes[board] <= node_limit
        if not decided[board] and lanes[_SPLIT] & bit:
            # A single lane would have stopped somewhere in between, so let it.
            _drop(parts, parts.following[lane])
            _write(search.solutions, lane, 0, solutions, board)
            found[board], nodes[board] = 0, 0
            _start(search, parts, lane, boards, board, limit, False)
            return
        if found[board] == 0 and search.found[lane]:
            _write(search.solutions, lane, 1, solutions, board)
        found[board] = min(found[board] + search.found[lane], limit)
        lanes[_FIRST] ^= bit
        lanes[_IDLE] |= bit
        following = parts.following[lane]
        if is_enough or following == _NONE:
            _drop(parts, following)
            return
        lane = np.uint32(following)
        lanes[_FIRST] |= _ONE << lane


@inlined
def _write(lane_solutions, lane, factor, solutions, board):
    """Write the solution of a lane, times a factor, to that of a board."""
    for cell in range(NUM_CELLS):
        solutions[board, cell] = factor * lane_solutions[lane, cell]


@inlined
def _drop(parts, lane):
    """Give up a part and all that follow."""
    lanes = parts.lanes
    while lane != _NONE:
        bit = _ONE << np.uint32(lane)
        lanes[_ACTIVE] &= ~bit
        lanes[_FIRST] &= ~bit
        lanes[_IDLE] |= bit
        lane = parts.following[lane]
