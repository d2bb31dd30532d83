"""Supervised networks: equal training time, few puzzles, Guissart's search.

Each part runs unattended, writes its JSON row by row, and goes on where it was stopped when it is
started again with the same options.

    python benchmarks/neural_9x9.py nine --out docs/results/neural-nine.json
    python benchmarks/neural_9x9.py distinct --out docs/results/neural-distinct.json
    python benchmarks/neural_9x9.py guissart --out docs/results/neural-guissart.json
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from results import Results, Row
from sudoku_baselines.neural.cnn import CNNTraining
from sudoku_baselines.neural.exact_cover import ExactCoverLearner, ExactCoverTraining
from sudoku_baselines.neural.guissart.learner import GuissartLearner, GuissartTraining
from sudoku_baselines.neural.guissart.solver import FillingPredictor, Guissart
from sudoku_baselines.neural.learner import LabelledConfig, SupervisedLearner
from sudoku_baselines.neural.policies import load
from sudoku_baselines.neural.puzzles import PuzzlesConfig
from sudoku_baselines.neural.recurrent_transformer import (
    RecurrentTransformerConfig,
    RecurrentTransformerTraining,
)
from sudoku_baselines.neural.rrn import RRNTraining
from sudoku_baselines.neural.tiny_recursion import TinyRecursionConfig, TinyRecursionTraining
from sudoku_gym import board, evaluate, puzzles
from sudoku_gym.policies import PredictorPolicy
from sudoku_gym.puzzles import difficulty
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_learning.training import OptimizerConfig, Training
from supervised_runs import Options, main_of, play, timed_share, train


@dataclass(frozen=True, kw_only=True)
class EqualTime(Options):
    """Several networks at 9x9 after equal training time, by grade and on hard puzzles."""

    minutes: float = 60.0
    """processor time of each training"""
    models: tuple[str, ...] = (
        "exact-cover",
        "rrn",
        "tiny-recursion",
        "recurrent-transformer",
        "cnn",
    )
    """which of them"""
    sets: tuple[str, ...] = ("9x9", "9x9-hard")
    """banks whose test puzzles are played"""
    surest: bool = True
    """play the surest cell first too"""

    def run(self, results: Results) -> None:
        """Train and play whatever the file lacks."""
        parts = PuzzlesConfig(distinct=self.distinct)
        for name in self.models:
            label = f"{name}-{self.distinct or 'all'}-{self.seed}"
            config = nine(name, self.runs / label, self.seed, parts)
            learner = ExactCoverLearner if name == "exact-cover" else SupervisedLearner
            key = {"model": name, "distinct": self.distinct, "seed": self.seed}
            for_minutes(results, key, config, learner, self.minutes)
            for mode in ("one-shot", "surest") if self.surest else ("one-shot",):
                for bank in self.sets:
                    policy = load(config.run, mode)
                    chosen = puzzles.load(bank, "test").spread(self.count)
                    play(results, key | {"set": bank, "mode": mode}, policy, chosen, grades=True)


@dataclass(frozen=True, kw_only=True)
class DistinctPuzzles(Options):
    """The factor-graph body trained on few distinct puzzles and on many, with several seeds."""

    numbers: tuple[int, ...] = (100, 1_000, 9_600)
    """distinct training puzzles, half of each environment's; `9x9-hard` has 4,814 of them"""
    envs: tuple[str, str] = ("Sudoku9x9-v0", "SudokuHard9x9-v0")
    """environments to train in"""
    channels: int = 24
    """width of the body"""
    seeds: tuple[int, ...] = (0, 1, 2)
    """of the trainings"""
    rounds: tuple[int, ...] = (16, 64, 256, 1024, 4096)
    """of the network when it answers at once"""
    minutes: float = 60.0
    """processor time of each training"""
    iterations: int | None = None
    """length of each training, in place of `minutes`"""
    sets: tuple[str, ...] = ("9x9", "9x9-hard")
    """banks whose test puzzles are played"""

    def run(self, results: Results) -> None:
        """Train and play whatever the file lacks."""
        for number in self.numbers:
            base = {"model": "exact-cover", "channels": self.channels, "distinct": number}
            for seed in self.seeds:
                run, parts = self.run_of(number, seed), PuzzlesConfig(distinct=number // 2)
                made = nine("exact-cover", run, seed, parts)
                body = replace(made.network, channels=self.channels)
                config = replace(made, env=self.envs[0], also=self.envs[1:], network=body)
                key = base | {"seed": seed}
                if self.iterations is None:
                    for_minutes(results, key, config, ExactCoverLearner, self.minutes)
                else:
                    for_iterations(results, key, config, ExactCoverLearner, self.iterations)
            for bank in self.sets:
                self.answer(results, number, base | {"set": bank})

    def run_of(self, number: int, seed: int) -> Path:
        """Return the folder of a training."""
        return self.runs / f"exact-cover-{self.channels}-{number}-{seed}"

    def answer(self, results: Results, number: int, base: Row) -> None:
        """Answer at once, by each network and by the first of them whose answer is a solution."""
        chosen = puzzles.load(base["set"], "test").spread(self.count)
        for rounds in self.rounds:
            key = base | {"seeds": list(self.seeds), "rounds": rounds, "mode": "one-shot"}
            if not results.lacks(key):
                continue
            either, start = np.zeros(len(chosen), np.bool_), time.process_time()
            for seed in self.seeds:
                began = time.process_time()
                solved = evaluate(
                    load(self.run_of(number, seed), "one-shot", rounds), chosen
                ).solved
                either |= solved
                single = base | {"seed": seed, "rounds": rounds, "mode": "one-shot"}
                if results.lacks(single):
                    results.add(single | timed_share(solved, began))
            results.add(key | timed_share(either, start))
        for seed in self.seeds:
            policy = load(self.run_of(number, seed))
            play(results, base | {"seed": seed, "mode": "surest"}, policy, chosen, grades=True)


@dataclass(frozen=True, kw_only=True)
class GuissartFigures(Options):
    """Guissart at 9x9: filling, boosted, with trial and error, and with backtracking."""

    config: GuissartTraining = field(default_factory=GuissartTraining)
    """the training"""
    sets: tuple[str, ...] = ("9x9",)
    """banks whose test puzzles are played"""
    lists: tuple[Path, ...] = ()
    """files of more puzzles"""

    def run(self, results: Results) -> None:
        """Train and play whatever the file lacks."""
        way = "as printed, " if self.config.as_printed else ""
        run = self.runs / f"guissart-{'printed-' * bool(way)}{self.config.env}-{self.seed}"
        config = replace(self.config, run=run, seed=self.seed)
        training = train(config, GuissartLearner)
        networks = training.learner.networks
        stored = [(name, puzzles.load(name, "test")) for name in self.sets]
        for name, found in [*stored, *((path.stem, puzzles.read(path)) for path in self.lists)]:
            chosen = found.spread(self.count)
            key = {"model": "singles, no guess", "set": name}
            if results.lacks(key):
                grades = difficulty.grade(chosen.puzzles, chosen.geometry)
                results.add(key | timed_share(grades <= GRADES.index("hidden singles")))
            for count in range(1, len(networks.fillers) + 1):
                filling = PredictorPolicy(FillingPredictor(networks, count), "one-shot")
                play(results, {"model": f"{way}filling, {count}", "set": name}, filling, chosen)
            key = {"model": f"{way}trial and error, backtracking", "set": name}
            if results.lacks(key):
                start = time.process_time()
                solver = Guissart(networks)
                answers = solver.solve(chosen.puzzles, chosen.geometry)
                solved = board.is_solved(answers, chosen.geometry)
                how = {
                    "filled": solver.filled,
                    "tried": solver.tried,
                    "searched": solver.searched,
                    "suppositions, mean": round(float(solver.assumptions.mean()), 2),
                    "median": float(np.median(solver.assumptions)),
                    "most": int(solver.assumptions.max()),
                    "weights": sum(p.numel() for p in networks.fillers[0].parameters()),
                    "training seconds": round(training.seconds, 1),
                }
                results.add(key | timed_share(solved, start) | how)


def for_minutes(
    results: Results,
    key: Row,
    config: LabelledConfig,
    make_learner: Callable[..., Any],
    minutes: float,
) -> None:
    """Train for so many minutes of processor time: as many iterations as a trial says fit.

    The number is written down, so that a run which is resumed ends as one that was not.
    """
    plan_key = key | {"what": "training", "minutes": minutes}
    plan = results.find(plan_key)
    if plan is None:
        with tempfile.TemporaryDirectory() as folder:
            trial = replace(config, run=Path(folder) / "trial", iterations=3, checkpoint_every=9)
            training = Training(trial, make_learner)
            training.step()  # compiles
            before = training.seconds
            training.step()
            training.step()
            each = (training.seconds - before) / 2
        iterations = max(1, round(60 * minutes / each))
        plan = plan_key | {"iterations": iterations, "seconds an iteration": round(each, 3)}
        results.add(plan)
    length: Row = {"minutes": minutes}
    for_iterations(results, key, config, make_learner, plan["iterations"], length)


def for_iterations(
    results: Results,
    key: Row,
    config: LabelledConfig,
    make_learner: Callable[..., Any],
    iterations: int,
    length: Row | None = None,
) -> None:
    """Train for so many iterations; the row of it says `length`, or how many they were."""
    training = train(replace(config, iterations=iterations), make_learner)
    done = key | {"what": "trained"} | (length or {"iterations": iterations})
    if results.lacks(done):
        weights = sum(tensor.numel() for tensor in training.learner.state().weights.values())
        results.add(done | {"weights": weights, "training seconds": round(training.seconds, 1)})


def nine(name: str, run: Path, seed: int, parts: PuzzlesConfig) -> LabelledConfig:
    """Return the training of a network at 9x9; only its length is left open."""
    common: dict[str, Any] = {"run": run, "seed": seed, "puzzles": parts}
    if name == "exact-cover":
        return ExactCoverTraining(**common, evaluate_every=20)
    common |= {"evaluate_every": 20, "env": "Sudoku9x9-v0"}
    if name == "rrn":
        return RRNTraining(**common)
    if name == "tiny-recursion":
        # As it was measured: before there were one network, halting and averaged weights.
        model = TinyRecursionConfig(networks=2)
        return TinyRecursionTraining(**common, model=model, halting_weight=0.0, average=0.0)
    if name == "cnn":
        return CNNTraining(**common)
    if name != "recurrent-transformer":
        raise ValueError(f"no network is called {name!r} here")
    return RecurrentTransformerTraining(
        **common,
        model=RecurrentTransformerConfig(rounds=32),
        updates=50,
        augment=True,
        optimizer=OptimizerConfig(6e-4, 16, constant_share=0.4),
    )


PARTS = {"nine": EqualTime, "distinct": DistinctPuzzles, "guissart": GuissartFigures}


def main(argv: Sequence[str] | None = None) -> list[Row]:
    return main_of(__file__, PARTS, argv)


if __name__ == "__main__":
    main()
