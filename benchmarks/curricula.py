r"""Automatic curricula beside each other: every schedule, the same steps for all.

A setting is a learner on a board: MaskablePPO of sb3-contrib, or a trainer of this suite.

Every run plays greedily on validation puzzles, ten times: minimal ones, the hardest level, and all
levels; where it has three sizes, three times: 16x16 with 154 blanks, and all tasks. A run that was
stopped is made again, finished ones are kept. A schedule may be named with other options than those
below, which is how they were tuned.

    python benchmarks/curricula.py --out docs/results/curricula.json
    python benchmarks/curricula.py --settings ppo-4x4 --seeds 100 101 --steps 100000 \
        --schedules "target" "target?success_target=0.3" --out runs/tuning.json
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from curricula_tables import draw, overview, summarise
from reproduce_calphazero import MLP, paper_search
from results import Results, Row, command_of, table
from sudoku_agents.best_first_search import BestFirstConfig
from sudoku_agents.calphazero.config import CAlphaZeroConfig, CAlphaZeroLossConfig
from sudoku_agents.calphazero.learner import CAlphaZeroLearner
from sudoku_agents.dqn.config import DQNConfig, DQNUpdatesConfig
from sudoku_agents.dqn.learner import DQNLearner
from sudoku_agents.expert_iteration.config import ExpertIterationConfig
from sudoku_agents.expert_iteration.learner import ExpertIterationLearner
from sudoku_agents.gflownet.config import GFlowNetConfig
from sudoku_agents.gflownet.learner import GFlowNetLearner
from sudoku_agents.sb3 import FactorGraphPolicy, SB3Policy, make_vec_env
from sudoku_curricula import ScheduleConfig, configure_schedule
from sudoku_curricula.sb3 import CurriculumCallback
from sudoku_gym import evaluate
from sudoku_gym.plugins import split_options
from sudoku_gym.policies import Policy
from sudoku_gym.puzzles.sources import resolve_source
from sudoku_gym.puzzles.tasks import AS_STORED, Task, Tasks
from sudoku_learning.networks import FactorGraphConfig, MLPConfig
from sudoku_learning.recurrent import RecurrentConfig
from sudoku_learning.training import OptimizerConfig, Training, TrainingConfig


class Setting(NamedTuple):
    """A learner on a board."""

    board: str
    first: int  # blanks of the easiest level
    last: int  # and of the hardest
    by: int  # blanks between two levels
    steps: int  # of the environment in a run; of expert iteration, positions trained on
    updates: int  # of a schedule in half a run, about, after which `linear` is at the end
    seeds: int = 3
    games: int = 400  # of minimal puzzles; an eighth of it at every other level
    episodes: int = 256  # of MaskablePPO per update of a schedule
    tasks: str = "blanks={levels}"  # of schedules that weigh tasks
    points: int = 10  # times at which a run is measured
    held_out: int = 64  # games per update of a schedule, of a trainer

    @property
    def levels(self) -> str:
        """The numbers of blanks, as a text."""
        return f"{self.first}..{self.last}:{self.by}"


BY_GRADE = "blanks={levels} x grade"
SIZES = "board=4x4 + board=9x9 x blanks=40,stored + board=16x16 x blanks=140,150,154"
SETTINGS = {
    "ppo-4x4": Setting("4x4", 2, 12, 1, 200_000, 50, seeds=5),
    "calphazero-4x4": Setting("4x4", 2, 12, 1, 20_000, 11, seeds=5),
    "dqn-4x4": Setting("4x4", 2, 12, 1, 40_000, 32),
    "gflownet-4x4": Setting("4x4", 2, 12, 1, 150_000, 6),
    "dqn-6x6": Setting("6x6", 2, 26, 2, 2_000, 15, games=160),
    "gflownet-6x6": Setting("6x6", 2, 26, 2, 2_000, 5, games=160),
    "expert-iteration-9x9": Setting("9x9", 16, 56, 8, 6_144, 8, games=96, tasks=BY_GRADE),
    "expert-iteration-sizes": Setting(
        "9x9", 16, 56, 8, 9_216, 14, games=40, tasks=SIZES, points=3, held_out=16
    ),
    "ppo-9x9": Setting("9x9", 16, 56, 8, 8_192, 4, games=96, episodes=32, tasks=BY_GRADE),
}
# The main option of each was tuned, see `docs/results/curricula.md`; the others are the defaults.
SCHEDULES = {
    "none": "constant?blanks={last}",
    "linear": "linear?start={first}&stop={last}&updates={updates}",
    "success-rate": "success-rate?start={first}&stop={last}&step={by}&threshold=0.6",
    "algorithm-1": "algorithm-1?start={first}&stop={last}&gamma=0.6&metric=completion",
    "uniform": "uniform?tasks={tasks}",
    "target": "target?tasks={tasks}&success_target=0.3",
    "learning-progress": "learning-progress?tasks={tasks}&uniform=0.05",
    "learnability": "learnability?tasks={tasks}&uniform=0.02",
    "bandit, softmax": "bandit?tasks={tasks}&temperature=0.02",
    "bandit, EXP3.S": "bandit?tasks={tasks}&rule=exp3.s&rate=0.2",
    "self-paced": "self-paced?tasks={tasks}&success=0.4",
    "replay": "replay?tasks=puzzle=0..999&temperature=0.1",
    "edit": "edit?source={board}&start={first}",
    "untrained": "constant?blanks={last}",  # no step: the floor
}
OF_PUZZLES = ("replay", "edit")  # fed by training games alone, which trainers do not report


@dataclass(frozen=True)
class Config:
    """What to measure."""

    settings: tuple[str, ...] = tuple(SETTINGS)
    """learners on boards"""
    schedules: tuple[str, ...] = tuple(SCHEDULES)
    """held against each other"""
    seeds: tuple[int, ...] | None = None
    """of network, puzzles and play; None takes as many as the setting says, from 0"""
    steps: int | None = None
    """environment steps of a run; None takes those of the setting"""
    workers: int = 2
    """runs at a time, a core each"""
    out: Path = Path("runs/curricula.json")
    """a JSON file, which may hold runs"""
    plot: Path | None = None
    """a picture of all settings to write"""


class Measured:
    """Plays held-out puzzles greedily, `points` times in a run of so many steps."""

    def __init__(self, setting: Setting, steps: int) -> None:
        self.rows: list[tuple[int, float, float]] = []
        self._every, rng = steps / setting.points, np.random.default_rng(0)
        tasks = Tasks(SIZES if setting.tasks == SIZES else f"blanks={setting.levels}")

        def draw(task: Task, count: int) -> NDArray[np.int8]:
            source = resolve_source(task.board or setting.board, "validation")
            return source.sample(count, None if task.blanks == AS_STORED else task.blanks, rng)[0]

        hardest = tasks.each[-1] if tasks.boards else Task("minimal")
        self._hardest = draw(hardest, setting.games)
        self._levels = [draw(task, setting.games // 8) for task in tasks.each]

    def look(self, steps: int, policy: Callable[[], Policy]) -> None:
        """Play if it is time."""
        if steps >= self._every * (len(self.rows) + 1):
            sets, player = (self._hardest, *self._levels), policy()
            shares = [evaluate(player, each).completion_rate for each in sets]
            self.rows.append((steps, shares[0], float(np.mean(shares[1:]))))


class _Look(BaseCallback):
    """Has MaskablePPO measured."""

    def __init__(self, measured: Measured) -> None:
        super().__init__()
        self._measured = measured

    def _on_step(self) -> bool:
        self._measured.look(self.num_timesteps, lambda: SB3Policy(self.model))
        return True


def ppo(
    setting: Setting, schedule: ScheduleConfig, seed: int, steps: int, measured: Measured
) -> None:
    """Train MaskablePPO; training games feed the schedule."""
    env = make_vec_env(f"Sudoku{setting.board}-v0", 128, reward="sparse", end_at_dead_end=True)
    small = setting.board == "4x4"
    model = MaskablePPO(
        FactorGraphPolicy,
        env,
        policy_kwargs={"network": PERCEPTRON if small else FactorGraphConfig(16, 8)},
        learning_rate=1e-3,
        n_steps=32 if small else 8,
        batch_size=512,
        n_epochs=4,
        gamma=1.0,
        ent_coef=0.01,
        seed=seed,
        device="cpu",
    )
    measured.look(0, lambda: SB3Policy(model))
    feed = CurriculumCallback(schedule.build(), episodes_per_update=setting.episodes)
    model.learn(steps, [feed, _Look(measured)])


PERCEPTRON = MLPConfig((256, 256))
FACTOR_GRAPH = FactorGraphConfig(16, 16, test_rounds=16)  # on 6x6 more are needless
CONVERGING = FactorGraphConfig(16, 16, test_rounds=32, convergence_margin=1.0)
# by setting, all others are MaskablePPO; small iterations, so that the first can be told apart
TRAINERS: dict[str, tuple[Callable[..., TrainingConfig], Any]] = {
    "calphazero-4x4": (
        partial(
            CAlphaZeroConfig,
            games=128,
            replay_iterations=1,
            search=paper_search(25),
            loss=CAlphaZeroLossConfig(100.0, 0.01, every_action=True, passes=16.0),
            optimizer=OptimizerConfig(1e-3, 256),
            network=MLP,
        ),
        CAlphaZeroLearner,
    ),
    "dqn-4x4": (
        partial(
            DQNConfig,
            games=128,
            updates=DQNUpdatesConfig(4.0, 1),
            optimizer=OptimizerConfig(1e-3, 256),
            network=PERCEPTRON,
        ),
        DQNLearner,
    ),
    "gflownet-4x4": (
        partial(
            GFlowNetConfig,
            order="rows",
            min_log_reward=-5.0,
            replayed=1.0,
            optimizer=OptimizerConfig(3e-3),
            network=PERCEPTRON,
        ),
        GFlowNetLearner,
    ),
    "dqn-6x6": (
        partial(DQNConfig, games=8, updates=DQNUpdatesConfig(1.0, 4), network=FACTOR_GRAPH),
        DQNLearner,
    ),
    "gflownet-6x6": (
        partial(GFlowNetConfig, puzzles=8, updates=4, network=FACTOR_GRAPH),
        GFlowNetLearner,
    ),
    "expert-iteration-9x9": (
        partial(
            ExpertIterationConfig,
            envs=("Sudoku9x9-v0",),
            shares=(1.0,),
            games=16,
            as_stored=0.0,
            recurrent=RecurrentConfig(updates=8),
            network=CONVERGING,
        ),
        ExpertIterationLearner,
    ),
    "expert-iteration-sizes": (
        partial(
            ExpertIterationConfig,
            envs=("Sudoku4x4-v0", "Sudoku9x9-v0", "Sudoku16x16-v0"),
            shares=(1.0, 1.0, 1.0),
            games=48,
            as_stored=0.0,
            search=BestFirstConfig(evaluations=30),
            search_rounds=16,
            recurrent=RecurrentConfig(updates=8),
            network=CONVERGING,
        ),
        ExpertIterationLearner,
    ),
}


def trainer(name: str, schedule: ScheduleConfig, seed: int, steps: int, measured: Measured) -> None:
    """Train by a trainer of this suite; held-out games feed the schedule, at each iteration."""
    configure, make_learner = TRAINERS[name]
    with TemporaryDirectory() as folder:
        config = configure(
            run=Path(folder, "run"),
            env=f"Sudoku{SETTINGS[name].board}-v0",
            seed=seed,
            iterations=1_000_000,  # `steps` ends it, and the learning rate stays
            validation_games=SETTINGS[name].held_out,
            evaluate_every=1,
            curriculum=schedule,
        )
        training = Training(config, make_learner)
        measured.look(0, training.learner.policy)
        while training.steps < steps:
            training.step()
            measured.look(training.steps, training.learner.policy)


def schedule_of(setting: Setting, schedule: str) -> ScheduleConfig:
    """Return a schedule of `SCHEDULES`, with the options that follow its name."""
    name, changed = split_options(schedule)
    values = {**setting._asdict(), "tasks": setting.tasks.format(levels=setting.levels)}
    kind, options = split_options(SCHEDULES[name].format(**values))
    return configure_schedule(kind, **{**options, **changed})


def run(setting: str, schedule: str, seed: int, steps: int) -> Row:
    """Train once; return where each measurement stood."""
    torch.set_num_threads(1)
    start, chosen = time.process_time(), SETTINGS[setting]
    steps *= schedule != "untrained"
    measured = Measured(chosen, steps)
    config = schedule_of(chosen, schedule)
    if setting in TRAINERS:
        trainer(setting, config, seed, steps, measured)
    else:
        ppo(chosen, config, seed, steps, measured)
    at, hardest, mean = zip(*measured.rows, strict=True)
    return {
        "setting": setting,
        "schedule": schedule,
        "seed": seed,
        "steps": list(at),
        "hardest": [round(share, 4) for share in hardest],
        "mean": [round(share, 4) for share in mean],
        "seconds": round(time.process_time() - start),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Run what is lacking, then print a table a board."""
    config = tyro.cli(Config, args=argv)
    results = Results(config.out, command_of(__file__, argv))
    wanted: list[Row] = [
        {"setting": setting, "schedule": name, "seed": seed}
        for setting in config.settings
        for seed in config.seeds or range(SETTINGS[setting].seeds)
        for name in config.schedules
        if not (setting in TRAINERS and name in OF_PUZZLES)
    ]
    with ProcessPoolExecutor(config.workers, get_context("spawn")) as pool:
        lacking = [key for key in wanted if results.lacks(key)]
        steps = [config.steps or SETTINGS[key["setting"]].steps for key in lacking]
        runs = [pool.submit(run, **k, steps=s) for k, s in zip(lacking, steps, strict=True)]
        for done in as_completed(runs):
            results.add(done.result())
    if config.plot is not None:
        draw(results.rows, config.settings, list(SCHEDULES), config.plot)
    print(f"\n{table(overview(results.rows, config.settings, list(SCHEDULES)))}")
    for setting in config.settings:
        print(f"\n{setting}\n\n{table(summarise(results.rows, setting))}", flush=True)


if __name__ == "__main__":
    main()
