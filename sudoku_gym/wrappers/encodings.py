"""Observations in other forms: bits, vectors, or a dictionary with the action mask."""

from __future__ import annotations

from math import prod
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from sudoku_gym.wrappers.base import Spaces, SudokuVectorTransform, SudokuWrapper, Transform, Which


def one_hot_boards(boards: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return int8 `[..., N, N, N]` for boards int8 `[..., N, N]`."""
    digits = np.arange(1, boards.shape[-1] + 1, dtype=np.int8)
    return (boards[..., None] == digits).view(np.int8)


class _OneHot(Transform):
    needs_masks = False

    def set_up(self, count: int, observations: gym.Space[Any], actions: gym.Space[Any]) -> Spaces:
        if not isinstance(observations, spaces.Box) or len(observations.shape) != 2:
            raise ValueError(f"a one-hot board needs boards [N, N], not {observations}")
        return spaces.MultiBinary(3 * observations.shape[:1]), actions

    def show(self, observations: Any, masks: NDArray[np.int8], which: Which) -> tuple[Any, Any]:
        return one_hot_boards(observations), masks


class OneHotBoard(_OneHot, SudokuWrapper):
    """Turns a board `[N, N]` into int8 `[N, N, N]`: 1 at (row, column, digit - 1), 0 for a blank.

    The observation space is `MultiBinary((N, N, N))`. Flattened, position i is placement i.
    """


class VectorOneHotBoard(_OneHot, SudokuVectorTransform):
    """`OneHotBoard` for a batch of boards: int8 `[B, N, N, N]`, in `final_obs` too."""


class _Flat(Transform):
    needs_masks = False

    def set_up(self, count: int, observations: gym.Space[Any], actions: gym.Space[Any]) -> Spaces:
        if isinstance(observations, spaces.MultiBinary):
            return spaces.MultiBinary(prod(observations.shape)), actions
        if isinstance(observations, spaces.Box):
            return spaces.flatten_space(observations), actions
        raise ValueError(f"only arrays can be laid out as a vector, not {observations}")

    def show(self, observations: Any, masks: NDArray[np.int8], which: Which) -> tuple[Any, Any]:
        return observations.reshape(len(observations), -1), masks


class FlatObservation(_Flat, SudokuWrapper):
    """Lays an array out as a vector of the same dtype, row by row; bits stay `MultiBinary`.

    The observation may be any array, as a board or a one-hot board.
    """


class VectorFlatObservation(_Flat, SudokuVectorTransform):
    """`FlatObservation` for a batch of arrays, in `final_obs` too.

    Unlike Gymnasium's own `FlattenObservation` it lets `set_blanks` and `action_masks` through.
    """


class _Masked(Transform):
    def set_up(self, count: int, observations: gym.Space[Any], actions: gym.Space[Any]) -> Spaces:
        if not isinstance(actions, spaces.Discrete):
            raise ValueError(f"a mask belongs to a Discrete action space, not to {actions}")
        mask = spaces.MultiBinary(int(actions.n))
        return spaces.Dict({"observations": observations, "action_mask": mask}), actions

    def show(self, observations: Any, masks: NDArray[np.int8], which: Which) -> tuple[Any, Any]:
        return {"observations": observations, "action_mask": masks.copy()}, masks


class MaskedObservation(_Masked, SudokuWrapper):
    """Shows `{"observations": ..., "action_mask": int8 [A]}`; the mask is the one in the info."""


class VectorMaskedObservation(_Masked, SudokuVectorTransform):
    """`MaskedObservation` for a batch: `{"observations": [B, ...], "action_mask": int8 [B, A]}`."""
