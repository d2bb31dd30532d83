"""What a policy means to play next, so that it need not think before every move."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Plan:
    """A digit for some blank cells of each of B games, with a rating; the best are played first.

    A game's plan holds as long as the game goes as planned: after any other move it is dropped.

    Args:
        puzzles: int8 `[B, N, N]`, where the games begin; nothing is planned yet.
    """

    def __init__(self, puzzles: NDArray[np.int8]) -> None:
        self._expected = puzzles.copy()
        self._digits = np.zeros(puzzles.shape, np.int8)
        self._ratings = np.full(puzzles.shape, -np.inf, np.float32)

    def check(self, boards: NDArray[np.int8]) -> None:
        """See that there is a board for each game.

        Raises:
            ValueError: if not.
        """
        if boards.shape != self._expected.shape:
            raise ValueError(
                f"boards {list(boards.shape)}, but the games were started with "
                f"{list(self._expected.shape)}: call reset(puzzles, geometry, rng) first"
            )

    def next(self, boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the best planned placement that is legal, int64 `[B]`; -1 where there is none.

        Args:
            boards: int8 `[B, N, N]`, as they are now.
            masks: bool `[B, N**3]`, the legal placements.
        """
        count, size = boards.shape[:2]
        goes_as_planned = (boards == self._expected).all((1, 2), keepdims=True)
        ratings = np.where(goes_as_planned & (boards == 0), self._ratings, -np.inf)
        ratings = ratings.reshape(count, -1)
        placements = np.arange(size**2) * size + self._digits.reshape(count, -1) - 1
        is_legal = np.take_along_axis(masks, np.maximum(placements, 0), 1)
        ratings[~is_legal] = -np.inf
        best = ratings.argmax(1)
        rows = np.arange(count)
        return np.where(ratings[rows, best] > -np.inf, placements[rows, best], -1)

    def make(self, rows: NDArray[np.int64], ratings: NDArray[np.float32]) -> None:
        """Plan the best-rated digit of each cell, for some of the games.

        Args:
            rows: int64 `[K]`, which games.
            ratings: float32 `[K, N**3]` of the placements; those of -inf are not planned.
        """
        size = self._expected.shape[1]
        ratings = ratings.reshape(len(rows), size, size, size)
        self._digits[rows] = ratings.argmax(3) + 1
        self._ratings[rows] = ratings.max(3)

    def expect(self, boards: NDArray[np.int8], placements: NDArray[np.int64]) -> None:
        """Take down which placement, int64 `[B]`, is played on each of the boards."""
        size = boards.shape[1]
        self._expected[:] = boards
        cells, digits = placements // size, placements % size + 1
        self._expected.reshape(len(boards), -1)[np.arange(len(boards)), cells] = digits
