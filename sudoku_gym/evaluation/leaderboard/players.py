"""Policies of the leaderboard in processes of their own, which hold neither solutions nor games.

The process of a cell plays with a `RemotePolicy`: it hands boards and masks over to the process of
the policy, where `serve_policy` runs, and takes plain numbers back. So nothing that a policy does
to its process (to its callers' frames, to functions of this package) reaches the outcome. A policy
has a limit of processor time, and one of wall time for those that sleep. What comes out of the pipe
is written by the policy if it likes, and so may be anything, in part, or nothing.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from threading import Event, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.evaluation.leaderboard.listing import checked_rows, rows_of
from sudoku_gym.evaluation.leaderboard.results import MOST_SECONDS
from sudoku_gym.evaluation.leaderboard.runs import load_described
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Policy
from sudoku_gym.policies.identity import ChangedFilesError
from sudoku_gym.policies.processes import has_ended, processor_seconds
from sudoku_gym.policies.protocols import actions_of
from sudoku_gym.policies.working_folder import change_to, working_folder
from sudoku_gym.storage.reading import describe_error

_WALL_SHARE = 4.0  # wall time that a limit of processor time allows, where others are busy too
_START_SECONDS = 120.0  # at most, to import, to load and to compile
_MORE_TO_START = 20.0  # s beyond the limit of the games
_LONGEST = 10_000_000  # bytes of an answer
_LONGEST_DESCRIPTION, _LONGEST_LIST = 1_000, 100_000  # bytes
_LONGEST_ERROR = 400  # characters
_WAIT = 0.1  # s between two looks at the clocks of a policy's process
_LOOK, _LONGEST_LOOK = 1.0, 10.0  # s between two looks at the wall clock, and what one may count
_HANDING_OVER = 3e-4  # s a call that a process takes beyond its policy: 99 of 100 calls take less


class OutOfTimeError(Exception):
    """A limit of time is reached; the words say which."""


class RemotePolicy:
    """A policy behind a pipe, a `sudoku_gym.Policy`.

    Args:
        pipe: to a process that runs `serve_policy`.
        pid: number of that process.
        limit: processor seconds that the calls of a policy may take in all, and a quarter of the
            wall time that they may take in all. To make one may take `_MORE_TO_START` more, but no
            more than `_START_SECONDS`.

    Attributes:
        seconds: processor seconds since the last `load`, of the processes that it has started too.

    Raises:
        ValueError: with the words of whatever the policy raised.
        ChangedFilesError: if its files have changed since they were loaded.
        ModuleNotFoundError: if it needs an extra.
        OutOfTimeError: if a limit is reached.
        EOFError: if its process has died, or answers at too great a length.
    """

    def __init__(self, pipe: Connection[Any, Any], pid: int, limit: float = np.inf) -> None:
        self.seconds = self._passed = 0.0
        self._pipe, self._pid, self._limit = pipe, pid, limit
        self._clock = processor_seconds(pid) or 0.0  # of the process, after the last call

    def load(self, name: str) -> dict[str, Any]:
        """Let the process make a policy, which answers from now on.

        Returns what `runs.load_described` says of it.
        """
        body = self._start(["load", name])
        self.restart_clocks()
        found: dict[str, Any] = _read_json(body[:_LONGEST_DESCRIPTION])
        return found

    def restart_clocks(self) -> None:
        """Let the limits of time begin anew, and `seconds`."""
        self.seconds = self._passed = 0.0
        self._clock = processor_seconds(self._pid) or 0.0

    def rows(self, package: str, name: str) -> dict[str, str]:
        """Let the process read which rows a package lists, see `rows_of`."""
        return checked_rows(_read_json(self._start(["rows", package, name])[:_LONGEST_LIST]))

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Hand the puzzles over."""
        self._call(["reset", puzzles, geometry, rng])

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Hand the boards over, and return the actions."""
        return np.frombuffer(self._call(["act", boards, action_masks]), np.int64)

    def _start(self, message: Sequence[Any]) -> bytes:
        """Let the process make a policy, off the clock."""
        try:
            return self._ask(message, min(_START_SECONDS, self._limit + _MORE_TO_START))[1]
        except OutOfTimeError as error:
            raise OutOfTimeError(f"{error} to load") from None

    def _call(self, message: Sequence[Any]) -> bytes:
        """Let the policy do something on the clock."""
        seconds, answer = self._ask(message, self._limit, self.seconds, self._passed)
        clock = processor_seconds(self._pid) or 0.0
        # Its own clock may be wrong, and what it computes from one call to the next counts too.
        seconds = max(seconds, clock - self._clock - _HANDING_OVER)
        self._clock = max(clock, self._clock)
        self.seconds += seconds
        if self.seconds > self._limit:
            raise OutOfTimeError(f"{self._limit:g} s of processor time")
        return answer

    def _ask(
        self, message: Sequence[Any], limit: float, used: float = 0.0, passed: float = 0.0
    ) -> tuple[float, bytes]:
        """Send a message; return the processor seconds that the process says it took, and more.

        Of the limit, processor seconds are used, and wall seconds have passed.
        """
        wall, out_of_wall = _WALL_SHARE * limit - passed, f"{_WALL_SHARE * limit:g} s of wall time"
        start = (processor_seconds(self._pid) or 0.0) - used
        watch = _Watch(self._pipe, wall)
        try:
            with watch:
                self._pipe.send(message)
                while not self._pipe.poll(_WAIT):
                    if (processor_seconds(self._pid) or 0.0) - start > limit:
                        raise OutOfTimeError(f"{limit:g} s of processor time")
                    if watch.seconds > wall:
                        raise OutOfTimeError(out_of_wall)
                    # What it has started may keep the pipe open once it has ended.
                    if has_ended(self._pid) and not self._pipe.poll():
                        raise EOFError
                answer = self._pipe.recv_bytes(_LONGEST)
        except (EOFError, OSError):
            if watch.seconds >= wall:
                raise OutOfTimeError(out_of_wall) from None
            raise EOFError from None
        self._passed += watch.seconds
        return _read_answer(answer)


class _Watch:
    """Wall time within a block, and the end of a pipe once it is over a limit.

    The pipe is closed for both sides, so that no read or write waits on: the other side may read
    nothing, or write a part of an answer. (Windows has no sockets here.) Hours in which all
    processes were stopped, as a cluster does to jobs that make room, count as a few looks.

    Attributes:
        seconds: the wall time so far.
    """

    def __init__(self, pipe: Connection[Any, Any], limit: float) -> None:
        self._pipe, self._limit = pipe, limit
        self._is_over = Event()

    def __enter__(self) -> None:
        self._last_look, self._end = (0.0, time.monotonic()), np.inf
        Thread(target=self._look, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self._end = time.monotonic()
        self._is_over.set()

    @property
    def seconds(self) -> float:
        passed, last = self._last_look
        return passed + min(min(time.monotonic(), self._end) - last, _LONGEST_LOOK)

    def _look(self) -> None:
        while not self._is_over.wait(min(max(self._limit - self.seconds, 0.0), _LOOK)):
            (passed, last), now = self._last_look, time.monotonic()
            self._last_look = passed + min(now - last, _LONGEST_LOOK), now
            if self.seconds >= self._limit:
                _close_both(self._pipe)
                return


def _read_answer(answer: bytes) -> tuple[float, bytes]:
    """Return the seconds and the body of an answer, or raise its error."""
    head, _, body = answer.partition(b"\n")
    try:
        said = json.loads(head)
        error, kind, seconds = str(said["error"]), said["kind"], float(said["seconds"])
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError):
        raise ValueError(f"its process answers {head!r:.60}") from None
    if error:
        if kind == (missing := ModuleNotFoundError.__name__):
            raise ModuleNotFoundError(error[:_LONGEST_ERROR].removeprefix(f"{missing}: "))
        if kind == ChangedFilesError.__name__:
            raise ChangedFilesError(error[:_LONGEST_ERROR])
        raise ValueError(error[:_LONGEST_ERROR])
    if seconds > MOST_SECONDS:
        raise ValueError(f"its process answers {head!r:.60}")
    return seconds if seconds >= 0 else 0.0, body  # 0 for NaN too


def _read_json(body: bytes) -> Any:
    try:
        found = json.loads(body)
        json.dumps(found, ensure_ascii=False).encode()  # half of a pair can be written nowhere
        return found
    except (ValueError, RecursionError):
        raise ValueError(f"its process answers {body!r:.60}") from None


def _close_both(pipe: Connection[Any, Any]) -> None:
    with suppress(OSError), socket.socket(fileno=os.dup(pipe.fileno())) as end:
        end.shutdown(socket.SHUT_RDWR)


def serve_policy(pipe: Connection[Any, Any]) -> None:
    """Do what the messages on a pipe ask, until it is closed."""
    policy: Any = None
    has_loaded = False
    calls: dict[str, Callable[..., bytes]] = {
        "reset": lambda *arguments: (policy.reset(*arguments), b"")[1],
        "act": lambda *arguments: _actions(policy, *arguments),
        "rows": lambda package, name: json.dumps(rows_of(package, name)).encode(),
    }
    clock = time.process_time  # whatever a policy makes of the module
    folder = working_folder()
    with pipe, suppress(EOFError, ConnectionError):
        while True:
            what, *arguments = pipe.recv()
            if what != "act":  # as in `evaluate`: what a game changes is undone before the next
                change_to(folder)
            start, body = clock(), b""
            said: dict[str, Any] = {"error": "", "kind": ""}
            try:
                if what == "load":
                    if has_loaded:  # that policy may hold something of which there is one
                        policy = None
                        gc.collect()
                    has_loaded = True
                    multiprocessing.set_start_method(None, force=True)  # each may choose one, once
                    policy, described = load_described(*arguments)
                    body = json.dumps(described).encode()
                else:
                    body = calls[what](*arguments)
            except (SystemExit, KeyboardInterrupt):
                raise
            except BaseException as error:  # a third-party policy may raise any
                said = {"error": describe_error(error), "kind": type(error).__name__}
            said["seconds"] = clock() - start
            pipe.send_bytes(json.dumps(said).encode() + b"\n" + body)


def _actions(policy: Policy, boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> bytes:
    return actions_of(policy.act(boards, masks), len(boards)).tobytes()
