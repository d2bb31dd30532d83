"""Fills in singles after each placement, so that the agent only makes real choices."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv

from sudoku_gym.envs.options import PropagationKind
from sudoku_gym.wrappers.base import SudokuVectorWrapper, find_attribute


class SinglesPropagation(gym.Wrapper[Any, np.int64, Any, np.int64], RecordConstructorArgs):
    """Fills in singles after each legal placement, until there is none left.

    A step stays one step, whose reward and info are those of the board after filling in. The
    filling in is done by the environment below, whose option `propagation` this sets.

    Args:
        env: an environment over `SudokuEnv` without `erase`.
        propagation: `"naked singles"`, or `"hidden singles"` for naked ones too.

    Raises:
        ValueError: if there is no such kind, or digits may be erased.
    """

    def __init__(
        self, env: gym.Env[Any, np.int64], propagation: PropagationKind = "hidden singles"
    ) -> None:
        RecordConstructorArgs.__init__(self, propagation=propagation)
        gym.Wrapper.__init__(self, env)
        env.get_wrapper_attr("set_propagation")(propagation)


class VectorSinglesPropagation(SudokuVectorWrapper):
    """`SinglesPropagation` for a batch, with the same arguments and errors."""

    def __init__(
        self, env: VectorEnv[Any, Any, Any], propagation: PropagationKind = "hidden singles"
    ) -> None:
        super().__init__(env)
        find_attribute(env, "set_propagation")(propagation)
