"""Steps of the environments, compiled: of one board, and of a batch."""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.intrinsics import borrowed, borrowed_rows
from sudoku_gym.compiler.jit import njit
from sudoku_gym.envs.episodes import (
    PHASE,
    RENEWED,
    RUNNING,
    TERMINATED,
    TRUNCATED,
    UNUSED,
    step_board,
)
from sudoku_gym.envs.outcomes import (
    REWARDS,
    TERMINATIONS,
    TRUNCATIONS,
    borrowed_arrays,
    info_of,
    show,
    write_info,
)
from sudoku_gym.envs.starts import Scratch, draw_boards, new_scratch
from sudoku_gym.kernels.endings import Rules
from sudoku_gym.kernels.layout import Sizes, borrowed_state, borrowed_tables

Part: TypeAlias = tuple[int, int, NDArray[np.bool_], Scratch]


@njit(cache=True)
def step_one(state, action, sizes, tables, rules, observation, mask):
    """Step a batch of one board; all results but `observation [N, N]` and `mask [A]` are scalars.

    Returns:
        reward, terminated, truncated, and the info in the order of `name_info`; a reward of NaN
        says that the action is none of this board, or the episode over.
    """
    state, sizes, tables = borrowed_state(state), Sizes(*sizes), borrowed_tables(tables)
    rules, counts = Rules(*rules), state.counts
    reward, illegal = np.nan, False
    b = np.uint64(0)  # a constant would have functions compiled for it alone
    if counts[0, PHASE] == RUNNING and 0 <= action < sizes.num_actions:
        reward, illegal = step_board(state, b, action, sizes, tables, rules)
    boards, masks = borrowed_rows(observation, 1), borrowed_rows(mask, 1)
    show(state, b, rules.any_digit, sizes, boards, masks)
    return (
        reward,
        counts[0, PHASE] == TERMINATED,
        counts[0, PHASE] == TRUNCATED,
        info_of(counts, b, illegal, sizes.num_units),
    )


@njit(cache=True)
def first_refused(counts, actions, may_renew, num_actions):
    """Return the first board that can't be stepped, or -1.

    Its episode is over (and it may not be renewed), or its action is none of 0 to A - 1.
    """
    for b in range(len(counts)):
        if counts[b, PHASE] == RUNNING:
            refused = not 0 <= actions[b] < num_actions
        else:
            refused = counts[b, PHASE] == UNUSED or not may_renew
        if refused:
            return b
    return -1


def new_part(first: int, last: int, sizes: Sizes) -> Part:
    """Return which boards a thread steps, `last` not included, and what is overwritten for it."""
    return first, last, np.empty(last - first, np.bool_), new_scratch(sizes)


@njit(cache=True, nogil=True)
def step_boards(
    part, state, streams, actions, sizes, tables, rules, drawing, observations, masks, arrays
):
    """Step boards that `first_refused` allows; one whose episode is over gets a new puzzle instead.

    Args:
        part: the boards to step, see `new_part`; threads take a part each.
        state: of the batch.
        streams: uint64 `[B, 2]`.
        actions: int64 `[B]`.
        sizes: see `layout.Sizes`.
        tables: see `layout.UnitTables`.
        rules: see `endings.Rules`.
        drawing: (bank, cdf, augment, group), see `sudoku_gym.puzzles.sources.draw_puzzles`.
        observations: int8 `[B, N, N]`, written.
        masks: int8 `[B, A]`, written, or `[B, 0]`.
        arrays: `outcomes.outcome_arrays(B)`, written.
    """
    first, last, over, scratch = part
    _, _, counts = state
    for i in range(np.uint64(last - first)):
        phase = counts[np.uint64(first) + i, PHASE]
        over[i] = phase == TERMINATED or phase == TRUNCATED
    renewed = np.int64(RENEWED)  # a constant would have functions compiled for it alone
    drawn = (streams, drawing, scratch)
    draw_boards(state, first, over, renewed, sizes, tables, drawn)
    state, sizes, tables = borrowed_state(state), Sizes(*sizes), borrowed_tables(tables)
    rules, counts, actions = Rules(*rules), state.counts, borrowed(actions)
    boards, masks = borrowed_rows(observations, len(counts)), borrowed(masks)
    arrays = borrowed_arrays(arrays)
    flags, _, floats = arrays
    for b in range(np.uint64(first), np.uint64(last)):
        reward, illegal = 0.0, False
        if counts[b, PHASE] == RUNNING:
            reward, illegal = step_board(state, b, actions[b], sizes, tables, rules)
        else:  # it was renewed, and its action is ignored
            counts[b, PHASE] = RUNNING
        floats[REWARDS, b] = reward
        flags[TERMINATIONS, b] = counts[b, PHASE] == TERMINATED
        flags[TRUNCATIONS, b] = counts[b, PHASE] == TRUNCATED
        write_info(counts, b, illegal, sizes.num_units, arrays)
        show(state, b, rules.any_digit, sizes, boards, masks)


@njit(cache=True)
def step_chosen(state, actions, chosen, sizes, tables, rules):
    """Play `actions[b]` on every board with `chosen [B]`, and report nothing.

    Every chosen board must be running, and its action one of 0 to A - 1.
    """
    state, sizes, tables = borrowed_state(state), Sizes(*sizes), borrowed_tables(tables)
    rules = Rules(*rules)
    for b in range(np.uint64(len(chosen))):
        if chosen[b]:
            step_board(state, b, actions[b], sizes, tables, rules)
