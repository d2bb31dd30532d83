"""What a visitor of the page may cost: places in the queue, processor time."""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import IPv6Address, ip_address, ip_network
from threading import Lock
from typing import Any

from sudoku_gym.policies.own_process import seconds_elsewhere

_MOST_VISITORS = 10_000  # that are remembered
_MOST_SESSIONS = 4_000  # names of pages that are open
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,100}")  # such a name; gradio joins names by signs
_MOST_UNREAD = 40  # answers of up to 250 kB, of a page
_MOST_UNREAD_OF_ONE, _MOST_UNREAD_IN_ALL = 100, 800  # of a visitor's pages, and of all


class VisitorBudgets:
    """Processor time of visitors: `seconds` at once, which come back in the course of `window` s.

    Attributes:
        seconds: None limits nobody.
    """

    def __init__(self, seconds: float | None, window: float = 600.0) -> None:
        self.seconds = seconds
        self._window = window
        self._used: dict[str, tuple[float, float]] = {}  # by visitor: seconds used, and when
        self._lock = Lock()

    def check(self, visitor: str) -> None:
        """Raise a ValueError if a visitor has no processor time left."""
        over = self._over(visitor)
        if over >= 0:
            wait = max(1, round(over * self._window / (self.seconds or 1.0)))
            raise ValueError(
                f"your games have used {self.seconds:g} s of processor time in the last minutes, "
                f"which is all that a visitor gets: go on in {wait} s"
            )

    def are_spent(self, visitor: str) -> bool:
        """Whether a visitor has no processor time left."""
        return self._over(visitor) >= 0

    @contextmanager
    def charged(self, visitor: str) -> Iterator[None]:
        """Charge a visitor for the time of the processor that the block takes in this thread.

        What other processes do for it counts too.
        """
        here, elsewhere = time.thread_time(), seconds_elsewhere()
        try:
            yield
        finally:
            used = (time.thread_time() - here) + (seconds_elsewhere() - elsewhere)
            with self._lock:
                self._used[visitor] = self._used_by(visitor) + used, self._now()
                if len(self._used) > _MOST_VISITORS:
                    del self._used[next(iter(self._used))]

    def _now(self) -> float:
        """Return the seconds on the clock by which used time comes back."""
        return time.monotonic()

    def _over(self, visitor: str) -> float:
        """Return how many seconds more than all a visitor has used, below 0 if there are some."""
        return -math.inf if self.seconds is None else self._used_by(visitor) - self.seconds

    def _used_by(self, visitor: str) -> float:
        """Return the processor seconds of a visitor that have not come back yet."""
        used, when = self._used.get(visitor, (0.0, 0.0))
        back = (self._now() - when) * (self.seconds or 0.0) / self._window
        return max(used - back, 0.0)


class ShortQueue(asyncio.Queue[Any]):
    """Answers to a page that it has not read yet, the last of them: nobody reads so many late."""

    def __init__(self) -> None:
        super().__init__(_MOST_UNREAD)

    def put_nowait(self, item: Any) -> None:
        """Add an answer, in place of the oldest if there are too many."""
        if self.full():
            self.get_nowait()
        super().put_nowait(item)


def limit_waiting(queue: Any, most: int) -> None:
    """Let each visitor have at most so many requests in a queue of gradio at a time.

    Those that are being served count. Others are refused in words that say how many wait in all. A
    request whose page does not read its answers counts as left; of a visitor whose pages have many
    of them, or most of them where all have many, the oldest page is forgotten. So are the names of
    pages whose answers nobody reads, once there are many. Nothing is summed up: gradio makes a
    table of all requests after each, which a name that is no text breaks for all visitors.

    The answers of a page are to be in a `ShortQueue`.
    """
    push, send = queue.push, queue.send_message
    owners: dict[str, str] = {}  # of pages
    queue.compute_analytics_summary = lambda *_: None

    async def push_some(body: Any, request: Any, username: str | None) -> tuple[bool, Any, str]:
        waiting = [
            event for each in queue.event_queue_per_concurrency_id.values() for event in each.queue
        ]
        served = [event for job in queue.active_jobs for event in job or ()]
        visitor = visitor_of(request)
        same = sum(visitor_of(event.request) == visitor for event in waiting + served)
        if same >= most:
            mine = f"{same} of your requests wait or are being served"
            return False, f"{mine}, {len(waiting)} wait in all: go on later", "queue_full"
        if queue.max_size is not None and len(queue) >= queue.max_size:
            return False, f"{len(queue)} requests are waiting: come back in a minute", "queue_full"
        name = body.session_hash
        if not (isinstance(name, str) and _SESSION.fullmatch(name)):
            return False, "the name of a session is 1 to 100 letters and digits", "queue_full"
        _forget_unread(queue.pending_messages_per_session, owners)
        answer: tuple[bool, Any, str] = await push(body, request, username)
        owners[name] = visitor
        _forget_sessions(queue, owners)
        return answer

    def send_some(event: Any, message: Any) -> None:
        answers = queue.pending_messages_per_session.get(event.session_hash)
        if answers is None or answers.full():
            event.alive = False
        else:
            send(event, message)

    queue.push, queue.send_message = push_some, send_some


def _forget_unread(pages: Any, owners: dict[str, str]) -> None:
    """Forget the oldest pages of visitors with too many answers that are not read.

    Where all visitors together have too many, those with most of them lose theirs.
    """
    unread = Counter({name: answers.qsize() for name, answers in pages.items()})
    of_visitors: Counter[str] = Counter()
    for name, count in unread.items():
        of_visitors[owners.get(name, "")] += count
    in_all = unread.total()
    for visitor, count in of_visitors.most_common():
        if count <= _MOST_UNREAD_OF_ONE and in_all <= _MOST_UNREAD_IN_ALL:
            break
        for name in [name for name in +unread if owners.get(name, "") == visitor]:
            if count <= _MOST_UNREAD_OF_ONE and in_all <= _MOST_UNREAD_IN_ALL:
                break
            pages.pop(name)
            count -= unread[name]
            in_all -= unread[name]


def _forget_sessions(queue: Any, owners: dict[str, str]) -> None:
    """Forget the oldest sessions of a queue, of which it keeps no messages any more either."""
    known, kept = queue.pending_event_ids_session, queue.pending_messages_per_session
    if len(known) > _MOST_SESSIONS:
        for session in [name for name in known if name not in kept]:
            del known[session]
    if len(owners) > _MOST_SESSIONS:
        for session in [name for name in owners if name not in kept]:
            del owners[session]


def visitor_of(request: Any) -> str:
    """Return the visitor that a request came from; empty if it is not known."""
    return visitor_at(str(getattr(getattr(request, "client", None), "host", "") or ""))


def visitor_at_other_end(client: Sequence[Any] | None) -> str:
    """Return who is at the other end of a connection; empty for this machine, or if not known.

    `client`: address and port.
    """
    if client is None:
        return ""
    try:
        is_here = ip_address(client[0]).is_loopback
    except ValueError:
        is_here = True
    return "" if is_here else visitor_at(client[0])


def visitor_at(address: str) -> str:
    """Return who is at an address: of IPv6 its first 64 bits, since the others are a visitor's."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address) and found.ipv4_mapped is None:
        return str(ip_network((int(found), 64), strict=False).network_address)
    return address
