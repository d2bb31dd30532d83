"""The floors that every learner is held against: random play, and play by singles.

Plays the test puzzles of every environment with masked-random, naked singles, and naked + hidden
singles, by grade and by number of blanks; writes the figures as JSON, and a page of two tables from
them. A policy has learned something where it beats the right-hand column. What the file of figures
holds already is not played again.

    python benchmarks/floors.py --out docs/results/floors.json --page docs/results/floors.md
    python benchmarks/floors.py --ids Sudoku9x9-v0 --count 200
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from results import Results, Row, command_of, share_of, some, table
from sudoku_baselines.classical.trivial import MaskedRandom, hidden_singles, naked_singles
from sudoku_gym import evaluate, puzzles
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource
from sudoku_gym.registration import ENVIRONMENTS
from sudoku_gym.storage.atomic import write_text

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
        out: a JSON file for the figures; those in it are kept.
        page: a Markdown file for the tables; without it they are printed.
        smoke: play next to nothing, to see that the script runs.
    """

    ids: tuple[str, ...] = tuple(ENVIRONMENTS)
    count: int = 1000
    seed: int = 0
    out: Path = Path("runs/floors.json")
    page: Path | None = None
    smoke: bool = False


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, description=__doc__, args=argv)
    command = command_of(__file__, argv)
    command += "" if "--seed" in command else f" --seed {config.seed}"
    results = Results(config.out, command)
    for environment in config.ids:
        for row, chosen in [*by_grade(environment, config), *by_blanks(environment, config)]:
            for title, make in POLICIES.items():
                key = {"environment": environment, **row, "policy": title, "count": len(chosen)}
                if results.lacks(key):
                    played = evaluate(make(), chosen, seed=config.seed)
                    results.add({**key, **share_of(played.solved)})
    text = page(results.rows, command)
    if config.page is None:
        print(text)
    else:
        write_text(config.page, text)


def page(rows: Sequence[Row], command: str) -> str:
    """Return the page of tables, by grade and by number of blanks."""
    return "\n".join(
        [
            INTRODUCTION.format(command=command),
            "## By grade, puzzles as stored\n",
            table_of(rows, "grade"),
            "\n## By number of blanks\n",
            "Cells of the same puzzles are revealed until that many blanks are left.\n",
            table_of(rows, "blanks"),
            "",
        ]
    )


def table_of(rows: Sequence[Row], kind: str) -> str:
    """Return a table with a line for each environment and grade, or number of blanks."""
    lines: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        if kind in row:
            name = row["environment"], str(row[kind])
            cells = {"environment": f"`{name[0]}`", kind: name[1], "puzzles": f"{row['count']:,}"}
            lines.setdefault(name, cells)[row["policy"]] = figure(row)
    return table(list(lines.values()), names=2)


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


def figure(row: Row) -> str:
    low, high = (f"{row[end]:.1f}" for end in ("low", "high"))
    return f"{100 * row['solved'] / row['count']:.1f} % ({low} to {high})"


if __name__ == "__main__":
    main()
