"""Placements that a policy has chosen for the next moves of its games."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class MoveQueue:
    """A digit for some blank cells of each of B games, with a score; the best are played first.

    Games begin at puzzles int8 `[B, N, N]` with empty queues; the queue of a game is dropped once
    it goes on by another move than the queued one.
    """

    def __init__(self, puzzles: NDArray[np.int8]) -> None:
        self._expected = puzzles.copy()
        self._digits = np.zeros(puzzles.shape, np.int8)
        self._scores = np.full(puzzles.shape, -np.inf, np.float32)

    @property
    def num_games(self) -> int:
        """The number of games."""
        return len(self._expected)

    def check(self, boards: NDArray[np.int8]) -> None:
        """Raise ValueError unless there is a board for each game."""
        if boards.shape != self._expected.shape:
            raise ValueError(
                f"boards {list(boards.shape)}, but the games were started with "
                f"{list(self._expected.shape)}: call reset(puzzles, geometry, rng) first"
            )

    def next_moves(self, boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the best queued placement that is legal, int64 `[B]`; -1 where there is none."""
        count, size = boards.shape[:2]
        is_expected = (boards == self._expected).all((1, 2), keepdims=True)
        scores = np.where(is_expected & (boards == 0), self._scores, -np.inf)
        scores = scores.reshape(count, -1)
        placements = np.arange(size**2) * size + self._digits.reshape(count, -1) - 1
        is_legal = np.take_along_axis(masks, np.maximum(placements, 0), 1)
        scores[~is_legal] = -np.inf
        best = scores.argmax(1)
        rows = np.arange(count)
        return np.where(scores[rows, best] > -np.inf, placements[rows, best], -1)

    def fill(self, rows: NDArray[np.int64], scores: NDArray[np.float32]) -> None:
        """Queue the best digit of each cell for the games `rows` int64 `[K]`.

        Scores are float32 `[K, N**3]`; placements of -inf are not queued.
        """
        size = self._expected.shape[1]
        scores = scores.reshape(len(rows), size, size, size)
        self._digits[rows] = scores.argmax(3) + 1
        self._scores[rows] = scores.max(3)

    def expect(self, boards: NDArray[np.int8], actions: NDArray[np.int64]) -> None:
        """Record the action, int64 `[B]`, that is played on each of the boards.

        An erasure drops the queue of its game.
        """
        size = boards.shape[1]
        self._expected[:] = boards
        rows = np.flatnonzero(actions < size**3)
        cells, digits = actions[rows] // size, actions[rows] % size + 1
        self._expected.reshape(len(boards), -1)[rows, cells] = digits
