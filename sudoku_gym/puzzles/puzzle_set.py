"""A list of puzzles of one geometry, with what is known about each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.geometry import Geometry

NOT_KNOWN = -1


@dataclass(frozen=True, eq=False)
class PuzzleSet:
    """M puzzles with their solutions.

    `puzzle_set[i]` with a slice, an index array or a mask returns the chosen part as a set.
    """

    puzzles: NDArray[np.int8]  # [M, N, N], 0 for a blank
    solutions: NDArray[np.int8]  # [M, N, N]
    geometry: Geometry
    name: str = "puzzles"  # where they come from: a bank's name or a file
    split: str = "all"  # or "train", "validation", "test"
    # [M], an index into `difficulty.GRADES`, or -1 where not graded
    grades: NDArray[np.int8] = field(default_factory=lambda: np.empty(0, np.int8))
    # [M], the number of the puzzle's orbit (from 9x9 up: of its solution's), the same in every
    # split of a bank; -1 where unknown
    orbits: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    # [M], True where no given can be taken away; False also means 'not known'
    minimal: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))

    def __post_init__(self) -> None:
        size = self.geometry.size
        shape = (len(self.puzzles), size, size)
        if self.puzzles.shape != shape or self.solutions.shape != shape:
            raise ValueError(
                f"{self.name}: puzzles and solutions must both be [M, {size}, {size}] for "
                f"{self.geometry.name}, not {list(self.puzzles.shape)} and "
                f"{list(self.solutions.shape)}"
            )
        self._complete("grades", NOT_KNOWN)
        self._complete("orbits", NOT_KNOWN)
        self._complete("minimal", False)

    def _complete(self, name: str, value: int) -> None:
        """Fill a column that was not given; check the length of one that was."""
        column = getattr(self, name)
        if len(column) == 0 and len(self.puzzles):
            object.__setattr__(self, name, np.full(len(self.puzzles), value, column.dtype))
        elif column.shape != (len(self.puzzles),):
            raise ValueError(
                f"{self.name}: {name} must be [{len(self.puzzles)}], not {list(column.shape)}"
            )

    def __len__(self) -> int:
        return len(self.puzzles)

    def __getitem__(self, index: slice | NDArray[np.integer] | NDArray[np.bool_]) -> PuzzleSet:
        if isinstance(index, (int, np.integer)):
            raise TypeError(
                f"a PuzzleSet is cut with a slice or an array: use [{index}:{index + 1}] for a set "
                f"of one, or .puzzles[{index}] for the board"
            )
        columns = ("puzzles", "solutions", "grades", "orbits", "minimal")
        return replace(self, **{name: getattr(self, name)[index] for name in columns})

    @property
    def blanks(self) -> NDArray[np.int64]:
        """The number of blanks of each puzzle, int64 `[M]`."""
        return (self.puzzles == 0).sum((1, 2), dtype=np.int64)

    def check(self) -> None:
        """Check that every puzzle has exactly one solution, and that it is the one stored.

        Raises:
            ValueError: that names the first puzzle for which this does not hold.
        """
        from sudoku_gym import solver

        solved = board.is_solved(self.solutions, self.geometry)
        keeps = ((self.puzzles == 0) | (self.puzzles == self.solutions)).all((1, 2))
        for index in np.flatnonzero(~(solved & keeps))[:1]:
            problem = "keeps not all givens" if solved[index] else "breaks a rule"
            raise ValueError(f"{self.name}: the solution of puzzle {index} {problem}")
        counts = solver.count_solutions(self.puzzles, 2, self.geometry)
        for index in np.flatnonzero(counts != 1)[:1]:
            found = "several solutions" if counts[index] == 2 else "a search too long to finish"
            raise ValueError(f"{self.name}: puzzle {index} has {found}; drop or repair it")

    def __repr__(self) -> str:
        return f"PuzzleSet({self.name}, {self.split}, {len(self)} puzzles, {self.geometry.name})"
