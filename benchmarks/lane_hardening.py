"""Make 9x9 puzzles harder by local search in the lanes of `lane_search`, sixteen side by side.

A step removes a given, adds others until the puzzle is unique, for its solution or for another, and
removes what is no longer needed. A new puzzle is accepted if it takes at least a fixed share of the
guesses of the hardest so far (Dueck, "New optimization heuristics: the great deluge algorithm and
the record-to-record travel", 1993). The lanes prove uniqueness; guesses are those of `rating`.
"""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardening import median_guesses, shuffle_givens, wrong_cell
from sudoku_gym.compiler.intrinsics import lowest_bit
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.compiler.lanes import NUM_LANES
from sudoku_gym.compiler.random_stream import COUNTER, KEY, next_unit
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.symmetry import group_of
from sudoku_gym.puzzles.difficulty import count_guesses, new_symmetry
from sudoku_gym.puzzles.generator import (
    conclude,
    is_minimal,
    new_dig,
    others_of_lane,
    remove_next,
    start_dig,
    start_lane,
)
from sudoku_gym.solver.band_words import NUM_CELLS
from sudoku_gym.solver.cover_bits import cover_tables
from sudoku_gym.solver.depth_first import new_searcher
from sudoku_gym.solver.lane_search import backtrack, lane_search, search_round, start_search

_SEARCHES = 9  # a score is the median guesses of this number of searches
_MORE_SEARCHES = 31  # that of a new record is measured again by so many
_SLACK = 0.7  # a new puzzle is accepted with at least this share of the record
_MOST_ADDED = 3  # a step that needs more new givens than this is dropped,
_FIRST_SHARE = 0.1  # or if the lane's proof takes less than this share of the current score,
_SECOND_SHARE = 0.3  # or the first search less than this
_MOVING = 0.5  # so many steps go over to another solution, if there is one

_ADDING, _REMOVING = 0, 1  # what a lane does
_SEARCHING, _UNIQUE, _DROPPED = 0, 1, 2  # how far adding has come
_NOTHING = -1.0
_ONE = np.uint32(1)
_EVERY_LANE = np.uint32((1 << NUM_LANES) - 1)
_AT_ONCE = 64  # puzzles between two messages of progress

CLIMB = np.dtype(
    [
        ("index", np.int64),  # index of the puzzle, or -1
        ("task", np.int64),  # adding or removing givens
        ("step", np.int64),  # steps begun
        ("total", np.int64),  # cells in the order: the one removed, old givens, new givens
        ("added", np.int64),  # new givens
        ("is_moving", np.bool_),  # the next solution that is found becomes the puzzle's
        ("has_moved", np.bool_),  # that has happened
        ("score", np.float64),  # guesses of the current puzzle
        ("record", np.float64),  # guesses of the hardest one
    ]
)
"""The local search of a lane."""


class Climbs(NamedTuple):
    """The local searches of 16 lanes."""

    states: NDArray[np.void]  # [16], records of `CLIMB`
    streams: NDArray[np.uint64]  # [16, 2], a random stream each
    puzzles: NDArray[np.int8]  # [16, 81], the current puzzles, which were accepted last
    solutions: NDArray[np.int8]  # [16, 81]
    new_puzzles: NDArray[np.int8]  # [16, 81], made of them in this step
    new_solutions: NDArray[np.int8]  # [16, 81]


def harden_in_lanes(
    puzzles: NDArray[np.int8],
    solutions: NDArray[np.int8],
    rng: np.random.Generator,
    *,
    steps: int,
    node_limit: int = 100_000,
    on_progress: Callable[[float], None] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Replace each puzzle, int8 `[B, 81]`, and its one solution by the hardest found.

    A result depends on a puzzle and its position, not on the other puzzles: the key of puzzle i's
    random stream is the ith that `rng` draws.

    Args:
        puzzles: standard 9x9 puzzles with exactly one solution each, overwritten.
        solutions: int8 `[B, 81]`, overwritten.
        rng: random generator of the changes.
        steps: changes to try on each puzzle.
        node_limit: candidates to try in one search.
        on_progress: called with the share that is done, 0 to 1.

    Returns:
        The score of each puzzle, float64 `[B]`: median guesses of 31 searches. It is the highest of
        many, so `puzzles.rate` gives a lower number. And whether each is proven minimal: bool
        `[B]`.
    """
    geometry = Geometry.standard(9)
    scores, minimal = np.zeros(len(puzzles)), np.zeros(len(puzzles), np.bool_)
    keys = rng.integers(0, 2**64, len(puzzles), dtype=np.uint64)
    boards = [np.zeros((NUM_LANES, NUM_CELLS), np.int8) for _ in range(4)]
    climbs = Climbs(np.zeros(NUM_LANES, CLIMB), np.zeros((NUM_LANES, 2), np.uint64), *boards)
    limits, tables = (steps, node_limit), cover_tables(geometry)
    for start in range(0, len(puzzles), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        outputs = puzzles[part], solutions[part], scores[part], minimal[part]
        inputs = lane_search(), climbs, keys[part], group_of(geometry), limits, tables
        _harden_in_lanes(*inputs, outputs)
        if on_progress is not None:
            on_progress(min(1.0, (start + _AT_ONCE) / len(puzzles)))
    return scores, minimal


@njit(cache=True, nogil=True)
def _harden_in_lanes(search, climbs, keys, group, limits, tables, outputs):
    puzzles, solutions, _, _ = outputs
    node_limit = limits[1]
    dig = new_dig(NUM_LANES, NUM_CELLS)
    scorer = new_searcher(tables, node_limit), group, new_symmetry(tables)
    guesses = np.empty(_MORE_SEARCHES, np.int64)
    started, active, done = 0, np.uint32(0), _EVERY_LANE
    for lane in range(NUM_LANES):
        climbs.states[lane].index = -1
    while True:
        while done:
            lane = lowest_bit(done)
            bit, state = _ONE << lane, climbs.states[lane]
            done ^= bit
            if state.index >= 0:
                if _advance(search, climbs, dig, lane, scorer, guesses, limits, outputs):
                    continue
            if started < len(puzzles):
                _begin(search, climbs, dig, lane, started, keys, puzzles, solutions)
                active |= bit
                started += 1
            else:
                state.index = -1
                active &= ~bit
        if not active:
            return
        done = search_round(search, active, node_limit, node_limit)


@njit(cache=True, nogil=True)
def _begin(search, climbs, dig, lane, index, keys, puzzles, solutions):
    """Let a lane take puzzle `index`, and make it minimal."""
    state, stream, new_puzzle = climbs.states[lane], climbs.streams[lane], climbs.new_puzzles[lane]
    stream[KEY], stream[COUNTER] = keys[index], 0
    state.index, state.step = index, 0
    state.score, state.record = 0.0, _NOTHING
    _copy_boards(puzzles, solutions, index, climbs.new_puzzles, climbs.new_solutions, lane)
    count = shuffle_givens(stream, new_puzzle, dig.order[lane])
    _start_removing(search, climbs, dig, lane, count)


@njit(cache=True, nogil=True)
def _advance(search, climbs, dig, lane, scorer, guesses, limits, outputs):
    """Go on after a search of a lane; return False after the last step."""
    state, puzzle = climbs.states[lane], climbs.new_puzzles[lane]
    if state.task == _ADDING:
        progress = _add_given(search, climbs, dig, lane)
        if progress == _SEARCHING:
            return True
        if progress == _DROPPED or not _is_promising(search, climbs, lane, scorer):
            return _propose(search, climbs, dig, lane, limits)
        order, count = dig.order[lane], state.total - 1
        for i in range(count):
            order[i] = order[i + 1]
        _start_removing(search, climbs, dig, lane, count)
        return True
    conclude(dig, lane, others_of_lane(search, lane, dig), puzzle, climbs.new_solutions[lane])
    if not _remove_given(search, climbs, dig, lane):
        _compare(climbs, dig, lane, scorer, guesses, outputs)
        return _propose(search, climbs, dig, lane, limits)
    return True


@njit(cache=True, nogil=True)
def _propose(search, climbs, dig, lane, limits):
    """Begin a step: remove a given of the current puzzle. Returns False if there are no more."""
    state, stream, new_puzzle = climbs.states[lane], climbs.streams[lane], climbs.new_puzzles[lane]
    if state.step == limits[0]:
        return False
    state.step += 1
    _copy_boards(
        climbs.puzzles, climbs.solutions, lane, climbs.new_puzzles, climbs.new_solutions, lane
    )
    state.total = shuffle_givens(stream, new_puzzle, dig.order[lane])
    new_puzzle[dig.order[lane, 0]] = 0
    state.task, state.added = _ADDING, 0
    state.is_moving, state.has_moved = next_unit(stream) < _MOVING, False
    start_search(search, lane, climbs.new_puzzles, lane, 1)
    return True


@njit(cache=True, nogil=True)
def _add_given(search, climbs, dig, lane):
    """Rule out the solution that a lane has found, and search on; return how far that has come."""
    state, found = climbs.states[lane], search.lanes[lane]
    solution, other = climbs.new_solutions[lane], search.solutions[lane]
    if not found.found:
        return _UNIQUE if found.decided else _DROPPED
    if _are_equal(other, solution):
        return _SEARCHING if _continue_search(search, lane) else _UNIQUE
    if state.added == _MOST_ADDED:
        return _DROPPED
    if state.is_moving:
        for cell in range(NUM_CELLS):
            solution[cell], other[cell] = other[cell], solution[cell]
        state.is_moving, state.has_moved = False, True
    order = dig.order[lane]
    # The given that was removed must not come back, but with another digit it may.
    removed = order[:0] if state.has_moved else order[:1]
    cell = wrong_cell(climbs.streams[lane], removed, other, solution)
    if cell < 0:
        return _DROPPED
    climbs.new_puzzles[lane, cell] = solution[cell]
    order[state.total] = cell
    state.total += 1
    state.added += 1
    start_search(search, lane, climbs.new_puzzles, lane, 1)
    return _SEARCHING


@njit(cache=True, nogil=True)
def _is_promising(search, climbs, lane, scorer):
    """Return whether a unique puzzle, not yet minimal, may be hard enough: two quick tests."""
    searcher, group, symmetry = scorer
    score, puzzle = climbs.states[lane].score, climbs.new_puzzles[lane]
    if search.lanes[lane].nodes < _FIRST_SHARE * score:
        return False
    guesses = count_guesses(climbs.streams[lane], searcher, group, symmetry, puzzle)
    return guesses >= _SECOND_SHARE * score


@njit(cache=True, nogil=True)
def _compare(climbs, dig, lane, scorer, guesses, outputs):
    """Accept the new puzzle, which is minimal, if it is hard enough, and record the hardest."""
    puzzles, solutions, scores, minimal = outputs
    searcher, group, symmetry = scorer
    state, stream, puzzle = climbs.states[lane], climbs.streams[lane], climbs.new_puzzles[lane]
    bound = _SLACK * state.record
    score = median_guesses(stream, searcher, group, symmetry, bound, puzzle, guesses[:_SEARCHES])
    if score > state.record:
        score = median_guesses(stream, searcher, group, symmetry, 0.0, puzzle, guesses)
    if score < bound:
        return
    state.score = score
    _copy_boards(
        climbs.new_puzzles, climbs.new_solutions, lane, climbs.puzzles, climbs.solutions, lane
    )
    if score > state.record:
        scores[state.index] = state.record = score
        minimal[state.index] = is_minimal(dig, lane)
        _copy_boards(climbs.puzzles, climbs.solutions, lane, puzzles, solutions, state.index)


@inlined
def _start_removing(search, climbs, dig, lane, count):
    """Begin to remove what is not needed of the first `count` cells of the order."""
    climbs.states[lane].task = _REMOVING
    start_dig(dig, lane, count, 1, climbs.new_puzzles[lane])
    _remove_given(search, climbs, dig, lane)


@inlined
def _remove_given(search, climbs, dig, lane):
    """Remove the next given and let the lane look for another solution; False at the end."""
    if not remove_next(dig, lane, 0, climbs.new_puzzles[lane], climbs.new_solutions[lane]):
        return False
    start_lane(search, lane, dig, climbs.new_puzzles, lane, climbs.new_solutions)
    return True


@inlined
def _copy_boards(puzzles, solutions, index, new_puzzles, new_solutions, new_index):
    for cell in range(NUM_CELLS):
        new_puzzles[new_index, cell] = puzzles[index, cell]
        new_solutions[new_index, cell] = solutions[index, cell]


@inlined
def _are_equal(board, other):
    for cell in range(NUM_CELLS):
        if board[cell] != other[cell]:
            return False
    return True


@inlined
def _continue_search(search, lane):
    """Look for another solution after the one that ended the search of a lane, which is forgotten.

    Returns False, and changes nothing, if the board was searched to the end.
    """
    state = search.lanes[lane]
    if state.depth == 0:
        return False
    state.found = 0
    backtrack(search, lane)
    return True
