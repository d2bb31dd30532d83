"""The environments as RLlib makes them: one board, or many in one compiled call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym

from sudoku_gym.wrappers import MaskedObservation, VectorMaskedObservation


class MaskedSudoku:
    """Makes environments that observe `{"observations": board, "action_mask": ...}`.

    RLlib takes a class for an environment. This one's instances are Gymnasium's: with `num_envs` a
    vector environment, which RLlib's runners step with
    `gym_env_vectorize_mode="vector_entry_point"`, else a single one. A class needs no registration
    in the process that loads a checkpoint.
    """

    def __new__(cls, config: Mapping[str, Any]) -> Any:
        """Make the environment.

        Args:
            config: `"id"`, e.g. `"Sudoku9x9-v0"`, and options of that environment.

        Raises:
            ValueError: if there is no id.
        """
        options = dict(config)
        if "id" not in options:
            raise ValueError('env_config names no environment: give {"id": "Sudoku4x4-v0", ...}')
        name, num_envs = options.pop("id"), options.pop("num_envs", None)
        if num_envs is None:
            return MaskedObservation(gym.make(name, **options))
        return VectorMaskedObservation(gym.make_vec(name, num_envs=num_envs, **options))
