"""Steps a second of the environments on one core.

Every row plays uniformly random legal actions with full masks, fresh arrays and automatic resets
included. "step" leaves the choosing of actions out (the same game is replayed), "with choosing"
has it in. "copying" is how long a step takes in units of merely copying the arrays it returns, and
"null" how long in units of a step of an environment that does nothing, both in the same run. The
same game is played several times; each step counts with its fastest time, since other work on the
machine only adds to it.

    python benchmarks/env_throughput.py
    python benchmarks/env_throughput.py --num-envs 256 --repeats 9
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import gymnasium as gym
import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from sudoku_gym import sample_actions
from sudoku_gym.registration import ENVIRONMENTS


@dataclass(frozen=True)
class Config:
    """What to measure.

    Attributes:
        num_envs: boards in the vector environment.
        repeats: how often each game is played.
        seed: of the puzzles and the actions.
        smoke: measure next to nothing, to see that the script runs.
    """

    num_envs: int = 1024
    repeats: int = 9
    seed: int = 0
    smoke: bool = False


class NullEnv(gym.Env[NDArray[np.int8], np.int64]):
    """Does nothing: what Gymnasium's own machinery costs."""

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(0, 9, (9, 9), np.int8)
        self.action_space = gym.spaces.Discrete(729)
        self._board = np.zeros((9, 9), np.int8)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Return the same board every time."""
        return self._board, {}

    def step(self, action: np.int64) -> Any:
        """Return the same board every time."""
        return self._board, 0.0, False, False, {}


def main(argv: Sequence[str] | None = None) -> None:
    config = tyro.cli(Config, description=__doc__, args=argv)
    console = Console()
    table = Table(title=f"{config.num_envs} boards in one vector environment, one core")
    for name in ("environment", "step, M/s", "with choosing, M/s", "copying", "bytes a board"):
        table.add_column(name, justify="left" if name == "environment" else "right")
    for name in ENVIRONMENTS:
        stepping, choosing, copying, size = measure_vector(name, config)
        count = config.num_envs
        table.add_row(
            name,
            f"{count / stepping / 1e6:.2f}",
            f"{count / (stepping + choosing) / 1e6:.2f}",
            f"{stepping / copying:.1f}",
            f"{size // count:,}",
        )
    console.print(table)
    console.print(single_table(config))


def measure_vector(name: str, config: Config) -> tuple[float, float, float, int]:
    """Return the seconds of a step, of choosing, and of copying, and the bytes returned."""
    envs = gym.make_vec(name, num_envs=config.num_envs)
    size = envs.single_observation_space.shape[0]
    steps = 20 if config.smoke else max(200, 2 * size**2)

    def play() -> NDArray[np.float64]:
        rng = np.random.default_rng(config.seed)
        seconds = np.zeros((2, steps))
        _, infos = envs.reset(seed=config.seed)
        for i in range(steps):
            start = perf_counter()
            actions = sample_actions(infos["action_mask"], rng)
            chosen = perf_counter()
            infos = envs.step(actions)[4]
            seconds[:, i] = perf_counter() - chosen, chosen - start
        return seconds

    stepping, choosing = fastest(play, config)
    *arrays, infos = envs.step(envs.action_masks().argmax(1))
    arrays += infos.values()

    def copy() -> NDArray[np.float64]:
        start = perf_counter()
        for _ in range(20):
            copies = [array.copy() for array in arrays]
        del copies
        return np.array((perf_counter() - start) / 20)

    copying = fastest(copy, config)
    return stepping.mean(), choosing.mean(), float(copying), sum(a.nbytes for a in arrays)


def single_table(config: Config) -> Table:
    table = Table(title="Single environments through gym.make, one core")
    for name in ("environment", "step, thousand/s", "null"):
        table.add_column(name, justify="left" if name == "environment" else "right")
    null = measure_null(config)
    table.add_row("nothing (null)", f"{1e-3 / null:.0f}", "1.0")
    for name in ENVIRONMENTS:
        seconds = measure_single(name, config)
        table.add_row(name, f"{1e-3 / seconds:.0f}", f"{seconds / null:.1f}")
    return table


def measure_single(name: str, config: Config) -> float:
    """Return the seconds of a step, resets included."""
    env = gym.make(name)
    rng = np.random.default_rng(config.seed)
    episodes: list[list[np.int64]] = []
    env.reset(seed=config.seed)
    for _ in range(2 if config.smoke else 20):
        _, info = env.reset()
        episodes.append([])
        over = False
        while not over:
            episodes[-1].append(sample_actions(info["action_mask"][None], rng)[0])
            _, _, terminated, truncated, info = env.step(episodes[-1][-1])
            over = terminated or truncated

    def replay() -> NDArray[np.float64]:
        env.reset(seed=config.seed)
        seconds = np.zeros(len(episodes))
        for i, actions in enumerate(episodes):
            start = perf_counter()
            env.reset()
            for action in actions:
                env.step(action)
            seconds[i] = perf_counter() - start
        return seconds

    return float(fastest(replay, config).sum() / sum(map(len, episodes)))


def measure_null(config: Config) -> float:
    env = gym.make(gym.envs.registration.EnvSpec("Null-v0", entry_point=NullEnv))
    env.reset(seed=config.seed)
    action = np.int64(3)

    def step() -> NDArray[np.float64]:
        start = perf_counter()
        for _ in range(2000):
            env.step(action)
        return np.array((perf_counter() - start) / 2000)

    return float(fastest(step, config))


def fastest(measure: Callable[[], NDArray[np.float64]], config: Config) -> NDArray[np.float64]:
    """Measure the same things several times and return the smallest time of each."""
    return np.min([measure() for _ in range(1 if config.smoke else config.repeats)], axis=0)


if __name__ == "__main__":
    main(sys.argv[1:])
