"""`sudoku-gym generate`: make puzzles of any size."""

from __future__ import annotations

import numpy as np

from sudoku_gym.board import to_line
from sudoku_gym.cli.puzzle_arguments import Board
from sudoku_gym.cli.terminal import progress
from sudoku_gym.puzzles import banks, files, generator


def generate(
    *, count: int = 1, board: Board = "9x9", givens: int = 0, seed: int | None = None, out: str = ""
) -> int:
    """Make puzzles with exactly one solution, one a line.

    Args:
        count: Number of puzzles.
        board: Their board.
        givens: Number of givens at which digging stops; 0 digs until no given can be taken away.
        seed: The same seed gives the same puzzles; a new draw each time if not given.
        out: A file (.txt, .csv, .npz) to write instead of printing.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1, not {count}")
    if out:
        files.check_target(out)
    geometry, rng = banks.named_geometry(board), np.random.default_rng(seed)
    with progress() as start:
        puzzles = generator.generate(
            count, geometry, rng, givens=givens, on_progress=start("generate")
        )
    if out:
        files.write(out, puzzles)
        numbers = geometry.num_cells - puzzles.blanks
        print(f"{out}: {count} puzzles with {numbers.min()} to {numbers.max()} givens")
    else:
        for puzzle in puzzles.puzzles:
            print(to_line(puzzle), flush=True)
    return 0
