"""Boards as arrays of bits, and arrays as vectors, for networks that take no integers."""

from __future__ import annotations

from math import prod
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from sudoku_gym.board import candidates
from sudoku_gym.geometry import Geometry
from sudoku_gym.wrappers.base import ObservationEncoder, VectorObservationEncoder, board_size

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


class _OneHot:
    def encode_space(self, space: gym.Space[Any]) -> spaces.MultiBinary:
        return spaces.MultiBinary((board_size(space, "a one-hot board"),) * 3)

    def encode(self, observations: NDArray[np.int8]) -> NDArray[np.int8]:
        return one_hot_boards(observations)


class OneHotBoard(_OneHot, ObservationEncoder):
    """Turns a board `[N, N]` into int8 `[N, N, N]`: 1 at (row, column, digit - 1), 0 for a blank.

    The observation space is `MultiBinary((N, N, N))`. Flattened, position i is placement i.
    """


class VectorOneHotBoard(_OneHot, VectorObservationEncoder):
    """`OneHotBoard` for a batch of boards: int8 `[B, N, N, N]`, in `final_obs` too."""


class _CoverTensor:
    _geometry: Geometry

    def encode_space(self, space: gym.Space[Any]) -> spaces.MultiBinary:
        board_size(space, "an exact-cover tensor")
        size = self._geometry.size
        return spaces.MultiBinary((size, size, size, 3))

    def encode(self, observations: NDArray[np.int8]) -> NDArray[np.int8]:
        return exact_cover_tensor(observations, self._geometry)


class ExactCoverTensor(_CoverTensor, ObservationEncoder):
    """Turns the board `[N, N]` of a `SudokuEnv` into int8 `[N, N, N, 3]`.

    There are three bits for each (row, column, digit - 1). Bit 0: the digit stands in the cell.
    Bit 1: it is a candidate of the cell, whether or not the action mask allows more
    (`actions="blank"` does). Bit 2: the cell is blank, the same for all its digits. The observation
    space is `MultiBinary((N, N, N, 3))`.
    """


class VectorExactCoverTensor(_CoverTensor, VectorObservationEncoder):
    """`ExactCoverTensor` for a `SudokuVectorEnv`: int8 `[B, N, N, N, 3]`, in `final_obs` too."""


class _Flat:
    def encode_space(self, space: gym.Space[Any]) -> spaces.MultiBinary | spaces.Box:
        if isinstance(space, spaces.MultiBinary):
            return spaces.MultiBinary(prod(space.shape))
        if isinstance(space, spaces.Box):
            low, high = space.low.reshape(-1), space.high.reshape(-1)
            return spaces.Box(low, high, dtype=space.low.dtype.type)
        raise ValueError(f"only arrays can be laid out as a vector, not {space}")

    def encode(self, observations: NDArray[np.int8]) -> NDArray[np.int8]:
        return observations.reshape(len(observations), -1)


class FlatObservation(_Flat, ObservationEncoder):
    """Lays an array out as a vector of the same dtype, row by row; bits stay `MultiBinary`.

    The observation may be any array: a board, a one-hot board or a tensor.
    """


class VectorFlatObservation(_Flat, VectorObservationEncoder):
    """`FlatObservation` for a batch of arrays, in `final_obs` too.

    Unlike Gymnasium's own `FlattenObservation` it lets `set_blanks` and `action_masks` through.
    """
