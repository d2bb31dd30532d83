"""A list of puzzles of one geometry, with what is known about each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.difficulty import GRADES

NOT_KNOWN = -1
SPLIT_BY_SOLUTION = 9  # from this many digits on, orbits are those of the solution grids
COLUMNS = ("puzzles", "solutions", "grades", "orbits", "minimal", "ratings", "sources")


@dataclass(frozen=True, eq=False)
class PuzzleSet:
    """M puzzles with their solutions.

    `puzzle_set[i]` with a slice, an index array or a mask returns the chosen part as a set.

    Raises:
        ValueError: if an array has the wrong shape, a digit is out of range, or a solution breaks a
            rule or does not keep the givens; the message names the first.
        TypeError: if boards do not hold integers.
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
    # [M], how hard a list says each puzzle is, say in backtracks of its solver; -1 where unknown
    ratings: NDArray[np.float64] = field(default_factory=lambda: np.empty(0, np.float64))
    # [M], where a list says each puzzle comes from; empty where unknown
    sources: NDArray[np.str_] = field(default_factory=lambda: np.empty(0, np.str_))

    def __post_init__(self) -> None:
        for name in ("puzzles", "solutions"):
            object.__setattr__(self, name, board.as_boards(getattr(self, name), self.geometry))
        if self.puzzles.shape != self.solutions.shape:
            raise ValueError(
                f"{self.name}: {len(self.puzzles)} puzzles and {len(self.solutions)} solutions; "
                "give one each"
            )
        solved = board.is_solved(self.solutions, self.geometry)
        keeps = ((self.puzzles == 0) | (self.puzzles == self.solutions)).all((1, 2))
        for index in np.flatnonzero(~(solved & keeps))[:1]:
            problem = "keeps not all givens" if solved[index] else "breaks a rule"
            raise ValueError(
                f"{self.name}: the solution of puzzle {index} {problem}; leave the puzzle out, or "
                "solve it with sudoku_gym.solver.solve"
            )
        self._complete("grades", np.int8, NOT_KNOWN)
        self._complete("orbits", np.int32, NOT_KNOWN)
        self._complete("minimal", np.bool_, False)
        self._complete("ratings", np.float64, NOT_KNOWN)
        self._complete("sources", np.str_, "")
        if (self.grades < NOT_KNOWN).any() or (self.grades >= len(GRADES)).any():
            raise ValueError(f"{self.name}: grades are -1 to {len(GRADES) - 1}, see GRADES")

    def _complete(self, name: str, dtype: type[np.generic], unknown: Any) -> None:
        """Fill a column that was not given; check one that was."""
        column = np.asarray(getattr(self, name))
        if column.shape == (0,):
            column = np.full(len(self.puzzles), unknown)
        fits = np.can_cast(column.dtype.str, dtype, "same_kind")
        if column.shape != (len(self.puzzles),) or not fits:
            raise ValueError(
                f"{self.name}: {name} must be {np.dtype(dtype).name} [{len(self.puzzles)}], not "
                f"{column.dtype} {list(column.shape)}"
            )
        object.__setattr__(self, name, column.astype(dtype, copy=False))

    def __len__(self) -> int:
        return len(self.puzzles)

    def __getitem__(self, index: slice | NDArray[np.integer] | NDArray[np.bool_]) -> PuzzleSet:
        return replace(self, **{name: getattr(self, name)[index] for name in COLUMNS})

    def spread(self, count: int) -> PuzzleSet:
        """Return at most `count` puzzles, spread evenly over the set."""
        index = np.linspace(0, len(self) - 1, min(count, len(self)))
        return self[index.astype(np.int64)]

    @property
    def blanks(self) -> NDArray[np.int64]:
        """The number of blanks of each puzzle, int64 `[M]`."""
        return (self.puzzles == 0).sum((1, 2), dtype=np.int64)

    @property
    def orbit_boards(self) -> NDArray[np.int8]:
        """The boards whose orbits make the splits: solutions from 9x9 up, puzzles below."""
        return self.solutions if self.geometry.size >= SPLIT_BY_SOLUTION else self.puzzles

    def check(self) -> None:
        """Check that every puzzle has exactly one solution.

        Raises:
            ValueError: that names the first puzzle for which this does not hold.
        """
        from sudoku_gym import solver
        from sudoku_gym.solver.chunks import in_chunks

        for part in in_chunks(len(self)):
            counts = solver.count_solutions(self.puzzles[part], 2, self.geometry)
            for i in np.flatnonzero(counts != 1)[:1]:
                found = "several solutions" if counts[i] == 2 else "a search too long to finish"
                index = part.start + i
                raise ValueError(f"{self.name}: puzzle {index} has {found}; drop or repair it")

    @staticmethod
    def join(parts: Iterable[PuzzleSet]) -> PuzzleSet:
        """Return the puzzles of all parts, of one geometry, named as the first.

        The split is `"all"` where parts are of different ones; the orbits of several parts, which
        may number them differently, are unknown.

        Raises:
            ValueError: if there is no part, or one has another geometry than the first.
        """
        first, *others = parts = list(parts)
        for part in others:
            if part.geometry != first.geometry:
                raise ValueError(f"{part} can't be joined to {first}: its boards have other units")
        if not others:
            return first
        columns = {name: [getattr(part, name) for part in parts] for name in COLUMNS}
        joined: dict[str, Any] = {name: np.concatenate(each) for name, each in columns.items()}
        joined["orbits"] = np.full(len(joined["puzzles"]), NOT_KNOWN, np.int32)
        is_one_split = len({part.split for part in parts}) == 1
        return replace(first, split=first.split if is_one_split else "all", **joined)

    def __repr__(self) -> str:
        return f"PuzzleSet({self.name}, {self.split}, {len(self)} puzzles, {self.geometry.name})"
