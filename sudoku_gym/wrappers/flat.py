"""Observations as one vector, for networks that are plain stacks of dense layers."""

from __future__ import annotations

from math import prod
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from sudoku_gym.wrappers.vector_wrapper import VectorEncoding


class FlatObservation(
    gym.ObservationWrapper[NDArray[np.int8], np.int64, NDArray[np.int8]], RecordConstructorArgs
):
    """Lays an array out as a vector of the same dtype, row by row; bits stay `MultiBinary`.

    Args:
        env: an environment whose observation is an array: a board, a one-hot board or a tensor.
    """

    def __init__(self, env: gym.Env[NDArray[np.int8], np.int64]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        self.observation_space = _flat_space(env.observation_space)

    def observation(self, observation: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the vector."""
        return observation.reshape(-1)


class VectorFlatObservation(VectorEncoding):
    """`FlatObservation` for a batch, in `final_obs` too.

    Unlike Gymnasium's own `FlattenObservation` it lets `set_blanks` and `action_masks` through.

    Args:
        env: a vector environment whose observations are arrays.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env, _flat_space(env.single_observation_space))

    def encode(self, observations: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return one vector a board."""
        return observations.reshape(len(observations), -1)


def _flat_space(space: gym.Space[Any]) -> spaces.MultiBinary | spaces.Box:
    if isinstance(space, spaces.MultiBinary):
        return spaces.MultiBinary(prod(space.shape))
    if isinstance(space, spaces.Box):
        return spaces.Box(space.low.reshape(-1), space.high.reshape(-1), dtype=space.low.dtype.type)
    raise ValueError(f"only arrays can be laid out as a vector, not {space}")
