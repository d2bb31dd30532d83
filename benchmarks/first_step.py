"""How long a fresh process takes to its first step: on a new machine, and on one that knows us.

Each row is a process of its own, which imports the package, makes an environment, resets it and
steps it once. A cold one begins with an empty `NUMBA_CACHE_DIR`, a warm one finds what the cold one
left there. Figures are processor seconds, which other work on the machine changes least, and the
fastest of several rounds; "clock" is what a person waits, Python's own start included.

    python benchmarks/first_step.py --out docs/results/speed.json
    python benchmarks/first_step.py --env Sudoku4x4-v0 --rounds 1
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import tyro

from results import Row, command_of, keep

PHASES = ("import", "make", "reset", "step", "all")
STATES = {"cold": "on a new machine", "warm": "later"}
MAKE = {"gym.make": "gym.make({0!r})", "gym.make_vec": "gym.make_vec({0!r}, num_envs={1})"}
PROGRAM = """
import json
from time import process_time
seconds = [process_time()]
import gymnasium as gym
import sudoku_gym
from sudoku_gym.envs import SudokuEnv, SudokuVectorEnv
seconds.append(process_time())
env = MAKE
seconds.append(process_time())
_, info = env.reset(seed=0)
seconds.append(process_time())
env.step(info["action_mask"].argmax(-1))
seconds.append(process_time())
print(json.dumps(seconds))
"""


@dataclass(frozen=True)
class Config:
    """What to measure.

    Attributes:
        env: the id of the environment.
        num_envs: boards in the vector environment.
        rounds: how often each process is run.
        smoke: measure one cold and one warm process only, to see that the script runs.
        out: a JSON file; the figures of other parts in it stay.
    """

    env: str = "Sudoku9x9-v0"
    num_envs: int = 64
    rounds: int = 3
    smoke: bool = False
    out: Path | None = None


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, description=__doc__, args=argv)
    rows: list[Row] = []
    for name in list(MAKE)[: 1 if config.smoke else None]:
        for state, seconds in measure(MAKE[name], config).items():
            told = (round(s, 2) for s in seconds)
            process = {"process": f"`{name}`, {STATES[state]}"}
            rows.append(process | dict(zip((*PHASES, "clock"), told, strict=True)))
    keep(config.out, f"the first step of {config.env}", command_of(__file__, argv), rows)


def measure(make: str, config: Config) -> dict[str, list[float]]:
    """Return the seconds of each phase, of all and of the clock, cold and warm."""
    best: dict[str, list[float]] = {}
    for _ in range(1 if config.smoke else config.rounds):
        with tempfile.TemporaryDirectory() as cache:
            for state in STATES:
                seconds = first_step(make.format(config.env, config.num_envs), cache)
                best[state] = min(best.get(state, seconds), seconds, key=lambda s: s[-2])
    return best


def first_step(make: str, cache: str) -> list[float]:
    """Run one process and return its seconds."""
    start = perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("MAKE", make)],
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    wall = perf_counter() - start
    seconds: list[float] = json.loads(done.stdout)
    phases = [b - a for a, b in pairwise(seconds)]
    return [*phases, seconds[-1], wall]


if __name__ == "__main__":
    main(sys.argv[1:])
