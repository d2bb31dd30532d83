"""Sampling in tasks: the same samples in this process and on any number of Ray actors.

An iteration's sampling is split into tasks, each with a seed of its own, and the samples are joined
in the order of the tasks. So they do not depend on the number of actors, the assignment of tasks
to them, or failures of some.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.plugins import suggest_extra
from sudoku_gym.puzzles.sources import Blanks
from sudoku_learning.networks import Network
from sudoku_learning.training.config import RayConfig
from sudoku_learning.training.learner import Learner, LearnerState, Sampler, Worker
from sudoku_learning.training.learner import SamplingTask as SamplingTask
from sudoku_learning.training.optimizer import EMA, Optimizer

_Sample = TypeVar("_Sample")


class Batch:
    """A dataclass of arrays, one row an example; fields may be batches, or counts of the whole."""

    @classmethod
    def concatenate(cls, batches: Sequence[Self]) -> Self:
        """Return at least one batch as one: arrays row after row, counts summed."""
        return cls(*(_concatenate(column) for column in zip(*map(_columns, batches), strict=True)))

    def __len__(self) -> int:
        return len(_columns(self)[0])

    def __getitem__(self, index: NDArray[Any] | slice) -> Self:
        """Return some of the examples, of a batch without counts."""
        return type(self)(*(column[index] for column in _columns(self)))


def _columns(batch: Any) -> list[Any]:
    return [getattr(batch, field.name) for field in fields(batch)]


def _concatenate(column: Sequence[Any]) -> Any:
    if isinstance(column[0], int):
        return sum(column)
    if isinstance(column[0], np.ndarray):
        return np.concatenate(column)
    return type(column[0]).concatenate(column)


def split_games(
    games: int, blanks: Blanks, ray: RayConfig, rng: np.random.Generator, env: str | None = None
) -> list[SamplingTask]:
    """Split an iteration's games into tasks; their seeds come from one number of `rng`."""
    entropy, most = int(rng.integers(2**63)), ray.games_per_task
    return [
        SamplingTask(min(most, games - start), blanks, (entropy, number), env)
        for number, start in enumerate(range(0, games, most))
    ]


def make_sampler(make_worker: Callable[[], Worker[_Sample]], ray: RayConfig) -> Sampler[_Sample]:
    """Sample in this process, or on `ray.actors` Ray actors.

    `make_worker` runs here or in an actor's process; it can be pickled. Raises ModuleNotFoundError
    if actors are asked for and Ray is not installed.
    """
    if not ray.actors:
        return Sampler(make_worker)
    with suggest_extra("sampling with ray.actors"):
        from sudoku_learning.training.actors import RaySampler
    return RaySampler(make_worker, ray)


class SamplingLearner(Learner):
    """A learner whose samples are drawn with its network, and kept in a replay."""

    network: Network  # under training
    optimizer: Optimizer
    average: EMA[Network] | None = None
    replay: Any  # with `arrays()` and `restore(arrays)`, as of `recurrent.LabelPool`
    sampler: Sampler[Any]

    @property
    def played(self) -> Network:
        """The network that samples and plays: the average of the weights, if there is one."""
        return self.average.network if self.average else self.network

    @property
    def trained(self) -> Optimizer | EMA[Network]:
        """What a checkpoint keeps of the training of `played`."""
        return self.average or self.optimizer

    def sample(self, games: int, blanks: Blanks, ray: RayConfig, rng: np.random.Generator) -> Any:
        """Return the joined samples of an iteration's games, see `split_games`."""
        tasks = split_games(games, blanks, ray, rng)
        samples = self.sampler.sample(self.played.state_dict(), tasks)
        return type(samples[0]).concatenate(samples)

    def state(self) -> LearnerState:
        """Return weights, optimizer and replay."""
        return replace(self.trained.state(), arrays=self.replay.arrays())

    def restore(self, state: LearnerState) -> None:
        """Restore the state of a learner with the same configuration."""
        self.trained.restore(state)
        self.replay.restore(state.arrays)
