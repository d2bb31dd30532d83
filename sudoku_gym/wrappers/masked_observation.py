"""Observation and action mask in one dictionary, as RLlib and many masked learners take them."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from sudoku_gym.wrappers.base import SudokuVectorWrapper, encode_final_obs, get_action_mask


class MaskedObservation(gym.Wrapper[dict[str, Any], Any, Any, Any], RecordConstructorArgs):
    """Shows `{"observations": ..., "action_mask": int8 [A]}`; the mask is the one in the info."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        self.observation_space = _masked_space(env.observation_space, env.action_space)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode; see `SudokuEnv.reset`."""
        observation, info = self.env.reset(seed=seed, options=options)
        return _joined(observation, get_action_mask(info)), info

    def step(self, action: Any) -> tuple[dict[str, Any], Any, bool, bool, dict[str, Any]]:
        """Step; see `SudokuEnv.step`."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return _joined(observation, get_action_mask(info)), reward, terminated, truncated, info


class VectorMaskedObservation(SudokuVectorWrapper):
    """`MaskedObservation` for a batch: `{"observations": [B, ...], "action_mask": int8 [B, A]}`."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self.single_observation_space = _masked_space(
            env.single_observation_space, env.single_action_space
        )
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the boards; see `SudokuVectorEnv.reset`."""
        observations, infos = self.env.reset(seed=seed, options=options)
        get_action_mask(infos)  # holds the masks of boards that were reset; the others keep theirs
        return _joined(observations, self.action_masks().view(np.int8)), infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step the boards; see `SudokuVectorEnv.step`."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        infos = encode_final_obs(
            infos, lambda final, i: _joined(final, infos["final_info"]["action_mask"][i])
        )
        joined = _joined(observations, get_action_mask(infos))
        return joined, rewards, terminations, truncations, infos


def _masked_space(observations: gym.Space[Any], actions: gym.Space[Any]) -> spaces.Dict:
    if not isinstance(actions, spaces.Discrete):
        raise ValueError(f"a mask belongs to a Discrete action space, not to {actions}")
    return spaces.Dict(
        {"observations": observations, "action_mask": spaces.MultiBinary(int(actions.n))}
    )


def _joined(observation: Any, mask: NDArray[np.int8]) -> dict[str, Any]:
    return {"observations": observation, "action_mask": mask.copy()}
