"""Who samples: this process, or as many Ray actors as the configuration asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sudoku_gym.plugins import naming_the_extra
from sudoku_learning.training.config import RayConfig
from sudoku_learning.training.sampling import LocalSampler, Sampler, Worker

_Sample = TypeVar("_Sample")


def make_sampler(make_worker: Callable[[], Worker[_Sample]], ray: RayConfig) -> Sampler[_Sample]:
    """Sample in this process, or on as many Ray actors as the configuration asks for.

    Args:
        make_worker: makes a worker, here or in an actor's process; it can be pickled.
        ray: how many actors, and where.

    Raises:
        ModuleNotFoundError: if actors are asked for and Ray is not installed.
    """
    if not ray.actors:
        return LocalSampler(make_worker)
    with naming_the_extra("sampling with ray.actors"):
        from sudoku_learning.training.actors import RaySampler
    return RaySampler(make_worker, ray)
