"""Variants of the training of cAlphaZero, from one network and for as many updates each.

    python benchmarks/training_variants.py --out docs/results/calphazero-variants.json

`plain` makes the updates of the second part of the shipped network's training; `perturbed` lets
boards go on from states with noise, `long` lets a board that is not solved stay for twice as many
updates, as the third part did, and `hardest` draws boards of `9x9-hardest` nearly twice as often.
Each is trained with several seeds, and its networks play test puzzles. Rows are a training and a
set of puzzles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
import tyro

from results import Results, Row, command_of, played, some, table
from sudoku_agents.calphazero import loading
from sudoku_agents.expert_iteration.config import ExpertIterationConfig
from sudoku_agents.expert_iteration.learner import ExpertIterationLearner
from sudoku_agents.retry_search import RetryConfig
from sudoku_gym import evaluate, puzzles
from sudoku_learning.networks import FactorGraphConfig
from sudoku_learning.recurrent import RecurrentConfig
from sudoku_learning.training import OptimizerConfig
from supervised_runs import train

ENVS = {  # with their shares of the updates
    "Sudoku9x9-v0": 0.1,
    "SudokuHard9x9-v0": 0.2,
    "SudokuHardest9x9-v0": 0.2,
    "SudokuX9x9-v0": 0.25,
    "SudokuJigsaw9x9-v0": 0.25,
}
PLAIN = RecurrentConfig(updates=150, segments=24)
VARIANTS: dict[str, tuple[RecurrentConfig, dict[str, float]]] = {
    "plain": (PLAIN, ENVS),
    "perturbed": (replace(PLAIN, perturbed=0.15), ENVS),
    "long": (replace(PLAIN, segments=48), ENVS),
    "hardest": (PLAIN, {**ENVS, "Sudoku9x9-v0": 0.02, "SudokuHardest9x9-v0": 0.4}),
}


@dataclass(frozen=True)
class Config:
    """Which variants are trained for how long, and what their networks play."""

    out: Path
    """a JSON file for the figures; what it holds is not trained or played again"""
    variants: tuple[str, ...] = tuple(VARIANTS)
    """which of them"""
    seeds: tuple[int, ...] = (0, 1, 2)
    """of the trainings"""
    weights: Path = loading.PRETRAINED_CALPHAZERO
    """folder of the checkpoint that all begin with"""
    iterations: int = 12
    """of 150 updates each"""
    sets: tuple[str, ...] = ("9x9-hard", "9x9-hardest", "x9x9", "jigsaw9x9")
    """banks, of which test puzzles are played, by the first network too"""
    count: int = 100_000
    """at most so many puzzles of each"""
    rounds: int = 256
    """of the network in each evaluation"""
    restarts: int = 0
    """further starts of boards that have not converged"""
    runs: Path = Path("runs/variants")
    """folder of the trainings, which are resumed"""


def main(argv: Sequence[str] | None = None) -> list[Row]:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    torch.set_num_threads(1)
    results = Results(config.out, command_of(__file__, argv))
    play(results, {"variant": "before", "seed": None}, config.weights, config)
    for seed in config.seeds:
        for name in config.variants:
            key: Row = {"variant": name, "seed": seed, "iterations": config.iterations}
            if all(results.find(key | each) for each in sets(config)):
                continue
            training = train(training_config(name, seed, config), ExpertIterationLearner)
            minutes = {"minutes": round(training.seconds / 60, 1)}
            play(results, key, training.config.run, config, minutes)
    print("", table(results.rows), sep="\n")
    return results.rows


def training_config(name: str, seed: int, config: Config) -> ExpertIterationConfig:
    """Return the configuration of a variant."""
    recurrent, shares = VARIANTS[name]
    return ExpertIterationConfig(
        run=config.runs / f"{name}-{seed}",
        seed=seed,
        iterations=config.iterations,
        env="SudokuHard9x9-v0",
        envs=tuple(shares),
        shares=tuple(shares.values()),
        join_at=0.0,
        games=64,
        pool=1600,
        validation_games=4,
        evaluate_every=config.iterations,
        search=RetryConfig(evaluations=60, threshold=4, propagate=True),
        search_rounds=96,
        optimizer=OptimizerConfig(2e-3, batch_size=48, constant_share=0.3),
        average=0.999,
        recurrent=recurrent,
        weights=config.weights,
        network=FactorGraphConfig(
            32, 16, test_rounds=1024, intersections=True, convergence_margin=1.0
        ),
    )


def sets(config: Config) -> list[Row]:
    """Return the part of a row's key that names the puzzles and how they are played."""
    how = {"starts": 1 + config.restarts, "rounds": config.rounds, "most": config.count}
    return [{"puzzles": name} | how for name in config.sets]


def play(results: Results, key: Row, folder: Path, config: Config, more: Row | None = None) -> None:
    """Let a network play all sets that its rows lack."""
    for each in sets(config):
        if results.find(key | each):
            continue
        policy = loading.load(folder, rounds=config.rounds, restarts=config.restarts)
        result = evaluate(policy, some(puzzles.load(each["puzzles"], "test"), config.count))
        row = key | each | played(result) | {"mean rounds": round(result.mean_rounds or 0)}
        if result.converged_solved is not None:
            row["converged"] = result.converged_solved[1]
        results.add(row | (more or {}))


if __name__ == "__main__":
    main()
