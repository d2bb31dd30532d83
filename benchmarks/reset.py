"""Microseconds a board to reset a vector environment, by number of blanks, on one core.

A reset draws a puzzle, reveals cells until the wanted number of blanks is left, moves the board by
a symmetry and sets up its candidates and its mask; all of that is in the figures. Each is the
fastest of many resets, since other work on the machine only adds to a time.

    python benchmarks/reset.py --out docs/results/speed.json
    python benchmarks/reset.py --names Sudoku9x9-v0 --shares 0.25 0.5 0.6
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

import gymnasium as gym
import tyro

from results import Row, command_of, keep
from sudoku_gym.puzzles.sources import Blanks
from sudoku_learning.training.environments import training_source


@dataclass(frozen=True)
class Config:
    """What to measure.

    Attributes:
        names: the environments.
        num_envs: boards in it.
        shares: of the cells that are blank, one cell at least; beside them stand puzzles as stored.
        repeats: resets, of which the fastest counts.
        seed: of the first reset; each further one draws other puzzles.
        smoke: measure next to nothing, to see that the script runs.
        out: a JSON file; the figures of other parts in it stay.
    """

    names: tuple[str, ...] = ("Sudoku4x4-v0", "Sudoku9x9-v0", "Sudoku16x16-v0", "Sudoku25x25-v0")
    num_envs: int = 1024
    shares: tuple[float, ...] = (0.0, 0.1, 0.3, 0.5)
    repeats: int = 200
    seed: int = 0
    smoke: bool = False
    out: Path | None = None


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, one row an environment and number of blanks."""
    config = tyro.cli(Config, args=argv, description=__doc__)
    rows = []
    for name in config.names:
        cells = training_source(name).geometry.num_cells
        for blanks in (*(max(1, round(share * cells)) for share in config.shares), None):
            rows.append(row(config, name, blanks))
    keep(config.out, "resets", command_of(__file__, argv), rows)


def row(config: Config, name: str, blanks: Blanks) -> Row:
    """Return the fastest and the median of the resets, in microseconds a board."""
    envs = gym.make_vec(name, num_envs=config.num_envs, blanks=blanks)
    envs.reset(seed=config.seed)  # loads the compiled code
    times = []
    for _ in range(2 if config.smoke else config.repeats):
        start = perf_counter()
        envs.reset()
        times.append(1e6 * (perf_counter() - start) / config.num_envs)
    envs.close()
    which = {"environment": f"`{name}`", "blanks": "as stored" if blanks is None else blanks}
    return which | {"fastest": round(min(times), 1), "median": round(median(times), 1)}


if __name__ == "__main__":
    main()
