"""Sampling in tasks: the same samples in this process and on any number of actors.

An iteration's sampling is split into tasks, each with a seed of its own, and the samples are joined
in the order of the tasks. So they do not depend on the number of actors, the assignment of tasks
to them, or failures of some.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from torch import Tensor

from sudoku_gym.puzzles.sources import Blanks
from sudoku_learning.training.config import RayConfig

_Sample = TypeVar("_Sample")
_Sample_co = TypeVar("_Sample_co", covariant=True)


@dataclass(frozen=True)
class SamplingTask:
    """A share of an iteration's sampling."""

    games: int
    blanks: Blanks
    """numbers of blanks of the puzzles"""
    seed: tuple[int, int]
    """seed of everything random in the task"""
    env: str | None = None
    """another environment than the run's, for learners that draw from several"""


class Worker(Protocol[_Sample_co]):
    """Runs tasks with given weights; on Ray each worker has its own process."""

    def sample(self, weights: Mapping[str, Tensor], task: SamplingTask) -> _Sample_co:
        """Run a task with these weights; all random numbers come from the seed of the task."""
        ...


class Sampler(Protocol[_Sample]):
    """Runs tasks, in this process or on actors."""

    def start(self) -> object:
        """Prepare for sampling; otherwise the first `sample` does."""

    def sample(self, weights: Mapping[str, Tensor], tasks: Sequence[SamplingTask]) -> list[_Sample]:
        """Run the tasks; return their samples in the order of the tasks."""
        ...

    def close(self) -> None:
        """Release resources; it can sample again afterwards."""


def split_games(
    games: int, blanks: Blanks, ray: RayConfig, rng: np.random.Generator, env: str | None = None
) -> list[SamplingTask]:
    """Split an iteration's games into tasks; their seeds come from one number of `rng`."""
    entropy, most = int(rng.integers(2**63)), ray.games_per_task
    return [
        SamplingTask(min(most, games - start), blanks, (entropy, number), env)
        for number, start in enumerate(range(0, games, most))
    ]
