"""Observations, masks and infos: written by kernels, then named.

The infos of a batch have the form of `SyncVectorEnv`: every key comes with a mask `_key` that says
which boards have it. Sources: Gymnasium's `VectorEnv._add_info` and `SyncVectorEnv.step`.
"""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.intrinsics import borrowed, borrowed_rows
from sudoku_gym.compiler.jit import njit
from sudoku_gym.envs.episodes import PHASE, START_BLANKS, TERMINATED, UNUSED
from sudoku_gym.kernels.endings import state_constraint_fraction, state_is_solved
from sudoku_gym.kernels.layout import BLANKS, STUCK, BoardSizes, BoardState
from sudoku_gym.kernels.masks import write_mask
from sudoku_gym.kernels.moves import copy_row, fill_row

# rows of the arrays that the kernels write, see `info_arrays`
TERMINATIONS, TRUNCATIONS, DEAD_END, ILLEGAL_ACTION, IS_SUCCESS, NUM_FLAGS = range(6)
BLANKS_ROW, LEVEL_ROW, NUM_INTEGERS = range(3)
REWARD_ROW, FRACTION_ROW, NUM_FLOATS = range(3)

InfoArrays: TypeAlias = tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.float64]]


def info_arrays(count: int) -> InfoArrays:
    """Return arrays of zeros that the kernels write the infos of B boards to."""
    return (
        np.zeros((NUM_FLAGS, count), np.bool_),
        np.zeros((NUM_INTEGERS, count), np.int64),
        np.zeros((NUM_FLOATS, count), np.float64),
    )


def name_info(
    blanks: Any, level: Any, dead_end: Any, illegal_action: Any, is_success: Any, fraction: Any
) -> dict[str, Any]:
    """Return the info without the mask, of one board or of a batch."""
    return {
        "blanks": blanks,
        "level": level,
        "dead_end": dead_end,
        "illegal_action": illegal_action,
        "is_success": is_success,
        "constraint_fraction": fraction,
    }


def read_info(arrays: InfoArrays) -> dict[str, NDArray[Any]]:
    """Return the info that the kernels wrote, without the masks; it shares their memory."""
    flags, integers, floats = arrays
    ends = flags[DEAD_END], flags[ILLEGAL_ACTION], flags[IS_SUCCESS]
    return name_info(integers[BLANKS_ROW], integers[LEVEL_ROW], *ends, floats[FRACTION_ROW])


def batch_infos(
    masks: NDArray[np.int8],
    arrays: InfoArrays | None,
    tasks: dict[str, NDArray[np.int64]],
    has_info: NDArray[np.bool_],
) -> dict[str, Any]:
    """Return the infos of the boards with `has_info [B]`; they share the memory of `arrays`.

    Action masks int8 `[B, 0]` are left out, and so is the rest with `arrays` None. `tasks` are
    those of `BoardBatch.task_info`.
    """
    infos: dict[str, Any] = {"action_mask": masks} if masks.shape[1] else {}
    if arrays is not None:
        infos |= read_info(arrays) | tasks
    for key in tuple(infos):
        infos["_" + key] = has_info.copy()
    return infos


def final_infos(
    observations: NDArray[np.int8],
    masks: NDArray[np.int8],
    arrays: InfoArrays | None,
    tasks: dict[str, NDArray[np.int64]],
    over: NDArray[np.bool_],
) -> dict[str, Any]:
    """Return copies of `final_obs` and `final_info` for the boards with `over [B]`.

    As in `SyncVectorEnv`, `final_obs` is an array of objects, None where the episode goes on, and
    `final_info` holds zeros there.
    """
    final_obs = np.full(len(over), None, dtype=object)
    for index in np.flatnonzero(over).tolist():
        final_obs[index] = observations[index].copy()
    final_info = batch_infos(masks, arrays, tasks, over)
    for key, values in final_info.items():
        if not key.startswith("_"):
            final_info[key] = np.zeros_like(values)
            final_info[key][over] = values[over]
    return {
        "final_obs": final_obs,
        "_final_obs": over.copy(),
        "final_info": final_info,
        "_final_info": over.copy(),
    }


@njit(cache=True, inline="always")
def info_of(counts, b, illegal, num_units):
    """Return the info of board b, in the order of `name_info`."""
    return (
        counts[b, BLANKS],
        counts[b, START_BLANKS],
        counts[b, STUCK] > 0,
        illegal,
        state_is_solved(counts, b, num_units),
        state_constraint_fraction(counts, b, num_units),
    )


@njit(cache=True, inline="always")
def write_info(counts, b, illegal, num_units, arrays):
    """Write the info of board b."""
    flags, integers, floats = arrays
    blanks, level, dead_end, illegal, solved, fraction = info_of(counts, b, illegal, num_units)
    integers[BLANKS_ROW, b], integers[LEVEL_ROW, b] = blanks, level
    flags[DEAD_END, b], flags[ILLEGAL_ACTION, b], flags[IS_SUCCESS, b] = dead_end, illegal, solved
    floats[FRACTION_ROW, b] = fraction


@njit(cache=True, inline="always")
def write_board(state, b, any_digit, sizes, boards, masks):
    """Write the observation and the mask into `boards[b]` and `masks[b]`."""
    copy_row(state.rows, b, sizes.num_cells, boards, b)
    if masks.shape[1] > 0:
        _write_mask(state, b, any_digit, sizes, masks)


@njit(cache=True, inline="always")
def _write_mask(state, b, any_digit, sizes, masks):
    """Write the mask, which allows nothing once the episode has terminated or before a reset."""
    phase = state.counts[b, PHASE]
    if phase == TERMINATED or phase == UNUSED:
        fill_row(masks, b, 0, sizes.num_actions, 0)
    else:
        write_mask(state, b, any_digit, sizes, masks, b)


@njit(cache=True)
def write_chosen(state, chosen, sizes, any_digit, observations, masks, arrays):
    """Write the results of a reset of the boards with `chosen [B]`; leave the others' output."""
    state, sizes, arrays = BoardState(*borrowed(state)), BoardSizes(*sizes), borrowed(arrays)
    masks, boards = borrowed(masks), borrowed_rows(observations, len(chosen))
    for b in range(np.uint64(len(chosen))):
        if chosen[b]:
            write_info(state.counts, b, False, sizes.num_units, arrays)
            write_board(state, b, any_digit, sizes, boards, masks)


@njit(cache=True)
def write_masks(state, sizes, any_digit, masks):
    """Write the action mask of every board into int8 `masks [B, A]`; zero after its end."""
    state, sizes, masks = BoardState(*borrowed(state)), BoardSizes(*sizes), borrowed(masks)
    for b in range(np.uint64(len(masks))):
        _write_mask(state, b, any_digit, sizes, masks)
