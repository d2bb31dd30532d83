"""Base classes and helpers of the wrappers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv, VectorWrapper
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import Blanks


class BoardEncoder:
    """Turns boards into another form of observations."""

    @abstractmethod
    def encode_space(self, space: gym.Space[Any]) -> gym.Space[Any]:
        """Return the space of one encoded observation."""

    @abstractmethod
    def encode(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Encode a batch `[B, ...]`."""


class ObservationEncoder(
    BoardEncoder,
    gym.ObservationWrapper[NDArray[Any], np.int64, NDArray[np.int8]],
    RecordConstructorArgs,
):
    """Encodes each observation of an environment."""

    def __init__(self, env: gym.Env[NDArray[np.int8], np.int64]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)
        self.observation_space = self.encode_space(env.observation_space)

    @cached_property
    def _geometry(self) -> Geometry:
        geometry: Geometry = self.env.get_wrapper_attr("geometry")
        return geometry

    def observation(self, observation: NDArray[np.int8]) -> NDArray[Any]:
        """Return the encoded observation."""
        return self.encode(observation[None])[0]


class SudokuVectorWrapper(VectorWrapper):
    """Forwards `set_blanks` and `action_masks` to the wrapped vector environment.

    An environment closes itself when it is collected; a wrapper does not close it, so one that
    was refused by its constructor leaves the environment usable.
    """

    def __del__(self) -> None:
        """Do nothing; `VectorEnv.__del__` would close the wrapped environment."""

    def set_blanks(self, blanks: Blanks) -> None:
        """Set the number of blanks of the next episodes; see `SudokuVectorEnv`."""
        find_attribute(self.env, "set_blanks")(blanks)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions, bool `[B, A]`."""
        masks: NDArray[np.bool_] = find_attribute(self.env, "action_masks")()
        return masks

    @cached_property
    def _geometry(self) -> Geometry:
        geometry: Geometry = find_attribute(self.env, "geometry")
        return geometry


class VectorObservationEncoder(BoardEncoder, SudokuVectorWrapper):
    """Encodes the observations of a vector environment, in `final_obs` too."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self.single_observation_space = self.encode_space(env.single_observation_space)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the boards; see `SudokuVectorEnv.reset`."""
        observations, infos = self.env.reset(seed=seed, options=options)
        return self.encode(observations), infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step the boards; see `SudokuVectorEnv.step`."""
        observations, rewards, terminations, truncations, infos = self.env.step(actions)
        infos = encode_final_obs(infos, lambda final, _index: self.encode(final[None])[0])
        return self.encode(observations), rewards, terminations, truncations, infos


def encode_final_obs(infos: dict[str, Any], encode: Callable[[Any, int], Any]) -> dict[str, Any]:
    """Return infos in which each `final_obs[i]`, if any, is `encode(final_obs[i], i)`."""
    if "final_obs" not in infos:
        return infos
    final = infos["final_obs"].copy()
    for i in np.flatnonzero(infos["_final_obs"]).tolist():
        final[i] = encode(final[i], i)
    return infos | {"final_obs": final}


def find_attribute(env: VectorEnv[Any, Any, Any], name: str) -> Any:
    """Return the attribute of the outermost layer that has it; AttributeError if none has."""
    inner = env
    while not hasattr(inner, name):
        if not isinstance(inner, VectorWrapper):
            raise AttributeError(f"{env} has no {name}: wrap a SudokuVectorEnv")
        inner = inner.env
    return getattr(inner, name)


def get_action_mask(info: dict[str, Any]) -> NDArray[np.int8]:
    """Return `info["action_mask"]`; ValueError if the environment was made without masks."""
    if "action_mask" not in info:
        raise ValueError("this wrapper needs action masks: make the environment with_mask=True")
    mask: NDArray[np.int8] = info["action_mask"]
    return mask


def board_size(space: gym.Space[Any], purpose: str) -> int:
    """Return N if the space's observations are boards `[N, N]`; else raise a ValueError."""
    shape = space.shape
    if not isinstance(space, gym.spaces.Box) or shape is None or len(shape) != 2:
        raise ValueError(f"{purpose} needs boards [N, N], not {space}")
    return shape[0]
