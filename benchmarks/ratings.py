"""How hard the banks are: guesses of the suite's own solver, see `sudoku_gym.puzzles.rate`.

Rates every puzzle of the banks, and of lists of your own, and tells the quantiles of the ratings.
The last column says how fast that was, in CPU time of one core.

    python benchmarks/ratings.py --out docs/results/speed.json
    python benchmarks/ratings.py --banks 9x9 9x9-hard --lists top95.txt
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
import tyro

from results import Row, command_of, keep
from sudoku_gym import puzzles
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
        out: a JSON file; the figures of other parts in it stay.
    """

    banks: tuple[str, ...] = tuple(name for name in puzzles.NAMES if name != "4x4")
    lists: tuple[Path, ...] = ()
    seed: int = 0
    symmetries: int = 31
    smoke: bool = False
    out: Path | None = None


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, one row a bank or list."""
    config = tyro.cli(Config, args=argv, description=__doc__)
    rows = [
        row(title, puzzle_set[:10] if config.smoke else puzzle_set, config)
        for title, puzzle_set in chosen(config)
    ]
    keep(config.out, "ratings", command_of(__file__, argv), rows)


def chosen(config: Config) -> Iterator[tuple[str, PuzzleSet]]:
    for name in config.banks:
        yield f"`{name}`", puzzles.load(name)
    for path in config.lists:
        yield path.name, puzzles.read(path)


def row(title: str, puzzle_set: PuzzleSet, config: Config) -> Row:
    boards, geometry = puzzle_set.puzzles, puzzle_set.geometry
    puzzles.rate(boards[:1], np.random.default_rng(0), geometry)  # loads the compiled code
    rng, start = np.random.default_rng(config.seed), process_time()
    ratings = puzzles.rate(boards, rng, geometry, symmetries=config.symmetries)
    seconds = process_time() - start
    givens = geometry.num_cells - puzzle_set.blanks
    searched = np.mean(puzzles.grade(boards, geometry) == puzzles.GRADES.index("search"))
    return {
        "puzzles": title,
        "count": len(puzzle_set),
        "givens": f"{givens.min()} to {givens.max()}, mean {givens.mean():.1f}",
        "grade search": f"{100 * searched:.1f} %",
        **{
            name: int(np.quantile(ratings, share, method="lower"))
            for name, share in QUANTILES.items()
        },
        "rated a second": round(len(puzzle_set) / seconds),
    }


if __name__ == "__main__":
    main()
