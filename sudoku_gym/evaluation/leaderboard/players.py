"""Policies of the leaderboard in processes of their own, which hold neither solutions nor games.

The process of a cell plays with a `RemotePolicy`: it hands boards and masks over to the process of
the policy, where `serve_policy` runs, and takes plain numbers back. So nothing that a policy does
to its process (to its callers' frames, to functions of this package) reaches the outcome. A policy
has a limit of processor time, and one of wall time for those that sleep.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.evaluation.leaderboard.identity import describe_policy
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Policy, load_policy
from sudoku_gym.storage.reading import describe_error

_WALL_SHARE = 4.0  # wall time that a limit of processor time allows, where others are busy too
_START_SECONDS = 120.0  # at most, to import, to load and to compile
_LONGEST = 10_000_000  # bytes of an answer
_WAIT = 0.1  # s between two looks at the clocks
_HANDING_OVER = 1e-3  # s a call that a process takes beyond its policy


class OutOfTimeError(Exception):
    """A limit of time is reached."""


class RemotePolicy:
    """A policy behind a pipe, a `sudoku_gym.Policy`.

    Args:
        pipe: to a process that runs `serve_policy`.
        pid: number of that process.
        limit: processor seconds that the calls of a policy may take in all, and four times as much
            wall time a call.

    Attributes:
        seconds: processor seconds of the calls since the last `load`.

    Raises:
        ValueError: with the words of whatever the policy raised.
        ModuleNotFoundError: if it needs an extra.
        OutOfTimeError: if a limit is reached.
        EOFError: if its process has died.
    """

    def __init__(self, pipe: Connection[Any, Any], pid: int, limit: float = np.inf) -> None:
        self.seconds = 0.0
        self._pipe, self._pid, self._limit = pipe, pid, limit

    def describe(self, name: str) -> dict[str, Any]:
        """Return what `identity.describe_policy` says of a policy."""
        found: dict[str, Any] = json.loads(self._ask(["describe", name], _START_SECONDS)[1])
        return found

    def load(self, name: str) -> None:
        """Let the process make a policy, which answers from now on."""
        self._ask(["load", name], self._start_seconds)
        self.seconds = 0.0

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Hand the puzzles over."""
        self._call(["reset", puzzles, geometry, rng])

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Hand the boards over, and return the actions."""
        return np.frombuffer(self._call(["act", boards, action_masks]), np.int64)

    @property
    def _start_seconds(self) -> float:
        return min(_START_SECONDS, 20 + 10 * self._limit)

    def _call(self, message: Sequence[Any]) -> bytes:
        """Let the policy do something on the clock."""
        before = _clock_of(self._pid)
        seconds, answer = self._ask(message, self._limit - self.seconds)
        after = _clock_of(self._pid)
        if before is not None and after is not None and after - before > seconds + _HANDING_OVER:
            seconds = after - before  # its own clock does not count
        self.seconds += seconds
        if self.seconds > self._limit:
            raise OutOfTimeError
        return answer

    def _ask(self, message: Sequence[Any], limit: float) -> tuple[float, bytes]:
        """Send a message; return the processor seconds that the process says it took, and more."""
        self._pipe.send(message)
        start, begun = _clock_of(self._pid) or 0.0, time.monotonic()
        while not self._pipe.poll(_WAIT):
            used, passed = (_clock_of(self._pid) or 0.0) - start, time.monotonic() - begun
            if used > limit or passed > _WALL_SHARE * limit:
                raise OutOfTimeError
        head, _, body = self._pipe.recv_bytes(_LONGEST).partition(b"\n")  # it may say anything
        said = json.loads(head)
        if said["error"]:
            is_missing = said["kind"] == ModuleNotFoundError.__name__
            raise (ModuleNotFoundError if is_missing else ValueError)(str(said["error"]))
        return max(float(said["seconds"]), 0.0), body


def serve_policy(pipe: Connection[Any, Any]) -> None:
    """Do what the messages on a pipe ask, until it is closed."""
    policy: Any = None
    calls: dict[str, Callable[..., bytes]] = {
        "describe": lambda name: json.dumps(describe_policy(name)).encode(),
        "reset": lambda *arguments: policy.reset(*arguments) or b"",
        "act": lambda *arguments: _actions(policy, *arguments),
    }
    with pipe, suppress(EOFError, BrokenPipeError):
        while True:
            what, *arguments = pipe.recv()
            start, body = time.process_time(), b""
            said: dict[str, Any] = {"error": "", "kind": ""}
            try:
                if what == "load":
                    policy = load_policy(*arguments)
                else:
                    body = calls[what](*arguments)
            except Exception as error:  # a third-party policy may raise any
                said = {"error": describe_error(error), "kind": type(error).__name__}
            said["seconds"] = time.process_time() - start
            pipe.send_bytes(json.dumps(said).encode() + b"\n" + body)


def _actions(policy: Policy, boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> bytes:
    actions = np.asarray(policy.act(boards, masks))
    if actions.shape != (len(boards),) or not np.issubdtype(actions.dtype, np.integer):
        raise ValueError(
            f"act must return one whole number a game, int64 [{len(boards)}], "
            f"not {actions.dtype} {list(actions.shape)}"
        )
    return actions.astype(np.int64).tobytes()


def _clock_of(pid: int) -> float | None:
    """Return the processor seconds of another process; None where the system can't tell."""
    try:
        return time.clock_gettime((~pid << 3) | 2)  # as clock_getcpuclockid(3) numbers it
    except (AttributeError, OSError):
        return None
