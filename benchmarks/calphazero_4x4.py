"""4x4 by cAlphaZero: how long training takes until every minimal puzzle is solved without search.

For each seed a network with random weights plays first, as the floor; then expert iteration trains
it on the training orbits, and it plays all puzzles of the test orbits and all that there are: one
digit at a time, greedily, without search.

    python benchmarks/calphazero_4x4.py --out docs/results/calphazero-4x4.json
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import tyro
from rich.console import Console

from results import command_of, write_rows
from sudoku_agents.expert_iteration.config import ExpertIterationConfig
from sudoku_agents.expert_iteration.learner import ExpertIterationLearner
from sudoku_curricula.schedules import ConstantConfig
from sudoku_gym import evaluate, puzzles
from sudoku_gym.policies import Policy
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_learning.networks import FactorGraphConfig
from sudoku_learning.recurrent import RecurrentConfig
from sudoku_learning.training import Training


@dataclass(frozen=True)
class Config:
    """What to train, and what to play."""

    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    """of the trainings"""
    iterations: int = 8
    """of each training"""
    updates: int = 60
    """of the network, an iteration"""
    channels: int = 16
    """of the network"""
    every: int = 1
    """play only every so many-th puzzle"""
    floor_every: int = 40
    """likewise, before training"""
    out: Path | None = None
    """a JSON file for the figures"""


def main(argv: Sequence[str] | None = None) -> list[dict[str, Any]]:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    torch.set_num_threads(1)
    sets = {"test orbits": puzzles.load("4x4", "test"), "all": puzzles.load("4x4")}
    sets = {name: found[:: config.every] for name, found in sets.items()}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in config.seeds:
            training = Training(
                training_config(config, seed, Path(folder) / str(seed)), ExpertIterationLearner
            )
            few = sets["test orbits"][:: config.floor_every]
            row = {"seed": seed, "untrained": figures(training.learner.policy(), few)}
            start = time.process_time()
            training.run(Console(quiet=True))
            row["training seconds"] = round(time.process_time() - start, 1)
            for name, found in sets.items():
                row[name] = figures(training.learner.policy(), found)
            rows.append(row)
            print(line(row), flush=True)
    write_rows(config.out, command_of(__file__, argv), rows)
    return rows


def training_config(config: Config, seed: int, run: Path) -> ExpertIterationConfig:
    """Return a training on 4x4 alone, whose held-out games are few: they count as training."""
    return ExpertIterationConfig(
        run=run,
        seed=seed,
        env="Sudoku4x4-v0",
        envs=("Sudoku4x4-v0",),
        shares=(1.0,),
        iterations=config.iterations,
        games=64,
        validation_games=64,
        evaluate_every=config.iterations,
        recurrent=RecurrentConfig(updates=config.updates),
        network=FactorGraphConfig(
            config.channels, 8, test_rounds=64, intersections=True, convergence_margin=1.0
        ),
        curriculum=ConstantConfig(blanks=12),
    )


def figures(policy: Policy, chosen: PuzzleSet) -> dict[str, Any]:
    """Return how much a policy solves: whole orbits or nothing, up to rounding, if equivariant."""
    start = time.process_time()
    found = evaluate(policy, chosen)
    return {
        "count": len(chosen),
        "solved": int(found.solved.sum()),
        "orbits solved": found.orbits_solved,
        "seconds": round(time.process_time() - start, 2),
    }


def line(row: dict[str, Any]) -> str:
    parts = [
        f"{name} {found['solved']:,} of {found['count']:,} (orbits {found['orbits solved']})"
        for name, found in row.items()
        if isinstance(found, dict)
    ]
    return f"seed {row['seed']}: {row['training seconds']} s; " + "; ".join(parts)


if __name__ == "__main__":
    main()
