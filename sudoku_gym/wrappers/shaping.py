"""Potential-based reward shaping, which preserves optimal policies.

Source: Ng, Harada and Russell, "Policy invariance under reward transformations" (ICML 1999).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from sudoku_gym.wrappers.base import (
    Seeds,
    Spaces,
    SudokuVectorTransform,
    SudokuWrapper,
    Transform,
    board_size,
)

Potential: TypeAlias = Callable[[NDArray[np.int8]], NDArray[np.floating[Any]]]


def filled_share(boards: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return the share of filled cells, float64 `[B]`, for boards int8 `[B, N, N]`."""
    return (boards > 0).mean((1, 2))


class _Shaping(Transform):
    needs_masks = False
    adds_rewards = True

    def __init__(
        self, env: Any, potential: Potential = filled_share, discount: float = 1.0
    ) -> None:
        super().__init__(env, potential=potential, discount=discount)  # type: ignore[call-arg]

    def set_up(  # type: ignore[override]
        self,
        count: int,
        observations: gym.Space[Any],
        actions: gym.Space[Any],
        potential: Potential,
        discount: float,
    ) -> Spaces:
        board_size(observations, "a potential")
        if not 0 < discount <= 1:
            raise ValueError(f"discount={discount!r}: use a number above 0 and at most 1")
        self._potential, self._discount = potential, discount
        self._before = np.zeros(count)  # the potentials of the boards
        return observations, actions

    def begin(self, chosen: NDArray[np.bool_], observations: Any, seeds: Seeds = ()) -> None:
        if chosen.any():
            self._before[chosen] = self._values(observations[chosen])

    def rewards(self, observations: Any, terminations: NDArray[np.bool_]) -> NDArray[np.float64]:
        after = np.where(terminations, 0.0, self._values(observations))
        before, self._before = self._before, after
        return self._discount * after - before

    def _values(self, boards: NDArray[np.int8]) -> NDArray[np.float64]:
        values = np.asarray(self._potential(boards), np.float64)
        if values.shape != (len(boards),):
            raise ValueError(
                f"the potential must return one number a board, shape ({len(boards)},), "
                f"not {values.shape}"
            )
        return values


class PotentialShaping(_Shaping, SudokuWrapper):
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


class VectorPotentialShaping(_Shaping, SudokuVectorTransform):
    """`PotentialShaping` for a batch; a board that starts an episode gets no shaping.

    Arguments and errors are those of `PotentialShaping`, around a vector environment.
    """
