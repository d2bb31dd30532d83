"""The board as the exact-cover problem that it is: a tensor over placements."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from sudoku_gym.board import candidates
from sudoku_gym.geometry import Geometry
from sudoku_gym.wrappers.one_hot import one_hot
from sudoku_gym.wrappers.vector_wrapper import VectorEncoding, attribute_below, board_size

PLACED, CANDIDATE, BLANK = 0, 1, 2


class ExactCoverTensor(
    gym.ObservationWrapper[NDArray[np.int8], np.int64, NDArray[np.int8]], RecordConstructorArgs
):
    """Turns the board into int8 `[N, N, N, 3]`, three bits for each (row, column, digit - 1).

    Bit 0: the digit stands in the cell. Bit 1: it is a candidate of the cell, whether or not the
    action mask allows more (`actions="blank"` does). Bit 2: the cell is blank, the same for all
    its digits. The observation space is `MultiBinary((N, N, N, 3))`.

    Args:
        env: an environment over `SudokuEnv` whose observation is a board `[N, N]`.
    """

    def __init__(self, env: gym.Env[NDArray[np.int8], np.int64]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        self._geometry: Geometry = env.get_wrapper_attr("geometry")
        self.observation_space = _tensor_space(env.observation_space)

    def observation(self, observation: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the board's tensor."""
        return exact_cover_tensor(observation[None], self._geometry)[0]


class VectorExactCoverTensor(VectorEncoding):
    """`ExactCoverTensor` for a batch: int8 `[B, N, N, N, 3]`, in `final_obs` too.

    Args:
        env: a vector environment over `SudokuVectorEnv` whose observations are boards.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env, _tensor_space(env.single_observation_space))
        self._geometry: Geometry = attribute_below(env, "geometry")

    def encode(self, observations: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the boards' tensors."""
        return exact_cover_tensor(observations, self._geometry)


def exact_cover_tensor(boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
    """Return int8 `[B, N, N, N, 3]` (placed, candidate, blank) for boards int8 `[B, N, N]`."""
    tensor = np.empty((*boards.shape, geometry.size, 3), np.int8)
    tensor[..., PLACED] = one_hot(boards)
    tensor[..., CANDIDATE] = candidates(boards, geometry)
    tensor[..., BLANK] = (boards == 0)[..., None]
    return tensor


def _tensor_space(space: gym.Space[Any]) -> spaces.MultiBinary:
    size = board_size(space, "an exact-cover tensor")
    return spaces.MultiBinary((size, size, size, 3))
