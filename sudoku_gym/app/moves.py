"""Threads of the page's games: a few at a time, each for a limited time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import count

_BETWEEN_NOTES = 0.25  # s


@dataclass
class Task:
    """Work that waits for a thread, or runs in one.

    Attributes:
        seconds: how long it has been running; 0 while it waits.
    """

    number: int
    future: Future[None] = field(default_factory=Future)
    began: float | None = None
    ended: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds that it has been running."""
        if self.began is None:
            return 0.0
        return (time.monotonic() if self.ended is None else self.ended) - self.began


class Workers:
    """Threads in which policies are made and play.

    No thread can be ended from outside: what is given up runs on to its end, its result unused,
    and holds a thread until then.

    Args:
        at_once: threads; what is beyond them waits its turn.
        longest: seconds that a task may take before it is given up; None does not limit it.
    """

    def __init__(self, at_once: int = 2, longest: float | None = None) -> None:
        self.longest = longest
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="sudoku-gym-app")
        self._numbers = count()
        self._waiting: dict[int, Task] = {}

    def run(self, work: Callable[[], None], is_wanted: Callable[[], bool]) -> Iterator[str]:
        """Run `work` in a thread; yield what a visitor is told until it ends.

        It ends early when `is_wanted` turns false.

        Raises:
            TimeoutError: if it takes longer than `longest`.
            Exception: what `work` raises.
        """
        task = Task(next(self._numbers))
        self._waiting[task.number] = task
        task.future = self._pool.submit(self._do, task, work)
        try:
            while is_wanted():
                wait([task.future], _BETWEEN_NOTES)
                if task.future.done():
                    task.future.result()
                    return
                if self.longest is not None and task.seconds > self.longest:
                    raise TimeoutError(f"more than {self.longest:g} s for a move are too long here")
                yield self._note(task)
        finally:
            task.future.cancel()
            self._waiting.pop(task.number, None)

    def _do(self, task: Task, work: Callable[[], None]) -> None:
        self._waiting.pop(task.number, None)
        task.began = time.monotonic()
        try:
            work()
        finally:
            task.ended = time.monotonic()

    def _note(self, task: Task) -> str:
        if task.began is None:
            before = sum(number < task.number for number in list(self._waiting))
            return f"Waiting for a free processor: {before} before you."
        limit = "" if self.longest is None else f" of at most {self.longest:g}"
        return f"Computing for {task.seconds:.0f} s{limit}; Stop ends it."
