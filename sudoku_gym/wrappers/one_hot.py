"""The board as one bit a placement, for networks that take no integers."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from sudoku_gym.wrappers.vector_wrapper import VectorEncoding, board_size


class OneHotBoard(
    gym.ObservationWrapper[NDArray[np.int8], np.int64, NDArray[np.int8]], RecordConstructorArgs
):
    """Turns the board into int8 `[N, N, N]`: 1 at (row, column, digit - 1); a blank is all zeros.

    The observation space is `MultiBinary((N, N, N))`. Flattened, position i is placement i.

    Args:
        env: an environment whose observation is a board `[N, N]`.
    """

    def __init__(self, env: gym.Env[NDArray[np.int8], np.int64]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        self.observation_space = _one_hot_space(env.observation_space)

    def observation(self, observation: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the board's bits."""
        return one_hot(observation)


class VectorOneHotBoard(VectorEncoding):
    """`OneHotBoard` for a batch: int8 `[B, N, N, N]`, in `final_obs` too.

    Args:
        env: a vector environment whose observations are boards `[B, N, N]`.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env, _one_hot_space(env.single_observation_space))

    def encode(self, observations: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the boards' bits."""
        return one_hot(observations)


def one_hot(boards: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return int8 `[..., N, N, N]` for boards int8 `[..., N, N]`."""
    digits = np.arange(1, boards.shape[-1] + 1, dtype=np.int8)
    return (boards[..., None] == digits).view(np.int8)


def _one_hot_space(space: gym.Space[Any]) -> spaces.MultiBinary:
    size = board_size(space, "a one-hot board")
    return spaces.MultiBinary((size, size, size))
