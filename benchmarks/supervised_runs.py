"""What the measurements of supervised networks share: options, training to an end, playing once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
import tyro
from rich.console import Console

from results import Results, Row, command_of, share_of, table
from sudoku_gym import evaluate
from sudoku_gym.policies import Policy
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_learning.training import Training


@dataclass(frozen=True, kw_only=True)
class Options:
    """What every part is told."""

    out: Path | None = None
    """the JSON file of the figures, by default in `runs`; what it holds is not measured again"""
    runs: Path = Path("runs/neural")
    """folder of the training runs, which are resumed"""
    seed: int = 0
    """of the trainings"""
    count: int = 100_000
    """play at most so many puzzles of each set"""
    distinct: int | None = None
    """train on so many puzzles only"""


def main_of(script: str, parts: dict[str, Any], argv: Sequence[str] | None) -> list[Row]:
    """Run the part that the command line names; return all rows of its file."""
    part: Any = tyro.extras.subcommand_cli_from_dict(parts, args=argv)
    torch.set_num_threads(1)
    out = part.out or part.runs / f"{type(part).__name__}.json"
    results = Results(out, command_of(script, argv))
    part.run(results)
    print("", table(results.rows), sep="\n")
    return results.rows


def train(config: Any, make_learner: Callable[..., Any]) -> Training[Any]:
    """Train a run to its end, or what is left of it."""
    exists = (config.run / "config.json").exists()
    training = Training(replace(config, resume=exists), make_learner)
    if not training.limit_met:
        training.run(Console())
    return training


def play(
    results: Results, key: Row, policy: Policy, chosen: PuzzleSet, grades: bool = False
) -> None:
    """Let a policy play a set, all of it and divided by grade."""
    if not results.lacks(key | {"grade": None}):
        return
    start = time.process_time()
    solved = evaluate(policy, chosen).solved
    rows = [key | timed_share(solved, start)]
    for grade, technique in enumerate(GRADES) if grades else ():
        among = chosen.grades == grade
        if among.any():
            rows.append(key | {"grade": technique} | timed_share(solved[among]))
    results.add(*reversed(rows))


def timed_share(solved: Any, start: float | None = None) -> Row:
    """Return how many of the puzzles were solved, and the processor seconds since `start`."""
    row = share_of(solved)
    return row if start is None else row | {"seconds": round(time.process_time() - start, 2)}
