"""What `sudoku-gym solve` says of solved boards: verdicts, lines, CSV files, totals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.puzzles.files import join_columns
from sudoku_gym.solver import FoundSolutions
from sudoku_gym.storage.atomic import atomic_write

WriteSolutions: TypeAlias = Callable[[NDArray[np.int8], FoundSolutions], object]


def explained(verdicts: NDArray[np.str_]) -> NDArray[np.str_]:
    """Add to each verdict 'undecided' what to do about it."""
    advice = "undecided: raise --node-limit, or the limit of the policy"
    return np.where(verdicts == "undecided", advice, verdicts)


def solution_lines(boards: NDArray[np.int8], result: FoundSolutions, limit: int) -> str:
    """Format a line a board: its solution, or the board where there is none, and the verdict."""
    shown = np.where(result.found[:, None, None] > 0, result.solutions, boards)
    columns = [board.to_lines(shown), explained(result.verdicts(limit)).astype("S")]
    return join_columns(columns, separator="  ").decode("ascii")


@contextmanager
def solutions_file(path: Path) -> Iterator[WriteSolutions]:
    """Yield a function that adds boards to a CSV file, which is there once the block has ended.

    The columns are `puzzle,solution,solutions,decided`: a solution if one was found, the number
    found, and 1 where the search was complete.
    """
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        file.write(b"puzzle,solution,solutions,decided\n")

        def write(boards: NDArray[np.int8], result: FoundSolutions) -> None:
            solutions = np.where(result.found > 0, board.to_lines(result.solutions), b"")
            counts = result.found.astype(f"S{len(str(result.found.max()))}")
            decided = np.where(result.decided, b"1", b"0")
            file.write(join_columns([board.to_lines(boards), solutions, counts, decided]))

        yield write


@dataclass
class Totals:
    """How many boards have how many solutions."""

    puzzles: int = 0
    without: int = 0
    one: int = 0
    several: int = 0
    undecided: int = 0

    def add(self, result: FoundSolutions) -> None:
        """Count the boards of a search."""
        found, decided = result.found, result.decided
        self.puzzles += len(found)
        self.without += int(np.count_nonzero(decided & (found == 0)))
        self.one += int(np.count_nonzero(decided & (found == 1)))
        self.several += int(np.count_nonzero(found >= 2))
        self.undecided += int(np.count_nonzero(~decided & (found < 2)))

    def summary(self, limit: int, seconds: float) -> str:
        """Say it in one line; `seconds` is the processor time that it took."""
        solved = f"{self.one:,} with one, {self.several:,} with several"
        return (
            f"{self.puzzles:,} puzzles: {self.without:,} without a solution, "
            f"{solved if limit > 1 else f'{self.one:,} solved'}, {self.undecided:,} undecided; "
            f"{self.puzzles / max(seconds, 1e-9):,.0f} a second of processor time"
        )


@dataclass
class BadRows:
    """The rows of a file that were left out; `add` is called with each."""

    count: int = 0
    first: str = ""

    def add(self, line: int, problem: str) -> None:
        """Take note of a row: its number from 1, and what is wrong."""
        self.first = self.first or f"{line}: {problem}"
        self.count += 1

    def summary(self) -> str:
        """Say in one line how many there were."""
        rows = "row" if self.count == 1 else "rows"
        return f"{self.count:,} bad {rows} left out, the first of them {self.first}"
