"""The floors that every learner is held against: random play, and play by singles.

Plays the test puzzles of every environment with masked-random, naked singles, and naked + hidden
singles, and writes two tables: by grade, and by number of blanks. A policy has learned something
where it beats the right-hand column.

    python benchmarks/floors.py --out docs/results/floors.md
    python benchmarks/floors.py --ids Sudoku9x9-v0 --count 200
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from sudoku_baselines.floors import MaskedRandom, hidden_singles, naked_singles
from sudoku_gym import compare, puzzles
from sudoku_gym.evaluation import Evaluation
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

INTRODUCTION = """\
# Floors

What needs no learning. Every figure of a learner stands beside these rows: it has learned something
where it beats *naked + hidden singles*, and nothing at 4x4, where naked singles alone solve every
minimal puzzle.

All puzzles are from the test split. A policy plays a single where there is one (a blank cell with
one candidate; with *hidden*, also a digit with one cell left in a unit) and a uniformly random
legal action where there is none. A figure is the share of puzzles solved entirely, with its Wilson
95 % interval, as if puzzles were independent (25x25 boards with cells revealed all come from the 12
stored ones). 4x4 and 6x6 boards that are not minimal are in distribution, all others are held out.

```
{command}
```
"""


@dataclass(frozen=True)
class Config:
    """What to play.

    Attributes:
        ids: the environments.
        count: at most so many puzzles a row.
        seed: of the draw of puzzles and of the policies.
        out: a Markdown file to write; nothing prints the tables.
        smoke: play next to nothing, to see that the script runs.
    """

    ids: tuple[str, ...] = tuple(ENVIRONMENTS)
    count: int = 1000
    seed: int = 0
    out: Path | None = None
    smoke: bool = False


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, description=__doc__, args=argv)
    command = " ".join(["python benchmarks/floors.py", *(sys.argv[1:] if argv is None else argv)])
    text = "\n".join(report(config, command)) + "\n"
    if config.out is None:
        print(text)
        return
    unfinished = config.out.with_name(config.out.name + ".part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(config.out)


def report(config: Config, command: str) -> Iterator[str]:
    yield INTRODUCTION.format(command=f"{command}  # seed {config.seed}")
    yield "## By grade, puzzles as stored\n"
    yield header("grade")
    for name in config.ids:
        stored = puzzles.load(ENVIRONMENTS[name], "test")
        for grade, technique in enumerate(GRADES):
            chosen = stored[stored.grades == grade]
            if len(chosen):
                yield row(name, technique, sampled(chosen, config), config)
        yield row(name, "all", sampled(stored, config), config)
    yield "\n## By number of blanks\n"
    yield "Cells of the same puzzles are revealed until so many blanks are left.\n"
    yield header("blanks")
    for name in config.ids:
        source = BankSource(puzzles.load(ENVIRONMENTS[name], "test"))
        rng = np.random.default_rng(config.seed)
        for blanks in levels(source):
            boards, solutions = source.sample(limit(config), blanks, rng)
            drawn = PuzzleSet(boards, solutions, source.geometry, name)
            yield row(name, str(blanks), drawn, config)


def levels(source: BankSource) -> list[int]:
    wanted = {round(share * source.geometry.num_cells) for share in SHARES}
    return sorted(blanks for blanks in wanted if blanks <= source.max_blanks)


def limit(config: Config) -> int:
    return 10 if config.smoke else config.count


def sampled(stored: PuzzleSet, config: Config) -> PuzzleSet:
    """Choose at most `count` puzzles."""
    if len(stored) <= limit(config):
        return stored
    rng = np.random.default_rng(config.seed)
    return stored[np.sort(rng.choice(len(stored), limit(config), replace=False))]


def header(kind: str) -> str:
    names = ["environment", kind, "puzzles", *POLICIES]
    return f"| {' | '.join(names)} |\n|---|---|{'---:|' * (len(names) - 2)}"


def row(name: str, what: str, chosen: PuzzleSet, config: Config) -> str:
    policies = {title: make() for title, make in POLICIES.items()}
    results = compare(policies, chosen, seed=config.seed)
    cells = [f"`{name}`", what, f"{len(chosen):,}", *map(figure, results.values())]
    return f"| {' | '.join(cells)} |"


def figure(result: Evaluation) -> str:
    low, high = (f"{100 * end:.1f}" for end in result.interval)
    return f"{100 * result.completion_rate:.1f} % ({low} to {high})"


if __name__ == "__main__":
    main()
