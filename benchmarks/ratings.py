"""How hard the banks are: guesses of the suite's own solver, see `sudoku_gym.puzzles.rate`.

Rates every puzzle of the banks, and of lists of your own, and prints a Markdown table of quantiles.
The last column tells how fast that was, in CPU time of one core.

    python benchmarks/ratings.py
    python benchmarks/ratings.py --banks 9x9 9x9-hard --lists top95.txt
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
import tyro

from sudoku_gym import puzzles
from sudoku_gym.puzzles import files
from sudoku_gym.puzzles.puzzle_set import PuzzleSet

QUANTILES = {"5 %": 0.05, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "95 %": 0.95, "most": 1.0}


@dataclass(frozen=True)
class Config:
    """What to rate.

    Attributes:
        banks: shipped banks, all splits.
        lists: files of puzzles, beside the banks.
        seed: of the symmetries.
        symmetries: searches of each puzzle, an odd number.
        smoke: rate next to nothing, to see that the script runs.
    """

    banks: tuple[str, ...] = tuple(name for name in puzzles.NAMES if name != "4x4")
    lists: tuple[Path, ...] = ()
    seed: int = 0
    symmetries: int = 31
    smoke: bool = False


def main(argv: Sequence[str] | None = None) -> None:
    """Print a table, one row a bank or list."""
    config = tyro.cli(Config, args=argv, description=__doc__)
    heads = ["puzzles", "count", "givens", "grade search", *QUANTILES, "rated a second"]
    print(f"| {' | '.join(heads)} |\n|---|{'---:|' * (len(heads) - 1)}")
    for title, puzzle_set in chosen(config):
        print(row(title, puzzle_set[:10] if config.smoke else puzzle_set, config), flush=True)


def chosen(config: Config) -> Iterator[tuple[str, PuzzleSet]]:
    for name in config.banks:
        yield f"`{name}`", puzzles.load(name)
    for path in config.lists:
        yield path.name, files.read(path)


def row(title: str, puzzle_set: PuzzleSet, config: Config) -> str:
    boards, geometry = puzzle_set.puzzles, puzzle_set.geometry
    puzzles.rate(boards[:1], np.random.default_rng(0), geometry)  # loads the compiled code
    rng, start = np.random.default_rng(config.seed), process_time()
    ratings = puzzles.rate(boards, rng, geometry, symmetries=config.symmetries)
    seconds = process_time() - start
    givens = geometry.num_cells - puzzle_set.blanks
    searched = np.mean(puzzles.grade(boards, geometry) == puzzles.GRADES.index("search"))
    cells = [
        title,
        f"{len(puzzle_set):,}",
        f"{givens.min()} to {givens.max()}, mean {givens.mean():.1f}",
        f"{100 * searched:.1f} %",
        *(f"{np.quantile(ratings, share, method='lower')}" for share in QUANTILES.values()),
        f"{len(puzzle_set) / seconds:,.0f}",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
