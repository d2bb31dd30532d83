"""Sampling on Ray: a pool of actors that works off tasks, in spite of actors that die."""

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
from ray.exceptions import ObjectLostError, OutOfMemoryError, RayActorError, RayError, RayTaskError
from torch import Tensor

from sudoku_gym.plugins import sudoku_specs
from sudoku_learning.training.config import RayConfig
from sudoku_learning.training.learner import SamplingTask, Worker

DEATHS_AN_ACTOR = 3
_LOST = (RayActorError, ObjectLostError, OutOfMemoryError)

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_Sample = TypeVar("_Sample")


class ActorPool:
    """Keeps a number of actors busy, one task each, and replaces those that die.

    An actor, started by `make`, gets tasks once it is up, so those that wait for a core or a node
    delay no other. `up` holds the actors that are; `deaths` counts the dead.
    """

    def __init__(self, make: Callable[[], ActorHandle[Any]], size: int) -> None:
        self._make = make
        self._size = size
        self._idle: list[ActorHandle[Any]] = []
        self._awaited: dict[ray.ObjectRef[Any], tuple[ActorHandle[Any], int | None]] = {}
        self._deaths_in_a_row = 0
        self.up: set[ActorHandle[Any]] = set()
        self.deaths = 0
        for _ in range(size):
            self._start()

    def map(
        self,
        submit: Callable[[ActorHandle[Any], _T], ray.ObjectRef[Any]],
        tasks: Sequence[_T],
    ) -> list[Any]:
        """Return the results of all tasks, in their order.

        A task whose actor died is done again by another one; a result that has arrived is kept.

        Raises:
            RuntimeError: if actors die again and again and no task is finished in between.
            ray.exceptions.RayTaskError: if a task raised an error of its own.
        """
        waiting = deque(range(len(tasks)))
        results: dict[int, Any] = {}
        while len(results) < len(tasks):
            while self._idle and waiting:
                actor, index = self._idle.pop(), waiting.popleft()
                self._awaited[submit(actor, tasks[index])] = actor, index
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
            self.up.add(actor)
            if task is not None:
                results[task] = result
                self._deaths_in_a_row = 0
        return [results[index] for index in range(len(tasks))]

    def close(self) -> None:
        """End all actors; the pool can't be used any more."""
        for actor in {*self._idle, *(actor for actor, _ in self._awaited.values())}:
            ray.kill(actor)
        self._idle.clear()
        self._awaited.clear()
        self.up.clear()

    def _start(self) -> None:
        actor = self._make()
        self._awaited[actor.__ray_ready__.remote()] = actor, None

    def _replace(self, actor: ActorHandle[Any], error: Exception) -> None:
        self.up.discard(actor)
        self.deaths += 1
        self._deaths_in_a_row += 1
        if self._deaths_in_a_row >= DEATHS_AN_ACTOR * self._size:
            raise RuntimeError(
                f"{self._deaths_in_a_row} Ray actors died one after another and finished nothing; "
                "if they ran out of memory, use fewer of them or smaller tasks. "
                f"The last one: {error}"
            ) from error
        _log.warning("a Ray actor died; another one replaces it")
        ray.kill(actor)  # one that is merely out of reach must not come back
        self._start()


class RaySampler(Generic[_Sample]):
    """Lets actors do the tasks; a `Sampler`.

    The weights of an iteration go into Ray's object store once, and each node fetches them once.
    `make_worker` runs in an actor's process, so it can be pickled; `pool` holds the actors, if any.
    """

    def __init__(self, make_worker: Callable[[], Worker[_Sample]], config: RayConfig) -> None:
        self._make_worker = make_worker
        self._config = config
        self.pool: ActorPool | None = None

    def start(self) -> ActorPool:
        """Connect to Ray and start the actors, unless they are there; raises as `connect`."""
        if self.pool is None:
            connect(self._config)
            actor: Any = ray.remote(num_cpus=1)(_Actor)
            specs = sudoku_specs()  # environments may have been registered in this process
            self.pool = ActorPool(
                lambda: actor.remote(self._make_worker, specs), self._config.actors
            )
        return self.pool

    def sample(self, weights: Mapping[str, Tensor], tasks: Sequence[SamplingTask]) -> list[_Sample]:
        """Do the tasks, see `Sampler`; raises as `start` and `ActorPool.map`."""
        pool = self.start()
        kept = ray.put(dict(weights))
        try:
            return pool.map(lambda actor, task: actor.sample.remote(kept, task), tasks)
        except RayTaskError:  # an error of the learner's own
            self.close()
            raise
        except RayError as error:
            self.close()
            raise RuntimeError(
                f"Ray has failed ({error}): start the cluster again, and go on from the latest "
                "checkpoint with --resume"
            ) from error
        except BaseException:
            self.close()
            raise

    @property
    def complete(self) -> bool:
        """Whether every actor is up; those that are do the tasks until then."""
        return self.pool is not None and len(self.pool.up) == self._config.actors

    def close(self) -> None:
        """End the actors; the next tasks start new ones."""
        if self.pool is not None:
            self.pool.close()
        self.pool = None


class _Actor:
    """A worker in a process of its own, on one thread."""

    def __init__(
        self, make_worker: Callable[[], Worker[Any]], specs: Mapping[str, EnvSpec]
    ) -> None:
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
