"""Who samples: this process, or as many Ray actors as the configuration asks for."""

from __future__ import annotations

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
        """Start the actors, if there are to be any."""
        self.sampler.start()

    def close(self) -> None:
        """End the actors."""
        self.sampler.close()


class LocalSampler(Generic[_Sample]):
    """Does the tasks one after the other in this process; `make_worker` makes their worker."""

    def __init__(self, make_worker: Callable[[], Worker[_Sample]]) -> None:
        self._worker = make_worker()

    def start(self) -> None:
        """Do nothing: it is ready."""

    def sample(self, weights: Mapping[str, Tensor], tasks: Sequence[SamplingTask]) -> list[_Sample]:
        """Do the tasks, see `Sampler`."""
        return [self._worker.sample(weights, task) for task in tasks]

    def close(self) -> None:
        """Do nothing: it holds nothing to give back."""


def make_sampler(make_worker: Callable[[], Worker[_Sample]], ray: RayConfig) -> Sampler[_Sample]:
    """Sample in this process, or on as many Ray actors as the configuration asks for.

    `make_worker` runs here or in an actor's process; it can be pickled. Raises ModuleNotFoundError
    if actors are asked for and Ray is not installed.
    """
    if not ray.actors:
        return LocalSampler(make_worker)
    with suggest_extra("sampling with ray.actors"):
        from sudoku_learning.training.actors import RaySampler
    return RaySampler(make_worker, ray)
