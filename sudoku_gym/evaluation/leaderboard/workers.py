"""Cells of the leaderboard side by side: a process for the games of each, one for its policy.

Each has one thread. A process that dies loses its cell.
"""

from __future__ import annotations

import atexit
import logging
import multiprocessing
import os
import signal
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Thread
from typing import Any, TypeAlias

from sudoku_gym.evaluation.leaderboard import cells
from sudoku_gym.evaluation.leaderboard.cells import CellTask
from sudoku_gym.evaluation.leaderboard.listing import other_lists, own_rows
from sudoku_gym.evaluation.leaderboard.players import OutOfTimeError, RemotePolicy, serve_policy
from sudoku_gym.evaluation.leaderboard.results import LeaderboardCell
from sudoku_gym.plugins import LEADERBOARD, add_import_folder, is_own_module
from sudoku_gym.policies.processes import (
    SAFE_PATH,
    end_all_below,
    has_ended,
    keep_alone,
    keep_orphans,
    kill_group_left_by,
    kill_with_all_below,
    start_process,
    unblock_interrupts,
    wait_for_end,
)
from sudoku_gym.policies.working_folder import module_of
from sudoku_gym.storage.reading import error_context

# Each may set another number; that of numba can't be raised later, and our kernels have one thread.
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_ENVIRONMENT = dict.fromkeys(_THREADS, "1")  # of the processes that are started
_PRELOAD = "sudoku_gym.evaluation.leaderboard.preload"  # a text: it imports torch
_JOIN_SECONDS = 5.0
_SECONDS_TO_END = 1.0  # in which a policy's process may clean up
_LONGEST_FOLDER = 70  # letters; multiprocessing adds 32, and systems take 104 or 108

Description: TypeAlias = dict[str, Any] | ModuleNotFoundError


def perform(
    tasks: Iterable[CellTask], jobs: int
) -> Iterator[tuple[CellTask, LeaderboardCell | str]]:
    """Perform tasks in `jobs` processes at a time; yield each when done, or why it is lost.

    Policies of one module of another package play one after the other: they may hold something of
    which there is one, as a port, or talk to a program by files.
    """
    waiting = deque(tasks)
    pipe: Any
    running: dict[Any, tuple[CellTask, Any, Any]] = {}  # by the pipe of the games: its processes
    latest: dict[Any, LeaderboardCell | str] = {}
    context = _context()
    try:
        while waiting or running:
            while len(running) < jobs and (task := _taken(waiting, running.values())):
                pipe, theirs = context.Pipe(duplex=False)
                player, policy = _start_player(context)
                arguments = (task, theirs, policy, player.pid)
                process = context.Process(target=_work, args=arguments, daemon=True)
                start_process(process, _ENVIRONMENT)
                theirs.close()
                policy.close()
                running[pipe], latest[pipe] = (task, process, player), task.cell
            for pipe in wait(list(running)):
                try:
                    latest[pipe] = pipe.recv()
                except (EOFError, OSError):
                    task, process, player = running.pop(pipe)
                    _stop_player(player)
                    process.join(_JOIN_SECONDS)
                    process.kill()
                    yield task, latest[pipe] if process.exitcode == 0 else "its process died"
    finally:
        for _, process, player in running.values():
            process.kill()
            _stop_player(player)


def _taken(
    waiting: deque[CellTask], running: Iterable[tuple[CellTask, Any, Any]]
) -> CellTask | None:
    """Take the first task that may begin out of those that wait; None if there is none."""
    busy = {module_of(task.policy) for task, _, _ in running}
    for place, task in enumerate(waiting):
        module = module_of(task.policy)
        if module not in busy or is_own_module(module):
            del waiting[place]
            return task
    return None


def describe_policies(
    policies: Iterable[str], limit: float
) -> tuple[dict[str, Description | ValueError], dict[str, str]]:
    """Describe policies in a process of its own, see `RemotePolicy.describe`.

    Returns:
        What is said of each, or the error of those that can't be made or need an extra; and, of the
        others, what became of the process that was to load them.
    """
    found, lost = dict[str, Description | ValueError](), dict[str, str]()
    player, pipe, guard = _start_guarded_player()
    try:
        for policy in policies:
            try:
                found[policy] = RemotePolicy(pipe, player.pid, limit).load(policy)
            except (ModuleNotFoundError, ValueError) as error:
                found[policy] = error
            except (EOFError, OutOfTimeError) as error:
                problem = f"took more than {error}" if str(error) else "ended when it was loaded"
                lost[policy] = f"its process {problem}"
                _stop_player(player, guard)  # the others need another one
                player, pipe, guard = _start_guarded_player()
        pipe.close()
        wait_for_end(player.pid, _SECONDS_TO_END)
    finally:
        _stop_player(player, guard)
    return found, lost


def listed_rows() -> dict[str, str]:
    """Return the policies that installed packages list for the leaderboard, and their kinds.

    Other packages are read in processes of their own, since games are counted and written in this
    one, and change no row of this project.

    Raises:
        ValueError: if a package's list is no dictionary of texts; the message names its entry
            point.
    """
    rows = own_rows()
    for package, name, stands_for in other_lists():
        with error_context(f"{LEADERBOARD}: {name} = {stands_for}", "it is no {policy: kind}"):
            others = _rows_of_others(package, name)
        rows |= {policy: kind for policy, kind in others.items() if policy not in rows}
    return rows


def _rows_of_others(package: str, name: str) -> dict[str, str]:
    """Return the rows of a package, which is imported in a process of its own."""
    player, pipe, guard = _start_guarded_player()
    try:
        return RemotePolicy(pipe, player.pid).rows(package, name)
    except OutOfTimeError as error:
        raise ValueError(f"its process took more than {error}") from None
    except EOFError:
        raise ValueError("its process ended when it was imported") from None
    finally:
        _stop_player(player, guard)


def _start_player(context: Any) -> tuple[Any, Connection[Any, Any]]:
    """Start a process for a policy; return it and a pipe to it."""
    pipe, theirs = context.Pipe()
    player = context.Process(target=_serve, args=(theirs, os.environ.get(SAFE_PATH, "")))
    start_process(player, _ENVIRONMENT)
    theirs.close()
    return player, pipe


def _start_guarded_player() -> tuple[Any, Connection[Any, Any], Any]:
    """Start a process for a policy, and one that ends it should this one be killed.

    The policy can't be asked anything before the guard is beyond what ends the command's group.
    """
    context = _context()
    player, pipe = _start_player(context)
    is_ready, theirs = context.Pipe(duplex=False)
    guard = context.Process(target=_guard_from_a_session, args=(player.pid, theirs), daemon=True)
    start_process(guard, _ENVIRONMENT)
    theirs.close()
    with is_ready, suppress(EOFError):
        is_ready.recv()
    return player, pipe, guard


def _serve(pipe: Connection[Any, Any], safe_path: str) -> None:
    """Serve a policy, in a group of its own, which is the first to die if memory runs out.

    What the policy starts finds `PYTHONSAFEPATH` as the command has found it.
    """
    os.environ[SAFE_PATH] = safe_path  # empty is as good as none
    with suppress(FileNotFoundError):  # the working folder may be gone
        add_import_folder(os.getcwd())  # last of all, as in the command itself
    _leave_session()
    keep_orphans()
    keep_alone(pipe)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    _ignore_interrupts()
    logging.disable(logging.WARNING)  # of solvers that find nothing
    with suppress(OSError):
        os.dup2(2, 1)  # what a policy prints is no result
    serve_policy(pipe)
    with suppress(Exception):  # a policy's own; Python runs them in main processes alone
        atexit._run_exitfuncs()
    end_all_below()


def _stop_player(player: Any, guard: Any = None) -> None:
    """Kill the process of a policy, what the policy has started there, and its guard."""
    if player.is_alive():  # else its number may be another's
        kill_with_all_below(player.pid)
        player.kill()
    player.join()
    kill_group_left_by(player.pid)
    if guard is not None:
        guard.kill()


def _context() -> Any:
    can_fork = hasattr(os, "fork")
    context: Any = multiprocessing.get_context("forkserver" if can_fork else "spawn")
    if can_fork:
        if len(folder := tempfile.gettempdir()) > _LONGEST_FOLDER:
            raise ValueError(f"{folder}: no socket fits there: set TMPDIR to a shorter folder")
        context.set_forkserver_preload([cells.__name__, _PRELOAD])
    return context


def _ignore_interrupts() -> None:
    """Leave it to the command what Ctrl+C ends; programs that a policy starts have it as usual."""
    signal.signal(signal.SIGINT, lambda *_: None)
    unblock_interrupts()


def _work(task: CellTask, pipe: Any, policy: Connection[Any, Any], player: int) -> None:
    """Perform a task with the policy in the process `player`; send every state of its cell."""
    _ignore_interrupts()
    _leave_session()
    Thread(target=_guard, args=(player,), daemon=True).start()
    if task.cell.timing and hasattr(os, "sched_setaffinity"):  # on one core
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    remote = RemotePolicy(policy, player, task.limit)
    try:
        with pipe:
            with policy, suppress(BrokenPipeError):  # the parent is gone
                for cell in cells.perform_task(task, remote):
                    pipe.send(cell)
            wait_for_end(player, _SECONDS_TO_END)
    except EOFError:  # the policy has died, and with it this cell
        sys.exit(1)
    finally:
        if not has_ended(player):  # else its number may be another's
            kill_with_all_below(player)


def _leave_session() -> None:
    """Start a session, so that what ends the command's whole group does not end this process."""
    with suppress(AttributeError, PermissionError):
        os.setsid()


def _guard_from_a_session(player: int, is_ready: Connection[Any, Any]) -> None:
    """Be a guard; say so once this process has a session of its own."""
    _leave_session()
    with is_ready, suppress(BrokenPipeError):  # the command has ended already
        is_ready.send(True)
    _guard(player)


def _guard(player: int) -> None:
    """End a policy's process, and this one, once the command that has started both has ended.

    The policy's process can't do it, where the policy keeps the interpreter's lock.
    """
    command = multiprocessing.parent_process()
    assert command is not None  # this is no main process
    wait([command.sentinel])
    kill_with_all_below(player)
    os._exit(1)
