"""Draws the boards of an iteration: puzzles in turn, partly revealed, moved by symmetries."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sudoku_baselines.neural.config import SupervisedConfig
from sudoku_gym.geometry import symmetry
from sudoku_gym.puzzles.puzzle_set import PuzzleSet


class BoardSampler:
    """Draws boards with their solutions, as the configuration says.

    Every puzzle comes once before any comes again, in a random order. `blanks`, `{number: weight}`,
    are those of the boards that are not trained as stored.
    """

    def __init__(
        self,
        puzzle_set: PuzzleSet,
        config: SupervisedConfig,
        blanks: Mapping[int, float],
        rng: np.random.Generator,
    ) -> None:
        self._puzzles = puzzle_set
        self._config = config
        self._levels = np.array(list(blanks), np.int64)
        weights = np.array(list(blanks.values()), np.float64)
        self._weights = weights / weights.sum()
        self._rng = rng
        self._order = np.empty(0, np.int64)

    def draw(self, count: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Return the next boards and their solutions, int8 `[count, N, N]` each."""
        while len(self._order) < count:
            more = self._rng.permutation(len(self._puzzles))
            self._order = np.concatenate([self._order, more])
        rows, self._order = self._order[:count], self._order[count:]
        boards, solutions = self._puzzles.puzzles[rows], self._puzzles.solutions[rows]
        boards = self._reveal(boards, solutions)
        if not self._config.augment:
            return boards, solutions
        moved = symmetry.sample(self._puzzles.geometry, count, self._rng)
        return moved.apply(boards), moved.apply(solutions)

    def _reveal(self, boards: NDArray[np.int8], solutions: NDArray[np.int8]) -> NDArray[np.int8]:
        """Fill in random blanks of some boards; each keeps one at least."""
        config, rng, count = self._config, self._rng, len(boards)
        if config.as_stored == 1 and not config.revealed:
            return boards
        blanks = (boards == 0).sum((1, 2))
        levels = rng.choice(self._levels, count, p=self._weights)
        left = np.where(rng.random(count) < config.as_stored, blanks, levels)
        some = 1 + (rng.random(count) * blanks).astype(np.int64)
        left = np.where(rng.random(count) < config.revealed, some, left)
        keys = np.where(boards == 0, rng.random(boards.shape), 2.0).reshape(count, -1)
        rank = keys.argsort(1).argsort(1).reshape(boards.shape)
        hidden = (boards == 0) & (rank < left[:, None, None])
        return np.where(hidden, np.int8(0), solutions)
