"""Processes that play cells of the leaderboard side by side, one thread each.

A policy that comes back too late is stopped by a timer that counts the processor time of its
process, where the system has one (POSIX); a process that dies takes nothing with it but the cell
it was at.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, TypeAlias

from sudoku_gym.evaluation.leaderboard import games
from sudoku_gym.evaluation.leaderboard.fixed_sets import FixedSet
from sudoku_gym.evaluation.leaderboard.standings import Played

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
_START = 120.0  # seconds of processor time to import and compile what a policy needs
_GRACE = 15.0  # seconds beyond a budget, for the rules of the games
_WAIT = 5.0  # seconds that a process has to end


@dataclass(frozen=True)
class Task:
    """What a process is asked for: the games of a cell, or the times of its puzzles.

    Attributes:
        policy: its name.
        fixed: the set.
        seed: of the choice of puzzles and of the policy.
        budget: processor time in seconds.
        run: the number of the present run.
        timing: measure times, do not count the games.
    """

    policy: str
    fixed: FixedSet
    seed: int
    budget: float
    run: int
    timing: bool = False


Times: TypeAlias = tuple[float, ...]
Answer: TypeAlias = Played | Times | None  # None: the process died


def perform(
    tasks: Iterable[Task], jobs: int, *, on_one_core: bool = False
) -> Iterator[tuple[Task, Answer]]:
    """Give tasks to processes, and yield each as it is done.

    Args:
        tasks: in the order in which they are begun.
        jobs: how many processes.
        on_one_core: bind each process to one core, where the system can do that.

    Yields:
        Each task with its answer, None if its process died: killed by hand or for its memory.
    """
    left = deque(tasks)
    first = [_Worker(left.popleft(), on_one_core) for _ in range(min(jobs, len(left)))]
    busy: dict[Any, _Worker] = {worker.pipe: worker for worker in first}
    try:
        while busy:
            for pipe in wait(list(busy)):
                worker = busy[pipe]
                answer = worker.hear()
                if answer is _NOT_YET:
                    continue
                yield worker.task, answer
                if worker.is_alive and left:
                    worker.begin(left.popleft())
                    continue
                del busy[pipe]
                worker.end()
                if left:
                    worker = _Worker(left.popleft(), on_one_core)
                    busy[worker.pipe] = worker
    finally:
        for worker in busy.values():
            worker.end(at_once=True)


_NOT_YET: Any = object()


class _Worker:
    """A process, its end of the pipe, and what it is doing."""

    def __init__(self, task: Task, on_one_core: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.is_alive = True
        self._process = context.Process(target=_work, args=(theirs, on_one_core), daemon=True)
        with _one_thread():
            self._process.start()
        theirs.close()
        self.begin(task)

    def begin(self, task: Task) -> None:
        """Hand a task over."""
        self.task = task
        self._so_far: Played | None = None
        with suppress(OSError):  # it died; the next message tells
            self.pipe.send(task)

    def hear(self) -> Answer:
        """Return the answer, or `_NOT_YET` where the message only tells how far it is."""
        try:
            is_done, said = self.pipe.recv()
        except (EOFError, OSError):
            return self._last_words()
        if is_done:
            return said
        self._so_far = said
        return _NOT_YET

    def end(self, at_once: bool = False) -> None:
        """Let the process end."""
        self.pipe.close()
        if at_once:
            self._process.kill()
        self._process.join(_WAIT)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()

    def _last_words(self) -> Answer:
        """Return what is known of the task of a process that is gone."""
        self.is_alive = False
        self._process.join()
        timer = getattr(signal, "SIGPROF", None)
        if timer is None or self._process.exitcode != -timer:
            return None
        if self.task.timing:
            return ()
        return self._so_far or games.unfinished(self.task.budget, self.task.run)


def _work(pipe: Connection, on_one_core: bool) -> None:
    """Do what comes through the pipe until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    logging.disable(logging.WARNING)  # of solvers that find nothing
    if on_one_core and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            task: Task = pipe.recv()
            _set_timer(_START)
            games.warm_up(task.policy)
            _set_timer(task.budget + _GRACE)
            answer = _do(task, pipe)
            _set_timer(0)
            pipe.send((True, answer))


def _do(task: Task, pipe: Connection) -> Played | Times:
    puzzles = task.fixed.load(task.seed)
    if task.timing:
        return games.time_puzzles(task.policy, puzzles, seed=task.seed, budget=task.budget)

    def tell(so_far: Played) -> None:
        pipe.send((False, so_far))

    return games.play(
        task.policy,
        puzzles,
        seed=task.seed,
        budget=task.budget,
        run=task.run,
        on_progress=tell,
    )


def _set_timer(seconds: float) -> None:
    """Let the system end this process after so much processor time; 0 for never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Tell libraries of processes that are started here to use one thread."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
