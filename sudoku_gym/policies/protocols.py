"""The protocols of policies, solvers and predictors."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.geometry import Geometry


@runtime_checkable
class Policy(Protocol):
    """Chooses actions. B games run in lock step; B and the order of rows stay fixed."""

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start B games, puzzles int8 `[B, N, N]`; until the next reset `rng` makes all draws."""

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose an action for each game, int64 `[B]`.

        Args:
            boards: int8 `[B, N, N]`, as they are now.
            action_masks: bool `[B, A]`, True = legal; A is `N**3`, or `N**3 + N**2` with erasing.
                A finished game has no legal action, and its answer is ignored.
        """
        ...


@runtime_checkable
class Solver(Protocol):
    """Completes boards."""

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Return completed boards, int8 `[B, N, N]`, all zeros where it found none."""
        ...


@runtime_checkable
class Predictor(Protocol):
    """Scores the digits of every cell: for example a network, or marginals."""

    def predict(self, boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.floating[Any]]:
        """Return a score for each cell and digit, float `[B, N, N, N]`, last axis digit - 1.

        Scores are compared across cells, so probabilities or their logarithms serve, logits that
        are not normalised within a cell do not.
        """
        ...
