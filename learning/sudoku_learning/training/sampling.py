"""Sampling in tasks: the same samples whoever takes them, here or on any number of actors.

An iteration's sampling is split into tasks, each with a seed of its own, and the samples are joined
in the order of the tasks. So they do not depend on how many actors there are, on which of them
does what, or on whether some die.
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
    """of their puzzles"""
    seed: tuple[int, int]
    """of everything random in them"""
    env: str | None = None
    """another environment than the run's, for learners that draw from several"""


class Worker(Protocol[_Sample_co]):
    """Takes samples with weights it is given; on Ray it lives in a process of its own."""

    def sample(self, weights: Mapping[str, Tensor], task: SamplingTask) -> _Sample_co:
        """Do a task with these weights; all chance comes from the task's seed."""
        ...


class Sampler(Protocol[_Sample]):
    """Has tasks done, wherever that may be."""

    def start(self) -> object:
        """Get ready; the first tasks do it otherwise."""

    def sample(self, weights: Mapping[str, Tensor], tasks: Sequence[SamplingTask]) -> list[_Sample]:
        """Do the tasks; what they bring, in their order."""
        ...

    def close(self) -> None:
        """Give back what it holds; it can sample again."""


def split_games(
    games: int, blanks: Blanks, ray: RayConfig, rng: np.random.Generator, env: str | None = None
) -> list[SamplingTask]:
    """Split an iteration's games into tasks; their seeds come from one number of `rng`."""
    entropy, most = int(rng.integers(2**63)), ray.games_per_task
    return [
        SamplingTask(min(most, games - start), blanks, (entropy, number), env)
        for number, start in enumerate(range(0, games, most))
    ]
