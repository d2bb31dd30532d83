"""The environments by the name that RLlib knows, one board or many in one compiled call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
from gymnasium.vector import VectorEnv
from ray.tune.registry import register_env

from sudoku_gym.wrappers import MaskedObservation, VectorMaskedObservation

ENVIRONMENT = "sudoku-gym"


def make_env(config: Mapping[str, Any]) -> gym.Env[Any, Any] | VectorEnv[Any, Any, Any]:
    """Make an environment that observes `{"observations": board, "action_mask": ...}`.

    RLlib calls this with `num_envs` for the environment that it steps, if the configuration says
    `gym_env_vectorize_mode="vector_entry_point"`, and without for a single one.

    Args:
        config: `"id"`, e.g. `"Sudoku9x9-v0"`, and options of that environment.

    Raises:
        ValueError: if there is no id.
    """
    options = dict(config)
    num_envs = options.pop("num_envs", None)
    if "id" not in options:
        raise ValueError('env_config names no environment: give {"id": "Sudoku4x4-v0", ...}')
    name = options.pop("id")
    if num_envs is None:
        return MaskedObservation(gym.make(name, **options))
    return VectorMaskedObservation(gym.make_vec(name, num_envs=num_envs, **options))


def register() -> None:
    """Let every process of the Ray cluster find `make_env` under the name `ENVIRONMENT`."""
    register_env(ENVIRONMENT, make_env)
