"""Held-out puzzles: how well a policy plays what it is not trained on."""

from __future__ import annotations

import numpy as np

from sudoku_gym.evaluation import Evaluation, evaluate
from sudoku_gym.policies import Policy
from sudoku_gym.puzzles.sources import PuzzleSource


class HeldOut:
    """Lets a policy play held-out puzzles; what a curriculum's callback asks.

    Args:
        policy: who plays.
        source: where the puzzles come from, e.g. `resolve_source("4x4", "validation")`.
        games: how many a call.
        rng: draws the puzzles.

    Attributes:
        latest: what the last call measured; None before the first.
    """

    def __init__(
        self, policy: Policy, source: PuzzleSource, games: int, rng: np.random.Generator
    ) -> None:
        self.latest: Evaluation | None = None
        self._policy = policy
        self._source = source
        self._games = games
        self._rng = rng

    def __call__(self, blanks: int | None) -> tuple[int, int]:
        """Play puzzles with so many blanks, or puzzles as stored for None.

        Returns:
            How many were solved, and how many there were.
        """
        puzzles, _ = self._source.sample(self._games, blanks, self._rng)
        self.latest = evaluate(self._policy, puzzles, geometry=self._source.geometry)
        return int(self.latest.solved.sum()), len(self.latest.solved)
