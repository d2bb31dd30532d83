"""Samplers: this process, or the number of Ray actors that the configuration sets."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from torch import Tensor

from sudoku_gym.plugins import suggest_extra
from sudoku_learning.training.config import RayConfig
from sudoku_learning.training.learner import Learner
from sudoku_learning.training.sampling import Sampler, SamplingTask, Worker

_Sample = TypeVar("_Sample")


class SamplingLearner(Learner):
    """A learner with a sampler, which it starts and closes."""

    sampler: Sampler[Any]

    def start(self) -> None:
        """Start the actors, if any."""
        self.sampler.start()

    def close(self) -> None:
        """End the actors."""
        self.sampler.close()


class LocalSampler(Generic[_Sample]):
    """Runs the tasks one by one in this process, with the worker that `make_worker` makes."""

    def __init__(self, make_worker: Callable[[], Worker[_Sample]]) -> None:
        self._worker = make_worker()

    def start(self) -> None:
        """Do nothing: no actors."""

    def sample(self, weights: Mapping[str, Tensor], tasks: Sequence[SamplingTask]) -> list[_Sample]:
        """Run the tasks, see `Sampler`."""
        return [self._worker.sample(weights, task) for task in tasks]

    def close(self) -> None:
        """Do nothing: no actors."""


def make_sampler(make_worker: Callable[[], Worker[_Sample]], ray: RayConfig) -> Sampler[_Sample]:
    """Sample in this process, or on `ray.actors` Ray actors.

    `make_worker` runs here or in an actor's process; it can be pickled. Raises ModuleNotFoundError
    if actors are asked for and Ray is not installed.
    """
    if not ray.actors:
        return LocalSampler(make_worker)
    # Else Ray, once imported, sees where uv has started the command, and puts the working folder
    # first in the path of its workers.
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    with suggest_extra("sampling with ray.actors"):
        from sudoku_learning.training.actors import RaySampler
    return RaySampler(make_worker, ray)
