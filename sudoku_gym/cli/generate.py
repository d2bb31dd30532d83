"""`sudoku-gym generate`: make puzzles of any size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from sudoku_gym.board import to_line
from sudoku_gym.cli.puzzle_arguments import Board, geometry_named
from sudoku_gym.cli.terminal import OnProgress, progress
from sudoku_gym.puzzles import files, generator
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_gym.puzzles.puzzle_set import PuzzleSet

_TRIES = 10_000  # puzzles made in search of a difficulty before one is called too rare
Difficulty = Literal["naked-singles", "hidden-singles", "locked-candidates", "pairs", "search"]


def generate(
    *,
    count: int = 1,
    board: Board = "9x9",
    givens: int = 0,
    pattern: generator.Pattern = "none",
    difficulty: Difficulty | None = None,
    seed: int | None = None,
    out: str = "",
) -> int:
    """Make puzzles with exactly one solution, one a line.

    Args:
        count: Number of puzzles.
        board: Their board.
        givens: Number of givens at which digging stops; 0 digs until no given can be taken away.
        pattern: Symmetry of the pattern of givens.
        difficulty: Only puzzles whose hardest step is of this kind; any if not given.
        seed: The same seed gives the same puzzles; a new draw each time if not given.
        out: A file (.txt, .csv, .npz) to write instead of printing.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1, not {count}")
    if out:
        files.check_target(out)
    geometry = geometry_named(board or "9x9")
    assert geometry is not None
    rng = np.random.default_rng(seed)

    def make(number: int, on_progress: OnProgress) -> PuzzleSet:
        return generator.generate(
            number, geometry, rng, givens=givens, pattern=pattern, on_progress=on_progress
        )

    with progress(["generate"]) as start:
        if difficulty:
            puzzles = _graded(make, count, difficulty, start("generate"))
        else:
            puzzles = make(count, start("generate"))
    if out:
        files.write(out, puzzles)
        givens_of_each = geometry.num_cells - puzzles.blanks
        low, high = givens_of_each.min(), givens_of_each.max()
        span = f"{low}" if low == high else f"{low} to {high}"
        print(f"{out}: {len(puzzles)} puzzles with {span} givens")
    else:
        for puzzle in puzzles.puzzles:
            print(to_line(puzzle), flush=True)
    return 0


def _graded(
    make: Callable[[int, OnProgress], PuzzleSet], count: int, difficulty: str, report: OnProgress
) -> PuzzleSet:
    """Make puzzles until enough of them have the difficulty asked for."""
    grade = GRADES.index(difficulty.replace("-", " "))
    matching: list[PuzzleSet] = []
    number = tried = 0
    while number < count:
        if tried >= _TRIES * (number + 1):
            raise ValueError(
                f"{number} of {tried} puzzles had the difficulty {difficulty}, and {count} are "
                "wanted: ask for another, or for other --givens"
            )
        batch = make(max(count, 16), lambda share: None)
        matching.append(batch[batch.grades == grade])
        number, tried = number + len(matching[-1]), tried + len(batch)
        report(min(1.0, number / count))
    return PuzzleSet.join(matching)[:count]
