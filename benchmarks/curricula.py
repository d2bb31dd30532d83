"""Automatic curricula beside each other: MaskablePPO, every schedule, the same steps for all.

Every run plays greedily on validation puzzles, ten times: minimal ones, the hardest level, and all
levels. A run that was stopped is made again, finished ones are kept.

    python benchmarks/curricula.py --out docs/results/curricula.json
    python benchmarks/curricula.py --settings 6x6 --seeds 0 1 2 --out runs/curricula.json

Summaries are those of Agarwal et al. (2021, "Deep reinforcement learning at the edge of the
statistical precipice"): interquartile means over the seeds, intervals by the bootstrap.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from results import Results, Row, command_of, table
from sudoku_agents.sb3 import FactorGraphPolicy, SB3Policy, make_vec_env
from sudoku_curricula import make_schedule
from sudoku_curricula.sb3 import CurriculumCallback
from sudoku_gym import evaluate
from sudoku_gym.puzzles.sources import resolve_source
from sudoku_learning.networks import MLPConfig

POINTS = 10  # times at which a run is measured
GAMES = 400  # of minimal puzzles; an eighth of it at every other level
EPISODES = 256  # per update of a schedule
LAST = {"4x4": 12, "6x6": 26}  # levels begin at 2 blanks
STEPS = {"4x4": 200_000, "6x6": 600_000}  # of the environment, in a run

# by their own defaults, but for the levels, and for the threshold of those that climb
SCHEDULES = {
    "none": "constant?blanks={last}",
    "linear": "linear?start=2&stop={last}&updates={updates}",
    "success-rate": "success-rate?start=2&stop={last}&threshold=0.8",
    "algorithm-1": "algorithm-1?start=2&stop={last}&gamma=0.8&metric=completion",
    "uniform": "uniform?tasks=blanks=2..{last}",
    "target": "target?tasks=blanks=2..{last}",
    "learning-progress": "learning-progress?tasks=blanks=2..{last}",
    "learnability": "learnability?tasks=blanks=2..{last}",
    "bandit, softmax": "bandit?tasks=blanks=2..{last}",
    "bandit, EXP3.S": "bandit?tasks=blanks=2..{last}&rule=exp3.s&rate=0.05",
    "self-paced": "self-paced?tasks=blanks=2..{last}",
    "replay": "replay?tasks=puzzle=0..999",
    "edit": "edit?source={board}&start=2",
}


@dataclass(frozen=True)
class Config:
    """What to measure."""

    settings: tuple[str, ...] = ("4x4", "6x6")
    """boards"""
    schedules: tuple[str, ...] = tuple(SCHEDULES)
    """held against each other"""
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    """of network, puzzles and play"""
    steps: int | None = None
    """environment steps of a run; None takes those of the board"""
    workers: int = 2
    """runs at a time, a core each"""
    out: Path = Path("runs/curricula.json")
    """a JSON file, which may hold runs"""


class Measured(BaseCallback):
    """Plays held-out puzzles greedily, `POINTS` times in a run of so many steps."""

    def __init__(self, board: str, steps: int) -> None:
        super().__init__()
        self.rows: list[tuple[int, float, float]] = []
        self._every, source = steps / POINTS, resolve_source(board, "validation")
        rng = np.random.default_rng(0)
        levels = range(2, LAST[board] + 1)
        self._minimal = source.sample(GAMES, None, rng)[0]
        self._levels = [source.sample(GAMES // 8, level, rng)[0] for level in levels]

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._every * (len(self.rows) + 1):
            player = SB3Policy(self.model)
            shares = [
                evaluate(player, each).completion_rate for each in (self._minimal, *self._levels)
            ]
            self.rows.append((self.num_timesteps, shares[0], float(np.mean(shares[1:]))))
        return True


def run(board: str, schedule: str, seed: int, steps: int) -> Row:
    """Train once; return where each measurement stood."""
    torch.set_num_threads(1)
    start = time.process_time()
    updates = steps // 2_000  # of about 256 episodes each
    values = {"last": LAST[board], "board": board, "updates": updates}
    made = make_schedule(SCHEDULES[schedule].format(**values))
    env = make_vec_env(f"Sudoku{board}-v0", 128, reward="sparse", end_at_dead_end=True)
    model = MaskablePPO(
        FactorGraphPolicy,
        env,
        policy_kwargs={"network": MLPConfig((256, 256))},
        learning_rate=1e-3,
        n_steps=32,
        batch_size=512,
        n_epochs=4,
        gamma=1.0,
        ent_coef=0.01,
        seed=seed,
        device="cpu",
    )
    measured = Measured(board, steps)
    model.learn(steps, [CurriculumCallback(made, episodes_per_update=EPISODES), measured])
    at, hardest, mean = zip(*measured.rows, strict=True)
    return {
        "board": board,
        "schedule": schedule,
        "seed": seed,
        "steps": list(at),
        "hardest": [round(share, 4) for share in hardest],
        "mean": [round(share, 4) for share in mean],
        "seconds": round(time.process_time() - start),
    }


def interquartile_mean(values: NDArray[np.float64]) -> float:
    """Return the mean of the middle half of values `[S]`."""
    ordered, cut = np.sort(values), len(values) // 4
    return float(ordered[cut : len(ordered) - cut].mean())


def summary(values: Sequence[float], rng: np.random.Generator) -> str:
    """Return the interquartile mean in percent, with a 95 % bootstrap interval over the seeds."""
    found = np.array(values, np.float64)
    drawn = [interquartile_mean(rng.choice(found, len(found))) for _ in range(2_000)]
    low, high = 100 * np.quantile(drawn, (0.025, 0.975))
    return f"{100 * interquartile_mean(found):.1f} ({low:.1f} to {high:.1f})"


def improvement(ours: Sequence[float], others: Sequence[float]) -> float:
    """Return the probability that a run of ours is better than one of the others, ties half."""
    x, y = np.array(ours)[:, None], np.array(others)
    return float(((x > y) + 0.5 * (x == y)).mean())


def summarise(rows: Sequence[Row], board: str) -> list[Row]:
    """Return a row for each schedule, the best at all levels first."""
    rng, found = np.random.default_rng(0), []
    runs: dict[str, list[Row]] = {name: [] for name in SCHEDULES}
    for row in rows:
        if row["board"] == board:
            runs[row["schedule"]].append(row)
    for name, own in runs.items():
        if own:
            ends = [row["mean"][-1] for row in own]
            control = [row["mean"][-1] for row in runs["uniform"]] or ends
            found.append(
                {
                    "schedule": name,
                    "seeds": len(own),
                    "all levels": summary(ends, rng),
                    "area": summary([np.mean(row["mean"]) for row in own], rng),
                    "hardest level": summary([row["hardest"][-1] for row in own], rng),
                    "better than uniform": f"{improvement(ends, control):.2f}",
                }
            )
    return sorted(found, key=lambda row: -float(row["all levels"].split()[0]))


def main(argv: Sequence[str] | None = None) -> None:
    """Run what is lacking, then print a table a board."""
    config = tyro.cli(Config, args=argv)
    results = Results(config.out, command_of(__file__, argv))
    wanted = [
        {"board": board, "schedule": name, "seed": seed}
        for seed in config.seeds
        for board in config.settings
        for name in config.schedules
    ]
    with ProcessPoolExecutor(config.workers, get_context("spawn")) as pool:
        lacking = [key for key in wanted if results.lacks(key)]
        steps = [config.steps or STEPS[key["board"]] for key in lacking]
        runs = [pool.submit(run, **k, steps=s) for k, s in zip(lacking, steps, strict=True)]
        for done in as_completed(runs):
            results.add(done.result())
    for board in config.settings:
        print(f"\n{board}\n\n{table(summarise(results.rows, board))}", flush=True)


if __name__ == "__main__":
    main()
