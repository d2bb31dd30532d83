"""The board as one bit a placement, for networks that take no integers."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from sudoku_gym.wrappers.vector_wrapper import SudokuVectorWrapper


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


class VectorOneHotBoard(SudokuVectorWrapper):
    """`OneHotBoard` for a batch: int8 `[B, N, N, N]`, in `final_obs` too.

    Args:
        env: a vector environment whose observations are boards `[B, N, N]`.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self.single_observation_space = _one_hot_space(env.single_observation_space)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the boards; see `SudokuVectorEnv.reset`."""
        boards, infos = self.env.reset(seed=seed, options=options)
        return one_hot(boards), infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step the boards; see `SudokuVectorEnv.step`."""
        boards, rewards, terminations, truncations, infos = self.env.step(actions)
        if "final_obs" in infos:
            final = infos["final_obs"].copy()
            for i in np.flatnonzero(infos["_final_obs"]).tolist():
                final[i] = one_hot(final[i])
            infos = infos | {"final_obs": final}
        return one_hot(boards), rewards, terminations, truncations, infos


def one_hot(boards: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return int8 `[..., N, N, N]` for boards int8 `[..., N, N]`."""
    digits = np.arange(1, boards.shape[-1] + 1, dtype=np.int8)
    return (boards[..., None] == digits).view(np.int8)


def _one_hot_space(space: gym.Space[Any]) -> spaces.MultiBinary:
    shape = space.shape
    if not isinstance(space, spaces.Box) or shape is None or len(shape) != 2:
        raise ValueError(f"a one-hot board is made of a board [N, N], not of {space}")
    return spaces.MultiBinary((shape[0], shape[0], shape[0]))
