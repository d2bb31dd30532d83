"""Threads that step parts of a batch side by side."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sudoku_gym.envs.steps import Part, step_boards


class StepThreads:
    """Splits the steps of B boards over threads, which start at the first step.

    Args:
        parts: of the batch, one for each thread.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = tuple(parts)
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0  # whose threads they are

    def step(self, *arguments: Any) -> None:
        """Call `step_boards` for every part; the first one's thread is the caller's."""
        first, *rest = self._parts
        others = [self._threads().submit(step_boards, part, *arguments) for part in rest]
        step_boards(first, *arguments)
        for other in others:
            other.result()

    def _threads(self) -> ThreadPoolExecutor:
        """Return the threads of this process; a fork has none of its parent's."""
        if self._pool is None or self._process != os.getpid():
            self._pool = ThreadPoolExecutor(len(self._parts) - 1, "sudoku-step")
            self._process = os.getpid()
        return self._pool

    def close(self) -> None:
        """Let the threads end."""
        if self._pool is not None and self._process == os.getpid():
            self._pool.shutdown()
        self._pool = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_pool": None}  # threads can be neither copied nor pickled
