"""Microseconds a board to reset a vector environment, by number of blanks, on one core.

A reset draws a puzzle, reveals cells until the wanted number of blanks is left, moves the board by
a symmetry and sets up its candidates and its mask; all of that is in the figures. Each is the
fastest of many resets, since other work on the machine only adds to a time.

    python benchmarks/reset.py --out docs/results/speed.json
    python benchmarks/reset.py --name Sudoku9x9-v0 --blanks 20 40 50
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import gymnasium as gym
import tyro

import sudoku_gym  # noqa: F401  (registers the environments)
from results import Row, command_of, keep
from sudoku_gym.puzzles.sources import Blanks


@dataclass(frozen=True)
class Config:
    """What to measure.

    Attributes:
        name: the environment.
        num_envs: boards in it.
        blanks: numbers of blanks; beside them stand puzzles as stored.
        repeats: resets, of which the fastest counts.
        seed: of the first reset; each further one draws other puzzles.
        smoke: measure next to nothing, to see that the script runs.
        out: a JSON file; the figures of other parts in it stay.
    """

    name: str = "Sudoku25x25-v0"
    num_envs: int = 1024
    blanks: tuple[int, ...] = (1, 50, 200, 330)
    repeats: int = 50
    seed: int = 0
    smoke: bool = False
    out: Path | None = None


def seconds_of_a_reset(config: Config, blanks: Blanks) -> tuple[float, float]:
    """Return the fastest and the median of the resets, in seconds a board."""
    envs = gym.make_vec(config.name, num_envs=config.num_envs, blanks=blanks)
    envs.reset(seed=config.seed)  # loads the compiled code
    times = []
    for _ in range(2 if config.smoke else config.repeats):
        start = perf_counter()
        envs.reset()
        times.append(perf_counter() - start)
    envs.close()
    return min(times) / config.num_envs, sorted(times)[len(times) // 2] / config.num_envs


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, one row a number of blanks."""
    config = tyro.cli(Config, args=argv, description=__doc__)
    rows: list[Row] = []
    for blanks in (*config.blanks, None):
        fastest, median = seconds_of_a_reset(config, blanks)
        figures = {"fastest": round(fastest * 1e6, 1), "median": round(median * 1e6, 1)}
        rows.append({"blanks": "as stored" if blanks is None else blanks} | figures)
    keep(config.out, f"resets of {config.name}", command_of(__file__, argv), rows)


if __name__ == "__main__":
    main()
