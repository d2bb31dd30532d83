"""What a step or a reset leads to, compiled: the info, the observations and the masks."""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sudoku_gym.envs.episodes import LEVEL, PHASE, TERMINATED, UNUSED
from sudoku_gym.kernels.endings import constraint_fraction, is_solved
from sudoku_gym.kernels.intrinsics import borrowed
from sudoku_gym.kernels.layout import BLANKS, STUCK, Sizes, borrowed_state
from sudoku_gym.kernels.masks import write_mask
from sudoku_gym.kernels.positions import copy_row, fill_row


class Info(NamedTuple):
    """The info of B boards without their masks; its fields are the keys of the info, in order.

    Attributes:
        blanks: int64 `[B]`, blank cells now.
        level: int64 `[B]`, blank cells at the start of the episode.
        dead_end: bool `[B]`, whether some blank cell has no candidate.
        illegal_action: bool `[B]`, whether the last action was illegal.
        is_success: bool `[B]`, whether the board is solved.
        constraint_fraction: float64 `[B]`, the share of units that hold all N digits.
    """

    blanks: NDArray[np.int64]
    level: NDArray[np.int64]
    dead_end: NDArray[np.bool_]
    illegal_action: NDArray[np.bool_]
    is_success: NDArray[np.bool_]
    constraint_fraction: NDArray[np.float64]


class Outcome(NamedTuple):
    """What a step of B boards leads to, beside their observations and masks.

    Attributes:
        rewards: float64 `[B]`, 0 where a function decides them.
        terminations: bool `[B]`.
        truncations: bool `[B]`.
        info: the rest.
    """

    rewards: NDArray[np.float64]
    terminations: NDArray[np.bool_]
    truncations: NDArray[np.bool_]
    info: Info

    def as_arguments(self) -> tuple[Any, ...]:
        """Return it as plain tuples, which numba takes faster than named ones."""
        return self.rewards, self.terminations, self.truncations, tuple(self.info)


def new_info(count: int) -> Info:
    """Return the info of B boards, zeros; an environment writes it."""
    return Info(
        blanks=np.zeros(count, np.int64),
        level=np.zeros(count, np.int64),
        dead_end=np.zeros(count, np.bool_),
        illegal_action=np.zeros(count, np.bool_),
        is_success=np.zeros(count, np.bool_),
        constraint_fraction=np.zeros(count, np.float64),
    )


def new_outcome(count: int) -> Outcome:
    """Return the outcome of a step of B boards, zeros; an environment writes it."""
    return Outcome(
        rewards=np.zeros(count, np.float64),
        terminations=np.zeros(count, np.bool_),
        truncations=np.zeros(count, np.bool_),
        info=new_info(count),
    )


@njit(cache=True, inline="always")
def info_of(counts, b, illegal, num_units):
    """Return the values of `Info` for board b, in its order."""
    return (
        counts[b, BLANKS],
        counts[b, LEVEL],
        counts[b, STUCK] > 0,
        illegal,
        is_solved(counts, b, num_units),
        constraint_fraction(counts, b, num_units),
    )


@njit(cache=True, inline="always")
def write_info(counts, b, illegal, num_units, info):
    """Write the info of board b."""
    blanks, level, dead_end, illegal, solved, fraction = info_of(counts, b, illegal, num_units)
    info.blanks[b], info.level[b] = blanks, level
    info.dead_end[b], info.illegal_action[b], info.is_success[b] = dead_end, illegal, solved
    info.constraint_fraction[b] = fraction


@njit(cache=True, inline="always")
def borrowed_info(info):
    """Return an `Info` without counts of references; the caller must hold the original."""
    blanks, level, dead_end, illegal, solved, fraction = info
    return Info(
        borrowed(blanks),
        borrowed(level),
        borrowed(dead_end),
        borrowed(illegal),
        borrowed(solved),
        borrowed(fraction),
    )


@njit(cache=True, inline="always")
def show(state, b, any_digit, sizes, boards, masks):
    """Write what the agent sees into `boards[b]` and `masks[b]`."""
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
def show_boards(state, chosen, sizes, any_digit, observations, masks, info):
    """Write what the boards with `chosen [B]` are like after a reset; leave the others' output."""
    state, sizes, info = borrowed_state(state), Sizes(*sizes), borrowed_info(info)
    masks, boards = borrowed(masks), borrowed(observations.reshape(len(chosen), -1))
    for b in range(len(chosen)):
        if chosen[b]:
            write_info(state.counts, b, False, sizes.num_units, info)
            show(state, b, any_digit, sizes, boards, masks)


@njit(cache=True)
def write_masks(state, sizes, any_digit, masks):
    """Write the action mask of every board into int8 `masks [B, A]`; zero after its end."""
    state, sizes, masks = borrowed_state(state), Sizes(*sizes), borrowed(masks)
    for b in range(len(masks)):
        _write_mask(state, b, any_digit, sizes, masks)
