"""The floors that every learner is held against: random play, and play by singles.

Plays the test puzzles of every environment with masked-random, naked singles, and naked + hidden
singles, by grade and by number of blanks. What the file of figures holds already is not played
again. `make tables` makes the tables of docs/environments.md from it.

    python benchmarks/floors.py --out docs/results/floors.json
    python benchmarks/floors.py --ids Sudoku9x9-v0 --count 200
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from results import Results, Row, command_of, share_of, some
from sudoku_baselines.classical.trivial import MaskedRandom, hidden_singles, naked_singles
from sudoku_gym import evaluate, puzzles
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource
from sudoku_gym.registration import ENVIRONMENTS

POLICIES = {
    "masked-random": MaskedRandom,
    "naked singles": naked_singles,
    "naked + hidden singles": hidden_singles,
}
SHARES = (0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75)  # of the cells, to stay blank


@dataclass(frozen=True)
class Config:
    """What to play.

    Attributes:
        ids: the environments.
        count: at most so many puzzles a row.
        seed: of the draw of puzzles and of the policies.
        out: a JSON file for the figures; those in it are kept.
        smoke: play next to nothing, to see that the script runs.
    """

    ids: tuple[str, ...] = tuple(ENVIRONMENTS)
    count: int = 1000
    seed: int = 0
    out: Path = Path("runs/floors.json")
    smoke: bool = False


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, description=__doc__, args=argv)
    results = Results(config.out, command_of(__file__, argv))
    for environment in config.ids:
        for row, chosen in [*by_grade(environment, config), *by_blanks(environment, config)]:
            for title, make in POLICIES.items():
                key = {"environment": environment, **row, "policy": title, "count": len(chosen)}
                if results.lacks(key):
                    played = evaluate(make(), chosen, seed=config.seed)
                    results.add({**key, **share_of(played.solved)})


def by_grade(environment: str, config: Config) -> Iterator[tuple[Row, PuzzleSet]]:
    """Yield the test puzzles of each grade, and all of them."""
    stored = puzzles.load(ENVIRONMENTS[environment], "test")
    for grade, technique in enumerate(GRADES):
        chosen = stored[stored.grades == grade]
        if len(chosen):
            yield {"grade": technique}, some(chosen, limit(config), config.seed)
    yield {"grade": "all"}, some(stored, limit(config), config.seed)


def by_blanks(environment: str, config: Config) -> Iterator[tuple[Row, PuzzleSet]]:
    """Yield test puzzles with each number of blanks."""
    source = BankSource(puzzles.load(ENVIRONMENTS[environment], "test"))
    rng = np.random.default_rng(config.seed)
    for blanks in levels(source):
        boards, solutions = source.sample(limit(config), blanks, rng)
        yield {"blanks": blanks}, PuzzleSet(boards, solutions, source.geometry, environment)


def levels(source: BankSource) -> list[int]:
    wanted = {round(share * source.geometry.num_cells) for share in SHARES}
    return sorted(blanks for blanks in wanted if blanks <= source.max_blanks)


def limit(config: Config) -> int:
    return 10 if config.smoke else config.count


if __name__ == "__main__":
    main()
