"""A few puzzles that are played again and again, with any number of blanks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.puzzles.sources import PuzzleSource
from sudoku_learning.training.checkpoint import REPLAY
from sudoku_learning.training.records import check_arrays


@dataclass(frozen=True)
class FixedPuzzles:
    """K puzzles, each with the order in which its cells become blank.

    With n blanks the first n of a puzzle's order are blank, so the board of a lower level is
    reached from that of a higher one by right placements.
    """

    solutions: NDArray[np.int8]  # int8 `[K, N, N]`
    places: NDArray[np.int64]  # int64 `[K, N, N]`, a cell's rank from 0; N**2 for a given

    @classmethod
    def drawn(cls, source: PuzzleSource, count: int, rng: np.random.Generator) -> FixedPuzzles:
        """Draw puzzles as stored from a source, and their orders."""
        puzzles, solutions = source.sample(count, None, rng)
        cells = puzzles[0].size
        keys = np.where(puzzles.reshape(count, -1) == 0, rng.random((count, cells)), 2.0)
        places = keys.argsort(1).argsort(1).reshape(puzzles.shape)
        return cls(solutions, np.where(puzzles == 0, places, cells))

    def boards(self, index: NDArray[np.int64], blanks: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return puzzles int8 `[B, N, N]` with so many blanks, at most as many as they have.

        Both `index`, which puzzles, and `blanks` are int64 `[B]`.
        """
        is_blank = self.places[index] < np.minimum(blanks[:, None, None], self.places[0].size)
        return np.where(is_blank, np.int8(0), self.solutions[index])

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return everything that `restored` needs."""
        return {"solutions": self.solutions, "places": self.places}

    def restored(self, arrays: Mapping[str, NDArray[Any]]) -> FixedPuzzles:
        """Return the puzzles that `arrays` of an equal learner returned.

        Raises:
            ValueError: if they are none, or of another number or size.
        """
        check_arrays(arrays, {n: (a.shape, a.dtype) for n, a in self.arrays().items()})
        size, cells = self.solutions.shape[1], self.places[0].size
        found = FixedPuzzles(arrays["solutions"], arrays["places"])
        if not 1 <= found.solutions.min() <= found.solutions.max() <= size:
            raise ValueError(f"{REPLAY}: solutions hold other digits than 1 to {size}")
        if not 0 <= found.places.min() <= found.places.max() <= cells:
            raise ValueError(f"{REPLAY}: places hold other numbers than 0 to {cells}")
        return found
