"""Processes that play cells of the leaderboard side by side, one thread each.

A policy that takes too long is stopped by a timer of the processor time of its process, on POSIX
systems; a process that dies loses only the cell it was playing.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any, TypeAlias

from sudoku_gym.evaluation.leaderboard import cells
from sudoku_gym.evaluation.leaderboard.cells import CellTask
from sudoku_gym.evaluation.leaderboard.results import LeaderboardCell

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
_START_SECONDS = 120.0  # processor time to import and compile what a policy needs
_EXTRA_SECONDS = 15.0  # beyond a budget, for the rules of the games
_JOIN_SECONDS = 5.0

CellResult: TypeAlias = LeaderboardCell | tuple[float, ...] | None
"""A played cell, the times of one, or None if the process died."""


def perform(tasks: Iterable[CellTask], jobs: int) -> Iterator[tuple[CellTask, CellResult]]:
    """Distribute tasks over `jobs` processes; yield each task with its result when done."""
    left = deque(tasks)
    first = [_Worker(left.popleft()) for _ in range(min(jobs, len(left)))]
    busy: dict[Any, _Worker] = {worker.pipe: worker for worker in first}
    try:
        while busy:
            for pipe in wait(list(busy)):
                worker = busy[pipe]
                result = worker.receive()
                if result is _PROGRESS:
                    continue
                yield worker.task, result
                if worker.is_alive and left:
                    worker.start(left.popleft())
                    continue
                del busy[pipe]
                worker.end()
                if left:
                    worker = _Worker(left.popleft())
                    busy[worker.pipe] = worker
    finally:
        for worker in busy.values():
            worker.end(at_once=True)


_PROGRESS: Any = object()


class _Worker:
    """A process, the local end of its pipe, and its current task."""

    def __init__(self, task: CellTask) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.is_alive = True
        self._process = context.Process(target=_work, args=(theirs,), daemon=True)
        with _one_thread():
            self._process.start()
        theirs.close()
        self.start(task)

    def start(self, task: CellTask) -> None:
        self.task = task
        self._latest: LeaderboardCell | None = None
        with suppress(OSError):  # the process died; the next `receive` handles it
            self.pipe.send(task)

    def receive(self) -> CellResult:
        """Return the result, or `_PROGRESS` where the message only reports progress."""
        try:
            is_done, result = self.pipe.recv()
        except (EOFError, OSError):
            return self._result_of_the_dead()
        if is_done:
            return result
        self._latest = result
        return _PROGRESS

    def end(self, at_once: bool = False) -> None:
        self.pipe.close()
        self._process.join(0 if at_once else _JOIN_SECONDS)
        self._process.kill()
        self._process.join()
        self._process.close()

    def _result_of_the_dead(self) -> CellResult:
        self.is_alive = False
        self._process.join()
        timer = getattr(signal, "SIGPROF", None)
        if timer is None or self._process.exitcode != -timer:
            return None
        return () if self.task.timing else self._latest or cells.unfinished(self.task)


def _work(pipe: Connection) -> None:
    """Perform the tasks that come through the pipe until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    logging.disable(logging.WARNING)  # of solvers that find nothing
    with suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            task: CellTask = pipe.recv()
            if task.timing and hasattr(os, "sched_setaffinity"):  # on one core
                os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            _set_timer(_START_SECONDS)
            cells.warm_up(task.policy)
            _set_timer(task.budget + _EXTRA_SECONDS)
            result = run_task(task, pipe)
            _set_timer(0)
            pipe.send((True, result))


def run_task(task: CellTask, pipe: Connection) -> CellResult:
    """Play or time a cell; progress goes through the pipe."""
    if task.timing:
        return cells.time_cell(task)
    return cells.play_cell(task, lambda cell: pipe.send((False, cell)))


def _set_timer(seconds: float) -> None:
    """Let the system end this process after so much processor time; 0 for never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let the libraries of processes that are started here use one thread."""
    before = {name: os.environ[name] for name in _THREADS if name in os.environ}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name in _THREADS:
            del os.environ[name]
        os.environ.update(before)
