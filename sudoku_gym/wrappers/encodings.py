"""Observations in other forms: bits, tensors, vectors, or a dictionary with the action mask."""

from __future__ import annotations

from math import prod
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from sudoku_gym.board import candidates
from sudoku_gym.geometry import Geometry
from sudoku_gym.wrappers.base import (
    Spaces,
    SudokuVectorTransform,
    SudokuWrapper,
    Transform,
    Which,
    board_size,
)

PLACED, CANDIDATE, BLANK = range(3)  # the last axis of `exact_cover_tensor`


def one_hot_boards(boards: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return int8 `[..., N, N, N]` for boards int8 `[..., N, N]`."""
    digits = np.arange(1, boards.shape[-1] + 1, dtype=np.int8)
    return (boards[..., None] == digits).view(np.int8)


def exact_cover_tensor(boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
    """Return int8 `[B, N, N, N, 3]` (placed, candidate, blank) for boards int8 `[B, N, N]`."""
    tensor = np.empty((*boards.shape, geometry.size, 3), np.int8)
    tensor[..., PLACED] = one_hot_boards(boards)
    tensor[..., CANDIDATE] = candidates(boards, geometry)
    tensor[..., BLANK] = (boards == 0)[..., None]
    return tensor


class _OneHot(Transform):
    needs_masks = False

    def set_up(self, count: int, observations: gym.Space[Any], actions: gym.Space[Any]) -> Spaces:
        size = board_size(observations, "a one-hot board")
        return spaces.MultiBinary((size, size, size)), actions

    def show(self, observations: Any, masks: NDArray[np.int8], which: Which) -> tuple[Any, Any]:
        return one_hot_boards(observations), masks


class OneHotBoard(_OneHot, SudokuWrapper):
    """Turns a board `[N, N]` into int8 `[N, N, N]`: 1 at (row, column, digit - 1), 0 for a blank.

    The observation space is `MultiBinary((N, N, N))`. Flattened, position i is placement i.
    """


class VectorOneHotBoard(_OneHot, SudokuVectorTransform):
    """`OneHotBoard` for a batch of boards: int8 `[B, N, N, N]`, in `final_obs` too."""


class _CoverTensor(Transform):
    needs_masks = False

    def set_up(self, count: int, observations: gym.Space[Any], actions: gym.Space[Any]) -> Spaces:
        size = board_size(observations, "an exact-cover tensor")
        self._geometry: Geometry = self.find("geometry")
        return spaces.MultiBinary((size, size, size, 3)), actions

    def show(self, observations: Any, masks: NDArray[np.int8], which: Which) -> tuple[Any, Any]:
        return exact_cover_tensor(observations, self._geometry), masks


class ExactCoverTensor(_CoverTensor, SudokuWrapper):
    """Turns the board `[N, N]` of a `SudokuEnv` into int8 `[N, N, N, 3]`.

    There are three bits for each (row, column, digit - 1). Bit 0: the digit stands in the cell.
    Bit 1: it is a candidate of the cell, whether or not the action mask allows more
    (`actions="blank"` does). Bit 2: the cell is blank, the same for all its digits. The observation
    space is `MultiBinary((N, N, N, 3))`.
    """


class VectorExactCoverTensor(_CoverTensor, SudokuVectorTransform):
    """`ExactCoverTensor` for a `SudokuVectorEnv`: int8 `[B, N, N, N, 3]`, in `final_obs` too."""


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

    The observation may be any array: a board, a one-hot board or a tensor.
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
