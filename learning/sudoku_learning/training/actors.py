"""Sampling on Ray: as many tasks at a time as there are actors, in spite of some that die."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from uuid import uuid4

import gymnasium as gym
import ray
import torch
from torch import Tensor

from sudoku_gym.plugins import sudoku_specs
from sudoku_learning.training.config import RayConfig
from sudoku_learning.training.learner import Sampler, SamplingTask, Worker

DEATHS_A_TASK = 3
"""So often a task may lose its process and is done again by another one."""

_Sample = TypeVar("_Sample")
_workers: dict[str, Worker[Any]] = {}  # of this process of Ray: the latest sampler's


class RaySampler(Sampler[_Sample]):
    """Does tasks in processes of Ray, a core each; a `Sampler`.

    The weights of an iteration go into Ray's object store once, and each node fetches them once. A
    process that is lost costs the tasks it had, which Ray gives to others. `make_worker` runs once
    in each process, so it can be pickled.
    """

    def __init__(self, make_worker: Callable[[], Worker[_Sample]], config: RayConfig) -> None:
        self._make_worker = make_worker
        self._config = config
        self._name = uuid4().hex
        self._run: Any = ray.remote(num_cpus=1, max_retries=DEATHS_A_TASK)(_sample)

    def sample(self, weights: Mapping[str, Tensor], tasks: Sequence[SamplingTask]) -> list[_Sample]:
        """Do the tasks, see `Sampler`; raises as `connect`.

        A `RayError` says that a task lost its processes again and again, or failed itself.
        """
        connect(self._config)
        # Environments may have been registered in the learner's process alone.
        given = ray.put((self._name, self._make_worker, sudoku_specs())), ray.put(dict(weights))
        found, running = list[ray.ObjectRef[_Sample]](), list[ray.ObjectRef[_Sample]]()
        for task in tasks:
            if len(running) == self._config.actors:
                done, running = ray.wait(running)
                ray.get(done)  # raises the error of one that failed
            found.append(self._run.remote(*given, task))
            running.append(found[-1])
        samples: list[_Sample] = ray.get(found)
        return samples


def _sample(setting: Any, weights: Mapping[str, Tensor], task: SamplingTask) -> Any:
    """Do a task in a process of Ray, on one thread, with the worker that it has or makes."""
    name, make_worker, specs = setting
    if name not in _workers:
        _workers.clear()
        for env, spec in specs.items():
            gym.registry.setdefault(env, spec)
        torch.set_num_threads(1)
        _workers[name] = make_worker()
    return _workers[name].sample(weights, task)


def connect(config: RayConfig) -> None:
    """Join a cluster, or start Ray here with a core for each actor, unless Ray is in use already.

    Raises:
        ConnectionError: if no cluster answers at the address.
    """
    if ray.is_initialized():
        return
    if address := config.address or os.environ.get("RAY_ADDRESS"):
        ray.init(address=address)
    else:
        ray.init(address="local", num_cpus=config.actors, include_dashboard=False)
