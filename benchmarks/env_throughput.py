"""Steps a second of the environments on one core.

Every row plays uniformly random legal actions with full masks, fresh arrays and automatic resets
included. "step" leaves the choosing of actions out (the same game is replayed), "with choosing"
has it in. "times copying" is how long a step takes in units of merely copying the arrays it
returns, "times null" in units of a step of an environment that does nothing, both in the same run.
"GB/s" counts the bytes that a step returns and those of its boards' state, each once. The same
game is played several times in each of several rounds over all rows; each step counts with its
fastest time, since other work on the machine only adds to it.

    python benchmarks/env_throughput.py --out docs/results/speed.json
    python benchmarks/env_throughput.py --num-envs 256 --repeats 3
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import gymnasium as gym
import numpy as np
import tyro
from numpy.typing import NDArray

from results import Row, command_of, keep
from sudoku_gym import sample_actions
from sudoku_gym.registration import ENVIRONMENTS

OPTIONS: dict[str, dict[str, Any]] = {  # measured on 9x9
    "neither mask nor info": {"with_mask": False, "with_info": False},
    "any digit": {"actions": "blank"},
    "erasing": {"erase": True},
    "naked singles filled in": {"propagation": "naked singles"},
}


@dataclass(frozen=True)
class Config:
    """What to measure.

    Attributes:
        num_envs: boards in the vector environment.
        repeats: how often each game is played in a row.
        rounds: how often that is done for the vector environments, one after the other.
        seed: of the puzzles and the actions.
        smoke: measure next to nothing, to see that the script runs.
        out: a JSON file; the figures of other parts in it stay.
    """

    num_envs: int = 1024
    repeats: int = 9
    rounds: int = 3
    seed: int = 0
    smoke: bool = False
    out: Path | None = None


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
    command = command_of(__file__, argv)
    stay_on_one_core()
    games = measure_all(config)
    rows = [{"environment": name} | game.row() for name, game in games.items()]
    keep(config.out, f"{config.num_envs:,} boards in a vector environment", command, rows)
    keep(config.out, "one board through gym.make", command, single_rows(config))


def measure_all(config: Config) -> dict[str, VectorGame]:
    """Play the games of all environments in rounds."""
    games = {f"`{name}`": VectorGame(name, config) for name in ENVIRONMENTS}
    for label, options in OPTIONS.items():
        games[f"`Sudoku9x9-v0`, {label}"] = VectorGame("Sudoku9x9-v0", config, **options)
    for _ in range(1 if config.smoke else config.rounds):
        for game in games.values():
            game.play()
    return games


def stay_on_one_core() -> None:
    """Stay on one core, and let what is started stay there."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


class VectorGame:
    """One game in a vector environment, which can be played again and again.

    Args:
        name: the id of the environment.
        config: what to measure.
        options: of the environment.
    """

    def __init__(self, name: str, config: Config, **options: Any) -> None:
        self._config = config
        self._envs = gym.make_vec(name, num_envs=config.num_envs, **options)
        size = self._envs.single_observation_space.shape[0]
        steps = 20 if config.smoke else max(200, 2 * size**2)
        self._seconds = np.full((2, steps), np.inf)  # of each step and each choosing, the fastest
        self._copying = np.inf

    def play(self) -> None:
        """Play the game a few times, and copy what it returns as often."""
        played = fastest(self._play_once, self._config)
        self._seconds = np.minimum(self._seconds, played)
        self._copying = min(self._copying, float(fastest(self._copy, self._config)))

    def row(self) -> Row:
        """Return the figures of the table."""
        count, stepping = self._config.num_envs, self._seconds[0].mean()
        returned = sum(array.nbytes for array in self._arrays())
        state = self._envs.get_state()
        held = state.rows.nbytes + state.candidates.nbytes
        return {
            "step, M/s": round(count / stepping / 1e6, 2),
            "with choosing, M/s": round(count / self._seconds.sum(0).mean() / 1e6, 2),
            "times copying": round(stepping / self._copying, 1),
            "bytes a board": returned // count,
            "GB/s": round((returned + held) / stepping / 1e9, 1),
        }

    def _play_once(self) -> NDArray[np.float64]:
        rng = np.random.default_rng(self._config.seed)
        seconds = np.zeros_like(self._seconds)
        _, infos = self._envs.reset(seed=self._config.seed)
        for i in range(seconds.shape[1]):
            masks = infos["action_mask"] if "action_mask" in infos else self._envs.action_masks()
            start = perf_counter()
            actions = sample_actions(masks, rng)
            chosen = perf_counter()
            infos = self._envs.step(actions)[4]
            seconds[:, i] = perf_counter() - chosen, chosen - start
        return seconds

    def _arrays(self) -> list[NDArray[Any]]:
        """Return all arrays of a step."""
        *arrays, infos = self._envs.step(self._envs.action_masks().argmax(1))
        return [*arrays, *infos.values()]

    def _copy(self) -> NDArray[np.float64]:
        arrays = self._arrays()
        start = perf_counter()
        for _ in range(20):
            copies = [array.copy() for array in arrays]
        del copies
        return np.array((perf_counter() - start) / 20)


def single_rows(config: Config) -> list[Row]:
    null = measure_null(config)
    rows: list[Row] = [
        {"environment": "nothing (null)", "step, thousand/s": round(1e-3 / null), "times null": 1.0}
    ]
    for name in ENVIRONMENTS:
        seconds = measure_single(name, config)
        figures = {
            "step, thousand/s": round(1e-3 / seconds),
            "times null": round(seconds / null, 1),
        }
        rows.append({"environment": f"`{name}`"} | figures)
    return rows


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
