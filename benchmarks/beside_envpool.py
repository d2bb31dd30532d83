"""`Sudoku9x9-v0` beside EnvPool's native Sudoku, which has Jumanji's rules in C++.

Both play uniformly random legal actions with full masks and automatic resets, as many boards on the
same core with one thread. They take turns, each in a process, and are timed alike: in processor
seconds of all threads, each step with the fastest of several games in several rounds. "step" leaves
the choosing of actions out, which is compiled here and NumPy beside EnvPool. What an observation
holds is each library's own: EnvPool's is the board and the mask, ours has infos beside them.

EnvPool is installed into an environment of its own in build/.

    python benchmarks/beside_envpool.py --out docs/results/speed.json
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import gymnasium as gym
import numpy as np
import tyro
from numpy.typing import NDArray

from env_throughput import run_peer, stay_on_one_core
from results import Row, command_of, keep
from sudoku_gym import sample_actions


@dataclass(frozen=True)
class Config:
    """What to measure.

    Attributes:
        boards: numbers of boards in the vector environments.
        steps: steps of a game.
        repeats: games in a row.
        rounds: how often the two take turns.
        smoke: measure next to nothing, to see that the script runs.
        out: a JSON file; the figures of other parts in it stay.
    """

    boards: tuple[int, ...] = (64, 1024)
    steps: int = 100
    repeats: int = 5
    rounds: int = 5
    smoke: bool = False
    out: Path | None = None


def measure_ours(boards: int, steps: int, repeats: int) -> NDArray[np.float64]:
    """Return seconds of each step and of each choosing, float64 `[2, steps]`."""
    envs = gym.make_vec("Sudoku9x9-v0", num_envs=boards)
    seconds = np.full((2, steps), np.inf)
    for _ in range(repeats):
        rng = np.random.default_rng(0)
        _, infos = envs.reset(seed=0)
        for i in range(steps):
            start = process_time()
            actions = sample_actions(infos["action_mask"], rng)
            chosen = process_time()
            infos = envs.step(actions)[4]
            spent = process_time() - chosen, chosen - start
            seconds[:, i] = np.minimum(seconds[:, i], spent)
    return seconds


def speeds(boards: int, seconds: NDArray[np.float64]) -> tuple[float, float]:
    """Return thousand steps a second, without and with the choosing of actions."""
    stepping, choosing = seconds.mean(1)
    return 1e-3 * boards / stepping, 1e-3 * boards / (stepping + choosing)


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, description=__doc__, args=argv)
    steps, repeats, rounds = (
        (2, 1, 1) if config.smoke else (config.steps, config.repeats, config.rounds)
    )
    stay_on_one_core()
    arguments = [str(number) for number in (steps, repeats, *config.boards)]
    ours, theirs = [], []
    for _ in range(rounds):
        theirs.append(run_peer("envpool", arguments))
        ours.append([measure_ours(boards, steps, repeats) for boards in config.boards])
    rows: list[Row] = []
    for i, boards in enumerate(config.boards):
        here = speeds(boards, np.min([found[i] for found in ours], axis=0))
        there = speeds(boards, np.min([found[i] for found in theirs], axis=0))
        for what, mine, other in zip(("step", "with choosing"), here, there, strict=True):
            rows.append(
                {
                    "boards": f"{boards:,}",
                    "timed": what,
                    "`Sudoku9x9-v0`, thousand/s": round(mine),
                    "EnvPool, thousand/s": round(other, 1),
                    "times as fast": round(mine / other),
                }
            )
    keep(config.out, "beside EnvPool's Sudoku-v0", command_of(__file__, argv), rows)


if __name__ == "__main__":
    main()
