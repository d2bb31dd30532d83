"""Threads that step parts of a batch side by side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sudoku_gym.envs.steps import step_boards


class StepThreads:
    """Splits the steps of B boards over threads, which start at the first step.

    Args:
        count: B.
        num_threads: how many; what happens does not depend on it.
    """

    def __init__(self, count: int, num_threads: int) -> None:
        number = min(num_threads, count)
        self._parts = [(count * i // number, count * (i + 1) // number) for i in range(number)]
        self._pool: ThreadPoolExecutor | None = None

    def step(self, *arguments: Any) -> None:
        """Call `step_boards` for every part; the first one's thread is the caller's."""
        first, *rest = self._parts
        if rest and self._pool is None:
            self._pool = ThreadPoolExecutor(len(rest), "sudoku-step")
        others = [
            self._pool.submit(step_boards, part, *arguments)
            for part in rest
            if self._pool is not None
        ]
        step_boards(first, *arguments)
        for other in others:
            other.result()

    def close(self) -> None:
        """Let the threads end; a further step starts new ones."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_pool": None}  # threads can be neither copied nor pickled
