"""`sudoku-gym generate`: make puzzles of any size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sudoku_gym import board
from sudoku_gym.cli.puzzle_arguments import Board, geometry_named
from sudoku_gym.cli.terminal import OnProgress, progress
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles import files, generator
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_gym.puzzles.hardening import check_hardening, harden
from sudoku_gym.puzzles.puzzle_set import PuzzleSet

_MOST = 1_000_000  # puzzles; they are kept in memory until all are made
_TRIES = 10_000  # puzzles made in search of a difficulty before one is called too rare


@dataclass(frozen=True)
class Generate:
    """Make puzzles with exactly one solution, one a line."""

    count: int = 1
    """Number of puzzles."""
    board: Board = "9x9"
    givens: int = 0
    """Number of givens at which digging stops; 0 digs until no given can be taken away."""
    pattern: generator.Pattern = "none"
    """Symmetry of the pattern of givens."""
    difficulty: (
        Literal["naked-singles", "hidden-singles", "locked-candidates", "pairs", "search"] | None
    ) = None
    """Only puzzles whose hardest step is of this kind; any if not given."""
    hard: bool = False
    """Exchange givens for others of the solution until the puzzle takes many guesses."""
    steps: int = 1_000
    """Exchanges to try on each puzzle with --hard; a step takes 0.1 ms at 9x9, 0.2 s at 16x16."""
    seed: int | None = None
    """The same seed gives the same puzzles; a new draw each time if not given."""
    out: str = ""
    """A file (.txt, .csv, .npz) to write instead of printing."""

    def run(self) -> int:
        """Make the puzzles, print or write them."""
        if not 1 <= self.count <= _MOST:
            raise ValueError(
                f"count must be at least 1 and at most {_MOST:,}, not {self.count} (for more, make "
                "several files with other seeds)"
            )
        if self.out:
            files.check_target(self.out)
        if self.hard and (self.givens or self.pattern != "none" or self.difficulty):
            raise ValueError(
                "--hard makes minimal puzzles that need search: leave --givens, --pattern and "
                "--difficulty out"
            )
        geometry = geometry_named(self.board or "9x9")
        assert geometry is not None
        if self.hard:
            check_hardening(geometry, self.steps, None)
        rng = np.random.default_rng(self.seed)
        make = self._graded if self.difficulty else self._any
        with progress(["generate", "harden"] if self.hard else ["generate"]) as start:
            puzzles = make(geometry, rng, start("generate"))
            if self.hard:
                puzzles = harden(puzzles, rng, steps=self.steps, on_progress=start("harden"))
        if self.out:
            files.write(self.out, puzzles)
            print(f"{self.out}: {len(puzzles)} puzzles with {_span(puzzles)} givens")
        else:
            for puzzle in puzzles.puzzles:
                print(board.to_line(puzzle), flush=True)
        return 0

    def _any(
        self,
        geometry: Geometry,
        rng: np.random.Generator,
        on_progress: OnProgress,
        count: int = 0,
    ) -> PuzzleSet:
        return generator.generate(
            count or self.count,
            geometry,
            rng,
            givens=self.givens,
            pattern=self.pattern,
            on_progress=on_progress,
        )

    def _graded(
        self, geometry: Geometry, rng: np.random.Generator, on_progress: OnProgress
    ) -> PuzzleSet:
        """Make puzzles until enough of them have the difficulty asked for."""
        grade = GRADES.index((self.difficulty or "").replace("-", " "))
        matching: list[PuzzleSet] = []
        number = tried = 0
        while number < self.count:
            if tried >= _TRIES * (number + 1):
                raise ValueError(
                    f"{number} of {tried} puzzles had the difficulty {self.difficulty}, and "
                    f"{self.count} are wanted: ask for another, or for other --givens"
                )
            size, before = max(self.count, 16), number
            found = number / tried * size if tried else 0.0  # in the next batch, at this rate

            def report(share: float, before: int = before, found: float = found) -> None:
                on_progress(min(1.0, (before + found * share) / self.count))

            batch = self._any(geometry, rng, report, size)
            matching.append(batch[batch.grades == grade])
            number, tried = number + len(matching[-1]), tried + len(batch)
        return PuzzleSet.join(matching)[: self.count]


def _span(puzzles: PuzzleSet) -> str:
    givens = puzzles.geometry.num_cells - puzzles.blanks
    low, high = givens.min(), givens.max()
    return f"{low}" if low == high else f"{low} to {high}"
