"""Cells of the leaderboard side by side, each in a process of its own, with one thread.

A policy that takes too long is stopped by a timer of the processor time of its process, on POSIX
systems; a process that dies loses its cell.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any
from unittest.mock import patch

from sudoku_gym.evaluation.leaderboard import cells
from sudoku_gym.evaluation.leaderboard.cells import CellTask
from sudoku_gym.evaluation.leaderboard.results import LeaderboardCell

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
_EXTRA_SECONDS = 120.0  # processor time beyond a limit: to import, to compile, to apply the rules
_JOIN_SECONDS = 5.0


def perform(
    tasks: Iterable[CellTask], jobs: int
) -> Iterator[tuple[CellTask, LeaderboardCell | None]]:
    """Perform tasks in `jobs` processes at a time; yield each when done, None if it died."""
    waiting = deque(tasks)
    pipe: Any
    running: dict[Any, tuple[CellTask, Any]] = {}  # tasks and processes by their pipes
    latest: dict[Any, LeaderboardCell] = {}
    context: Any = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
    context.set_forkserver_preload([cells.__name__])  # saves half of the time to start
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                task = waiting.popleft()
                pipe, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_work, args=(task, theirs), daemon=True)
                with patch.dict(os.environ, dict.fromkeys(_THREADS, "1")):
                    process.start()
                theirs.close()
                running[pipe], latest[pipe] = (task, process), task.cell
            for pipe in wait(list(running)):
                try:
                    latest[pipe] = pipe.recv()
                except (EOFError, OSError):
                    task, process = running.pop(pipe)
                    yield task, _last_state(process, task, latest[pipe])
    finally:
        for _, process in running.values():
            process.kill()


def _last_state(process: Any, task: CellTask, cell: LeaderboardCell) -> LeaderboardCell | None:
    """End a process; return its cell, or None if it died."""
    process.join(_JOIN_SECONDS)
    status = process.exitcode  # None: threads that the policy has left keep it alive
    process.kill()
    if status == -getattr(signal, "SIGPROF", 0):
        return cells.out_of_time(cell, task.limit)
    return cell if status in (None, 0) else None


def _work(task: CellTask, pipe: Connection) -> None:
    """Perform a task, and send every state of its cell."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    logging.disable(logging.WARNING)  # of solvers that find nothing
    if task.cell.timing and hasattr(os, "sched_setaffinity"):  # on one core
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if hasattr(signal, "setitimer"):  # the system ends this process then
        signal.setitimer(signal.ITIMER_PROF, task.limit + _EXTRA_SECONDS)
    with pipe, suppress(BrokenPipeError):  # the parent is gone
        for cell in cells.perform_task(task):
            pipe.send(cell)
