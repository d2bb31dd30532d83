"""A fixed set of puzzles, played again and again with any number of blanks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.puzzles.sources import PuzzleSource


@dataclass(frozen=True)
class FixedPuzzles:
    """K puzzles, each with the order in which its cells become blank.

    With n blanks the first n cells of a puzzle's order are blank, so filling blanks of the n-blank
    board correctly, last in the order first, gives the boards with fewer blanks.
    """

    solutions: NDArray[np.int8]  # int8 `[K, N, N]`
    blank_rank: NDArray[np.int64]  # int64 `[K, N, N]`, a cell's rank from 0; N**2 for a given

    @classmethod
    def sample(cls, source: PuzzleSource, count: int, rng: np.random.Generator) -> FixedPuzzles:
        """Draw puzzles as stored from a source, and random orders."""
        puzzles, solutions = source.sample(count, None, rng)
        cells = puzzles[0].size
        # Givens sort last, behind the numbers below 1 of the blanks; argsort twice gives ranks.
        keys = np.where(puzzles.reshape(count, -1) == 0, rng.random((count, cells)), 2.0)
        ranks = keys.argsort(1).argsort(1).reshape(puzzles.shape)
        return cls(solutions, np.where(puzzles == 0, ranks, cells))

    def with_blanks(self, index: NDArray[np.int64], blanks: NDArray[np.int64]) -> NDArray[np.int8]:
        """Return the puzzles of `index` with the given numbers of blanks, int8 `[B, N, N]`.

        Both arguments are int64 `[B]`; a puzzle has at most the blanks with which it is stored.
        """
        most = self.blank_rank[0].size  # so that givens, of this rank, never become blank
        is_blank = self.blank_rank[index] < np.minimum(blanks[:, None, None], most)
        return np.where(is_blank, np.int8(0), self.solutions[index])

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return everything that `from_arrays` needs."""
        return {"solutions": self.solutions, "blank_rank": self.blank_rank}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> FixedPuzzles:
        """Return the puzzles that `arrays()` returned."""
        return cls(arrays["solutions"], arrays["blank_rank"])
