"""Sampling on Ray: actors that work off tasks, in spite of some that die."""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import gymnasium as gym
import ray
import torch
from gymnasium.envs.registration import EnvSpec
from ray.actor import ActorHandle
from ray.exceptions import ObjectLostError, OutOfMemoryError, RayActorError
from torch import Tensor

from sudoku_gym.plugins import sudoku_specs
from sudoku_learning.training.config import RayConfig
from sudoku_learning.training.learner import SamplingTask, Worker

DEATHS_AN_ACTOR = 3
_LOST = (RayActorError, ObjectLostError, OutOfMemoryError)

_log = logging.getLogger(__name__)
_Sample = TypeVar("_Sample")


class RaySampler(Generic[_Sample]):
    """Keeps a number of actors busy, one task each, and replaces those that die; a `Sampler`.

    An actor gets tasks once it is up, so those that wait for a core or a node delay no other. The
    weights of an iteration go into Ray's object store once, and each node fetches them once.
    `make_worker` runs in an actor's process, so it can be pickled.
    """

    def __init__(self, make_worker: Callable[[], Worker[_Sample]], config: RayConfig) -> None:
        self._make_worker = make_worker
        self._config = config
        self._idle: list[ActorHandle[Any]] = []
        self._awaited: dict[ray.ObjectRef[Any], tuple[ActorHandle[Any], int | None]] = {}
        self._deaths_in_a_row = 0

    def start(self) -> None:
        """Connect to Ray and start the actors, unless they are there; raises as `connect`."""
        if not (self._idle or self._awaited):
            connect(self._config)
            for _ in range(self._config.actors):
                self._start_actor()

    def sample(self, weights: Mapping[str, Tensor], tasks: Sequence[SamplingTask]) -> list[_Sample]:
        """Do the tasks, see `Sampler`.

        A task whose actor died is done again by another one; a result that has arrived is kept.

        Raises:
            RuntimeError: if actors die again and again and no task is finished in between.
            ray.exceptions.RayError: if Ray fails, or a task raised an error of its own.
        """
        self.start()
        try:
            return self._sample(ray.put(dict(weights)), tasks)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the actors; the next tasks start new ones."""
        for actor in {*self._idle, *(actor for actor, _ in self._awaited.values())}:
            ray.kill(actor)
        self._idle.clear()
        self._awaited.clear()
        self._deaths_in_a_row = 0

    def _sample(self, weights: ray.ObjectRef[Any], tasks: Sequence[SamplingTask]) -> list[_Sample]:
        waiting = deque(range(len(tasks)))
        results: dict[int, _Sample] = {}
        while len(results) < len(tasks):
            while self._idle and waiting:
                actor, index = self._idle.pop(), waiting.popleft()
                self._awaited[actor.sample.remote(weights, tasks[index])] = actor, index
            (done,), _ = ray.wait(list(self._awaited))
            actor, task = self._awaited.pop(done)
            try:
                result = ray.get(done)
            except _LOST as error:
                if task is not None:
                    waiting.appendleft(task)
                self._replace(actor, error)
                continue
            self._idle.append(actor)
            if task is not None:
                results[task] = result
                self._deaths_in_a_row = 0
        return [results[index] for index in range(len(tasks))]

    def _start_actor(self) -> None:
        make: Any = ray.remote(num_cpus=1)(_Actor)
        actor = make.remote(self._make_worker, sudoku_specs())
        self._awaited[actor.__ray_ready__.remote()] = actor, None

    def _replace(self, actor: ActorHandle[Any], error: Exception) -> None:
        self._deaths_in_a_row += 1
        if self._deaths_in_a_row >= DEATHS_AN_ACTOR * self._config.actors:
            raise RuntimeError(
                f"{self._deaths_in_a_row} Ray actors died one after another and finished nothing; "
                "if they ran out of memory, use fewer of them or smaller tasks. "
                f"The last one: {error}"
            ) from error
        _log.warning("a Ray actor died; another one replaces it")
        ray.kill(actor)  # one that is merely out of reach must not come back
        self._start_actor()


class _Actor:
    """A worker in a process of its own, on one thread."""

    def __init__(
        self, make_worker: Callable[[], Worker[Any]], specs: Mapping[str, EnvSpec]
    ) -> None:
        # Environments may have been registered in the learner's process alone.
        for name, spec in specs.items():
            gym.registry.setdefault(name, spec)
        torch.set_num_threads(1)
        self._worker = make_worker()

    def sample(self, weights: Mapping[str, Tensor], task: SamplingTask) -> Any:
        return self._worker.sample(weights, task)


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
