"""Processes of policies, and those that a policy has started: their start, their time, their end.

What a policy has started is seen on Linux only.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.util import get_temp_dir
from typing import Any
from unittest.mock import patch

_PR_SET_CHILD_SUBREAPER = 36  # prctl(2)
_STATE, _CHILDREN_USER, _CHILDREN_SYSTEM = 0, 13, 14  # fields of proc(5)'s stat, from its third
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100  # a second
SAFE_PATH = "PYTHONSAFEPATH"  # or `python -c` would import from the working folder first
_LOOK = 0.02  # s between two looks at a process that ends
_SECONDS_TO_END = 0.5  # for what a policy has started, once it is not needed any more
_ROUNDS = 100  # of killing, while others are started


def start_process(process: Any, environment: Mapping[str, str]) -> None:
    """Start a process of `multiprocessing`, and what it is forked from, in an environment.

    Ctrl+C meanwhile waits for the end of the start, and interrupts this process alone, until the
    other one calls `unblock_interrupts`.

    Raises:
        ValueError: if what `multiprocessing` keeps among temporary files has been removed.
    """
    can_block = hasattr(signal, "pthread_sigmask")
    with patch.dict(os.environ, {**environment, SAFE_PATH: "1"}):
        if can_block:
            from multiprocessing import resource_tracker  # of POSIX

            resource_tracker.ensure_running()  # its start would end the blocking
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if can_block else None
        try:
            process.start()
        except FileNotFoundError:
            raise ValueError(
                f"a process can't be started, since a folder has been removed: {_removed_folder()}"
            ) from None
        finally:
            if before is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)


def restore_child_signals() -> None:
    """Let the system tell when processes end, also where this one was started ignoring that.

    It is inherited: of a script with `trap '' CHLD`, say. In another thread than the main one
    nothing is done.
    """
    if hasattr(signal, "SIGCHLD") and signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        with suppress(ValueError):
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _removed_folder() -> str:
    """Say which of the folders that a start needs is not there."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return "the working folder"
    os.makedirs(get_temp_dir(), exist_ok=True)  # which Python would miss at the end
    return f"one in {tempfile.gettempdir()}, that of temporary files; run the command again"


def unblock_interrupts() -> None:
    """Let Ctrl+C interrupt a process that `start_process` has started."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def keep_orphans() -> None:
    """Let processes whose parents have ended count as children of this one, not of the system's."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def keep_alone(pipe: Connection[Any, Any]) -> None:
    """Let nothing that this process starts keep a pipe open, as if this one were still there."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=pipe.close)
        os.set_inheritable(pipe.fileno(), False)


def has_ended(pid: int) -> bool:
    """Whether a process is known to have ended, on Linux."""
    return os.path.exists(f"/proc/{os.getpid()}/stat") and not _is_running(pid)


def wait_for_end(pid: int, seconds: float) -> None:
    """Wait until a process has ended, at most so long; only where the system tells, on Linux."""
    limit = time.monotonic() + seconds
    while sys.platform == "linux" and not has_ended(pid) and time.monotonic() < limit:
        time.sleep(_LOOK)


def processes_below(pid: int) -> list[int]:
    """Return the processes that one has started, and they, also in other groups."""
    found, parents = list[int](), [pid]
    while parents:
        below = list[int]()
        threads = f"/proc/{parents.pop()}/task"
        with suppress(OSError):
            for thread in os.listdir(threads):
                with suppress(OSError), open(f"{threads}/{thread}/children", "rb") as file:
                    below += map(int, file.read().split())
        found += below
        parents += below
    return found


def processor_seconds(pid: int) -> float | None:
    """Return the processor seconds of a process and of all below it; None if none can be told."""
    own = _clock_of(pid)
    if own is None:
        return None
    below = processes_below(pid)
    ended = sum(map(_seconds_of_ended_children, [pid, *below]))
    return own + ended + sum(_clock_of(each) or 0.0 for each in below)


def kill_with_all_below(pid: int) -> None:
    """Kill a process, its group, and all that it has started, which can't flee meanwhile."""
    if not hasattr(os, "killpg"):
        return
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGSTOP)  # it keeps the orphans as long as it is there
    kill_all_below(pid)
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def kill_group_left_by(pid: int) -> None:
    """Kill what is left of the group that a process has led, which has ended and was waited for."""
    if not hasattr(os, "killpg"):
        return
    try:
        os.kill(pid, 0)  # or is that number another's by now?
    except ProcessLookupError:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    except PermissionError:
        pass


def kill_all_below(pid: int) -> None:
    """Kill all that a process, perhaps this one, has started."""
    for _ in range(_ROUNDS):
        living = [each for each in processes_below(pid) if _is_running(each)]
        if not living:
            break
        for each in living:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(each, signal.SIGKILL)


def end_all_below() -> None:
    """Let what this process has started end, which may take a moment; then kill it."""
    pid, limit = os.getpid(), time.monotonic() + _SECONDS_TO_END
    while any(map(_is_running, processes_below(pid))) and time.monotonic() < limit:
        time.sleep(_LOOK)
    kill_all_below(pid)


def _clock_of(pid: int) -> float | None:
    """Return the processor seconds of another process; None where the system can't tell."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # as clock_getcpuclockid(3) numbers it
    except (AttributeError, OSError):
        return None


def _seconds_of_ended_children(pid: int) -> float:
    fields = _stat(pid)
    if not fields:
        return 0.0
    ticks = int(fields[_CHILDREN_USER]) + int(fields[_CHILDREN_SYSTEM])
    return ticks / _TICKS


def _is_running(pid: int) -> bool:
    return _stat(pid)[_STATE : _STATE + 1] not in ([], ["Z"], ["X"])


def _stat(pid: int) -> list[str]:
    """Return what the system says of a process, from its state on; nothing if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read().decode("ascii", "replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()  # a name may hold blanks
