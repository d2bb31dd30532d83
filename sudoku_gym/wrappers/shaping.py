"""Potential-based reward shaping, which preserves optimal policies.

Source: Ng, Harada and Russell, "Policy invariance under reward transformations" (ICML 1999).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from sudoku_gym.wrappers.base import SudokuVectorWrapper, board_size

Potential: TypeAlias = Callable[[NDArray[np.int8]], NDArray[np.floating[Any]]]


def filled_share(boards: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return the share of filled cells, float64 `[B]`, for boards int8 `[B, N, N]`."""
    return (boards > 0).mean((1, 2))


class PotentialShaping(
    gym.Wrapper[NDArray[np.int8], np.int64, NDArray[np.int8], np.int64], RecordConstructorArgs
):
    """Adds `discount * potential(after) - potential(before)` to each reward.

    The potential of a terminal board counts as 0, so that the discounted return changes by
    `-potential(first board)` whatever is played; that of a truncated board counts in full, since
    a learner goes on from it.

    Args:
        env: an environment whose observation is a board.
        potential: function of boards int8 `[B, N, N]`, returns float `[B]`; here B = 1.
        discount: the learner's discount, above 0 and at most 1.

    Raises:
        ValueError: if the discount is out of range or the observation is no board.
    """

    def __init__(
        self,
        env: gym.Env[NDArray[np.int8], np.int64],
        potential: Potential = filled_share,
        discount: float = 1.0,
    ) -> None:
        RecordConstructorArgs.__init__(self, potential=potential, discount=discount)
        gym.Wrapper.__init__(self, env)
        board_size(env.observation_space, "a potential")
        self._potential, self._discount = potential, _checked_discount(discount)
        self._before = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Start an episode; see `SudokuEnv.reset`."""
        board, info = self.env.reset(seed=seed, options=options)
        self._before = float(_values(self._potential, board[None])[0])
        return board, info

    def step(self, action: np.int64) -> tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """Step, and add the shaping; see `SudokuEnv.step`."""
        board, reward, terminated, truncated, info = self.env.step(action)
        after = 0.0 if terminated else float(_values(self._potential, board[None])[0])
        shaped = float(reward) + (self._discount * after - self._before)
        self._before = after
        return board, shaped, terminated, truncated, info


class VectorPotentialShaping(SudokuVectorWrapper):
    """`PotentialShaping` for a batch; a board that starts an episode gets no shaping.

    Arguments and errors are those of `PotentialShaping`, around a vector environment.
    """

    def __init__(
        self,
        env: VectorEnv[Any, Any, Any],
        potential: Potential = filled_share,
        discount: float = 1.0,
    ) -> None:
        super().__init__(env)
        board_size(env.single_observation_space, "a potential")
        self._potential, self._discount = potential, _checked_discount(discount)
        self._before = np.zeros(env.num_envs)
        self._is_over = np.zeros(env.num_envs, np.bool_)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the boards; see `SudokuVectorEnv.reset`."""
        boards, infos = self.env.reset(seed=seed, options=options)
        chosen = np.ones(self.num_envs, np.bool_)
        if options and "reset_mask" in options:
            chosen = options["reset_mask"]
        self._before[chosen] = _values(self._potential, boards[chosen])
        self._is_over[chosen] = False
        return boards, infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step, and add the shaping; see `SudokuVectorEnv.step`."""
        boards, rewards, terminations, truncations, infos = self.env.step(actions)
        values = _values(self._potential, boards)
        after = values.copy()
        if "final_obs" in infos:
            over = np.flatnonzero(infos["_final_obs"])
            after[over] = _values(self._potential, np.stack(list(infos["final_obs"][over])))
        after[terminations] = 0.0
        shaping = self._discount * after - self._before
        if self.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP:
            shaping[self._is_over] = 0.0
            after[self._is_over] = values[self._is_over]
        self._is_over = terminations | truncations
        is_new = self.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP and self._is_over
        self._before = np.where(is_new, values, after)
        return boards, rewards + shaping, terminations, truncations, infos


def _values(potential: Potential, boards: NDArray[np.int8]) -> NDArray[np.float64]:
    values = np.asarray(potential(boards), np.float64)
    if values.shape != (len(boards),):
        raise ValueError(
            f"the potential must return one number a board, shape ({len(boards)},), "
            f"not {values.shape}"
        )
    return values


def _checked_discount(discount: float) -> float:
    if not 0 < discount <= 1:
        raise ValueError(f"discount={discount!r}: use a number above 0 and at most 1")
    return float(discount)
