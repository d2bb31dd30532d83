"""A pool of Ray actors that works off tasks, in spite of actors that die."""

from __future__ import annotations

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import ray
from ray.actor import ActorHandle
from ray.exceptions import ObjectLostError, OutOfMemoryError, RayActorError

DEATHS_AN_ACTOR = 3
_LOST = (RayActorError, ObjectLostError, OutOfMemoryError)

_log = logging.getLogger(__name__)
T = TypeVar("T")


class Place(NamedTuple):
    """Where an actor lives."""

    pid: int
    node: str


class ActorPool:
    """Keeps a number of actors busy, one task each, and replaces those that die.

    An actor gets tasks once it is up. So actors that wait for a free core, or for the node that
    replaces a lost one, hold nobody up.

    Args:
        make: starts an actor.
        size: how many actors there are.

    Attributes:
        places: where the actors that are up live.
        deaths: how many actors died so far.
    """

    def __init__(self, make: Callable[[], ActorHandle[Any]], size: int) -> None:
        self._make = make
        self._size = size
        self._idle: list[ActorHandle[Any]] = []
        self._awaited: dict[ray.ObjectRef[Any], tuple[ActorHandle[Any], int | None]] = {}
        self._deaths_in_a_row = 0
        self.places: dict[ActorHandle[Any], Place] = {}
        self.deaths = 0
        for _ in range(size):
            self._start()

    def map(
        self,
        submit: Callable[[ActorHandle[Any], T], ray.ObjectRef[Any]],
        tasks: Sequence[T],
    ) -> list[Any]:
        """Do all tasks.

        A task whose actor died is done again by another one; a result that has arrived is kept.

        Args:
            submit: hands a task to an actor.
            tasks: what is to be done.

        Returns:
            The results, in the order of the tasks.

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
            if task is None:
                self.places[actor] = result
            else:
                results[task] = result
                self._deaths_in_a_row = 0
        return [results[index] for index in range(len(tasks))]

    def close(self) -> None:
        """End all actors; the pool can't be used any more."""
        for actor in {*self._idle, *(actor for actor, _ in self._awaited.values())}:
            ray.kill(actor)
        self._idle.clear()
        self._awaited.clear()
        self.places.clear()

    def _start(self) -> None:
        actor = self._make()
        self._awaited[actor.__ray_call__.remote(_place)] = actor, None

    def _replace(self, actor: ActorHandle[Any], error: Exception) -> None:
        place = self.places.pop(actor, None)
        self.deaths += 1
        self._deaths_in_a_row += 1
        if self._deaths_in_a_row >= DEATHS_AN_ACTOR * self._size:
            raise RuntimeError(
                f"{self._deaths_in_a_row} Ray actors died one after another and finished nothing; "
                "if they ran out of memory, use fewer of them or smaller tasks. "
                f"The last one: {error}"
            ) from error
        where = f"process {place.pid} on {place.node}" if place else "before it was up"
        _log.warning("a Ray actor died (%s); another one takes its place", where)
        ray.kill(actor)  # one that is merely out of reach must not come back
        self._start()


def _place(actor: object) -> Place:
    return Place(os.getpid(), socket.gethostname())
