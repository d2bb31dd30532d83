"""Threads of the page's games: a few at a time, each for a limited time."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Set
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import count, takewhile
from threading import RLock
from typing import TypeAlias

_BETWEEN_NOTES = 0.25  # s
_GONE_AFTER = 2.0  # s in which who waits has not asked again
_KEPT_FOR = 30.0  # s of another one's move, in which a free policy is kept for who needs both

_Resource: TypeAlias = tuple[str, str]  # its kind, `visitor` or `policy`, and its name


@dataclass
class Task:
    """Work that waits for a thread, or runs in one.

    Attributes:
        resources: what no other task has while it has a thread: a visitor, and policies.
        seconds: how long it has been running; 0 while it waits.
    """

    place: tuple[int, int]  # its round, and its number in the order of asking
    resources: frozenset[_Resource] = frozenset()
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
    and holds a thread until then. So a visitor who is named has one thread at a time, and can't
    hold all; so has a policy that is named.

    Who waits comes by rounds, in each of which a visitor has one turn, however many pages ask (as
    in start-time fair queueing; Goyal, Vin and Cheng 1996). A new visitor begins in the round in
    which the latest turn was.

    Args:
        at_once: threads; what is beyond them waits its turn.
    """

    def __init__(self, at_once: int = 2) -> None:
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="sudoku-gym-app")
        self._numbers = count()
        self._round = 0  # of the latest turn
        self._next_rounds: dict[str, int] = {}  # of visitors who are ahead of it
        self._waiting: dict[tuple[int, int], Task] = {}
        self._held: dict[_Resource, float] = {}  # by who has a thread, or is next; since when
        self._asking: dict[tuple[int, int], tuple[Set[_Resource], float]] = {}  # and when
        self._lock = RLock()  # a game that is collected as garbage ends where it may be held

    def run(
        self,
        work: Callable[[], None],
        is_wanted: Callable[[], bool] = lambda: True,
        longest: float | None = None,
        visitor: str = "",
        policies: Collection[str] = (),
    ) -> Iterator[str]:
        """Run `work` in a thread; yield what a visitor is told until it ends.

        It waits until the same visitor, if named, and all others with one of the policies have no
        thread, and their turns before its own are over. It is given up when `is_wanted` turns
        false, and after `longest` seconds, if it has a limit.

        Raises:
            TimeoutError: if it takes longer.
            Exception: what `work` raises.
        """
        resources = {("policy", name) for name in policies}
        if visitor:
            resources.add(("visitor", visitor))
        task = Task(self._place(visitor), frozenset(resources))
        try:
            while taken := self._admit(task.place, resources):
                if not is_wanted():
                    return
                yield f"Waiting for the end of another move of {taken}."
                time.sleep(_BETWEEN_NOTES)
        finally:
            self._asking.pop(task.place, None)
        try:
            self._waiting[task.place] = task
            task.future = self._pool.submit(self._do, task, work)
            while is_wanted():
                wait([task.future], _BETWEEN_NOTES)
                if task.future.done():
                    task.future.result()
                    return
                if longest is not None and task.seconds > longest:
                    raise TimeoutError(
                        f"more than {longest:g} s for a move are too long here. If it was the "
                        "first of its policy, it compiled code, which is kept: start over"
                    )
                yield self._note(task, longest)
        finally:
            if task.future.cancel():  # it never began
                self._release(resources)
            self._waiting.pop(task.place, None)

    def _place(self, visitor: str) -> tuple[int, int]:
        """Give a visitor the next round in which they neither had a turn nor wait for one."""
        with self._lock:
            ahead = {name: each for name, each in self._next_rounds.items() if each > self._round}
            self._next_rounds = ahead
            own = {
                place[0]
                for place, (resources, _) in self._asking.items()
                if ("visitor", visitor) in resources
            }
            rounds = count(ahead.get(visitor, self._round))
            return next(each for each in rounds if each not in own), next(self._numbers)

    def _admit(self, place: tuple[int, int], resources: Set[_Resource]) -> str:
        """Let a visitor and policies have a thread, or say which of them has one, or is next."""
        with self._lock:
            now, taken = time.monotonic(), set(resources & self._held.keys())
            for before, (others, asked) in list(self._asking.items()):
                busy = (others - resources) & self._held.keys()
                # Who needs two policies would wait for ever if neither was kept for them.
                is_next = all(
                    kind == "policy" and now - self._held[kind, name] < _KEPT_FOR
                    for kind, name in busy
                )
                if before < place and now - asked < _GONE_AFTER and is_next:
                    taken |= resources & others
            if not taken:
                self._held |= dict.fromkeys(resources, now)
                self._round = max(self._round, place[0])
                for kind, name in resources:
                    if kind == "visitor":
                        self._next_rounds[name] = max(self._next_rounds.get(name, 0), place[0] + 1)
                return ""
            self._asking[place] = resources, now
        kind, name = sorted(taken)[-1]
        return "yours" if kind == "visitor" else name

    def _do(self, task: Task, work: Callable[[], None]) -> None:
        self._waiting.pop(task.place, None)
        task.began = time.monotonic()
        try:
            work()
        finally:
            task.ended = time.monotonic()
            self._release(task.resources)

    def _release(self, resources: Set[_Resource]) -> None:
        with self._lock:
            for each in resources:
                self._held.pop(each, None)

    def _note(self, task: Task, longest: float | None) -> str:
        if task.began is None:
            before = len([*takewhile(task.place.__ne__, list(self._waiting))])
            which = f"{before} before you" if before else "you are next"
            return f"Waiting for a free processor: {which}."
        limit = "" if longest is None else f" of at most {longest:g}"
        return f"Computing for {task.seconds:.0f} s{limit}; Stop gives it up."
