"""Resets and steps of a batch of boards, compiled."""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.intrinsics import borrowed, borrowed_rows
from sudoku_gym.compiler.jit import njit
from sudoku_gym.envs.episodes import (
    AUTORESET_PENDING,
    PHASE,
    PUZZLE_ID,
    RUNNING,
    TASK,
    TERMINATED,
    TRUNCATED,
    UNUSED,
    start_episode,
    step_board,
)
from sudoku_gym.envs.infos import (
    REWARD_ROW,
    TERMINATIONS,
    TRUNCATIONS,
    info_of,
    write_board,
    write_info,
)
from sudoku_gym.geometry.symmetry import draw_symmetry
from sudoku_gym.kernels.endings import GameRules
from sudoku_gym.kernels.layout import BoardSizes, BoardState, UnitTables
from sudoku_gym.kernels.moves import copy_row
from sudoku_gym.puzzles.sources import borrowed_drawing, choose_puzzle, copy_puzzle

Scratch: TypeAlias = tuple[tuple[NDArray[Any], ...], tuple[NDArray[Any], ...]]


def new_scratch(sizes: BoardSizes) -> Scratch:
    """Return the scratch arrays of `set_up` and `copy_puzzle`."""
    size = sizes.size
    return (
        (np.empty(sizes.num_cells, np.int32), np.empty(sizes.num_units + 1, np.uint64)),
        (np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size + 1, np.int8)),
    )


@njit(cache=True, inline="always")
def _borrowed_board(state, sizes, tables):
    """Return the plain tuples as named ones of `borrowed` arrays."""
    return BoardState(*borrowed(state)), BoardSizes(*sizes), UnitTables(*borrowed(tables))


@njit(cache=True, nogil=True)
def draw_boards(state, chosen, phase, sizes, tables, drawn):
    """Start an episode on every board with `chosen [B]`.

    The caller holds all arrays, so that they can be `borrowed`.
    """
    state, sizes, tables = _borrowed_board(state, sizes, tables)
    streams, drawing, scratch = drawn
    drawn = borrowed(streams), borrowed_drawing(drawing), borrowed(scratch)
    for b in range(np.uint64(len(chosen))):
        if chosen[b]:
            _draw_board(state, b, phase, sizes, tables, drawn)


@njit(cache=True, inline="always")
def _draw_board(state, b, phase, sizes, tables, drawn):
    """Start an episode on a puzzle from the bank."""
    streams, drawing, (for_board, for_puzzle) = drawn
    rows = state.rows
    # the solution is not needed: it lands where `set_up` then writes the givens
    stream, solutions = streams[b], rows[:, sizes.num_cells :]
    chosen = choose_puzzle(stream, drawing)
    copy_puzzle(stream, drawing, chosen, for_puzzle, rows, solutions, b)
    start_episode(state, b, phase, sizes, tables, for_board)
    row, _, task = chosen
    state.counts[b, TASK] = task
    state.counts[b, PUZZLE_ID] = drawing.bank[2][row]


@njit(cache=True)
def load_boards(state, chosen, phase, sizes, tables, drawn, puzzles):
    """Start an episode on `puzzles[i]`, int8 `[B, N**2]`, for every board i with `chosen [B]`.

    `drawn` is (streams, (augment, group), scratch): with `augment` each puzzle is moved by a
    symmetry drawn from the board's own stream.
    """
    streams, (augment, group), scratch = drawn
    state, sizes, tables = _borrowed_board(state, sizes, tables)
    rows, size = state.rows, sizes.size
    for_board, (lines, columns, digits) = borrowed(scratch)
    for b in range(np.uint64(len(chosen))):
        if chosen[b]:
            copy_row(puzzles, b, sizes.num_cells, rows, b)
            if augment:
                transpose = draw_symmetry(streams[b], group, lines, columns, digits)
                row_step, column_step = (1, size) if transpose else (size, 1)
                for cell in range(sizes.num_cells):
                    image = lines[cell // size] * row_step + columns[cell % size] * column_step
                    rows[b, image] = digits[puzzles[b, cell]]
            start_episode(state, b, phase, sizes, tables, for_board)


@njit(cache=True)
def step_one(state, action, sizes, tables, rules, observation, mask):
    """Step a batch of one board; all results but `observation [N, N]` and `mask [A]` are scalars.

    The episode must be running, and the action one of 0 to A - 1. Returns reward, terminated,
    truncated, and the info in the order of `name_info`.
    """
    state, sizes, tables = _borrowed_board(state, sizes, tables)
    rules, counts = GameRules(*rules), state.counts
    b = np.uint64(0)  # a literal would compile functions for this value alone
    reward, illegal = step_board(state, b, action, sizes, tables, rules)
    boards, masks = borrowed_rows(observation, 1), borrowed_rows(mask, 1)
    write_board(state, b, rules.any_digit, sizes, boards, masks)
    return (
        reward,
        counts[0, PHASE] == TERMINATED,
        counts[0, PHASE] == TRUNCATED,
        info_of(counts, b, illegal, sizes.num_units),
    )


@njit(cache=True)
def first_refused(counts, actions, resets, num_actions):
    """Return the first board that can't be stepped, or -1.

    Its episode is over (and it is not reset), or its action is none of 0 to A - 1.
    """
    for b in range(len(counts)):
        if counts[b, PHASE] == RUNNING:
            refused = not 0 <= actions[b] < num_actions
        else:
            refused = counts[b, PHASE] == UNUSED or not resets
        if refused:
            return b
    return -1


@njit(cache=True, nogil=True)
def step_boards(state, actions, game, drawn, outputs):
    """Step boards that `first_refused` allows; one whose episode is over gets a new puzzle instead.

    `actions` are int64 `[B]`; `game` is (sizes, tables, rules), as in `BoardBatch`; `drawn` is
    (streams, drawing, scratch) as in `draw_boards`; `outputs` are (observations int8 `[B, N, N]`,
    masks int8 `[B, A]` or `[B, 0]`, `infos.info_arrays(B)`).
    """
    (sizes, tables, rules), (observations, masks, arrays) = game, outputs
    _, _, counts = state
    over = np.empty(len(counts), np.bool_)
    for b in range(np.uint64(len(counts))):
        over[b] = counts[b, PHASE] == TERMINATED or counts[b, PHASE] == TRUNCATED
    pending = np.int64(AUTORESET_PENDING)  # a literal would compile functions for this value
    draw_boards(state, over, pending, sizes, tables, drawn)
    state, sizes, tables = _borrowed_board(state, sizes, tables)
    rules, counts, actions = GameRules(*rules), state.counts, borrowed(actions)
    boards, masks = borrowed_rows(observations, len(counts)), borrowed(masks)
    arrays = borrowed(arrays)
    flags, _, floats = arrays
    for b in range(np.uint64(len(counts))):
        reward, illegal = 0.0, False
        if counts[b, PHASE] == RUNNING:
            reward, illegal = step_board(state, b, actions[b], sizes, tables, rules)
        else:  # it was reset, and its action is ignored
            counts[b, PHASE] = RUNNING
        floats[REWARD_ROW, b] = reward
        flags[TERMINATIONS, b] = counts[b, PHASE] == TERMINATED
        flags[TRUNCATIONS, b] = counts[b, PHASE] == TRUNCATED
        write_info(counts, b, illegal, sizes.num_units, arrays)
        write_board(state, b, rules.any_digit, sizes, boards, masks)


@njit(cache=True)
def step_chosen(state, actions, chosen, sizes, tables, rules):
    """Play `actions[b]` on every board with `chosen [B]`, and report nothing.

    Every chosen board must be running, and its action one of 0 to A - 1.
    """
    state, sizes, tables = _borrowed_board(state, sizes, tables)
    rules = GameRules(*rules)
    for b in range(np.uint64(len(chosen))):
        if chosen[b]:
            step_board(state, b, actions[b], sizes, tables, rules)
