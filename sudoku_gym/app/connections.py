"""Connections of visitors: few of each, so that one with many shuts nobody out.

One thread reads all requests and answers them, but for moves and pictures. Of its time each visitor
has so much, whatever it is spent on; where that is used up, connections are closed when they send
more. Those from this machine are not counted: a reverse proxy serves all visitors from there.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from sudoku_gym.app.limits import VisitorBudgets, visitor_at_other_end

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

MOST_CONNECTIONS = 100
"""Connections of a visitor; a browser opens six, and one for each page that is open."""
BACKLOG = 128
"""Connections that may wait to be accepted; they all may be accepted in one go."""
READ_AT_ONCE = 16_384
"""Bytes of a request that are read in one go; in chunks of one byte each they take 50 ms."""
_OTHER_FILES = 300  # that the process has open, with those of a full backlog
_FILES = 2  # of a connection: one is the file that it may be sent
_TURN = 0.1  # seconds between two looks at the clock
_SILENT_SECONDS = 15.0  # between two looks at a connection; one without progress is closed


def allow_connections(wanted: int) -> int:
    """Raise the limit of open files to what so many connections need, if the machine lets us.

    Returns:
        How many connections there is room for, at most `wanted`.
    """
    if resource is None:
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = _FILES * wanted + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(hard, needed)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return max((soft - _OTHER_FILES) // _FILES, 1)
    return wanted


class OpenConnections:
    """The connections of all visitors, and which of them has to go where there are too many.

    Those from this machine count in the sum alone: a reverse proxy serves all visitors from there.

    Args:
        most: of all visitors together.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._of: dict[str, dict[FewConnections, None]] = {}  # of each visitor, the oldest first
        self._count = 0

    def add(self, connection: FewConnections) -> None:
        """Add a connection; close it, or an old one, if that is one too many.

        Beyond the sum, the oldest of the visitor with most of them is closed.
        """
        visitor = connection.visitor
        mine = self._of.setdefault(visitor, {})
        mine[connection] = None
        self._count += 1
        if visitor and len(mine) > MOST_CONNECTIONS:
            self._close(connection)
        elif self._count > self.most:
            most_of_one = max(self._of.values(), key=lambda each: len(each))
            oldest = next(iter(most_of_one))
            self._close(oldest if oldest.visitor else connection)

    def remove(self, connection: FewConnections) -> None:
        """Forget a connection that is closed."""
        mine = self._of.get(connection.visitor, {})
        if connection in mine:
            del mine[connection]
            self._count -= 1
            if not mine:
                del self._of[connection.visitor]

    def _close(self, connection: FewConnections) -> None:
        connection.transport.abort()
        self.remove(connection)


class LoopBudgets(VisitorBudgets):
    """Time of the thread that answers all, of which visitors get more as often as it comes round.

    On the wall clock it would come back while the thread, or the machine, is busy with others.
    """

    def __init__(self, seconds: float | None, window: float) -> None:
        super().__init__(seconds, window)
        self._turned: float | None = None  # seconds, at most a few of `_TURN` a turn of the loop

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let time come back from now on, if it does not yet."""
        if self._turned is None:
            self._turned = 0.0
            self._turn(loop, loop.time())

    def _turn(self, loop: asyncio.AbstractEventLoop, before: float) -> None:
        now = loop.time()
        self._turned = self._now() + min(now - before, 2 * _TURN)
        loop.call_later(_TURN, self._turn, loop, now)

    def _now(self) -> float:
        return self._turned or 0.0


class FewConnections(H11Protocol):
    """HTTP on a connection, of which a visitor can't have too many, nor silent ones for long.

    Args:
        others: where connections are counted.
        budgets: of the time that this thread spends on the requests of visitors.
        of_uvicorn: what uvicorn gives to a connection.
    """

    def __init__(self, others: OpenConnections, budgets: LoopBudgets, **of_uvicorn: Any) -> None:
        super().__init__(**of_uvicorn)
        self.visitor = ""
        """who is at the other end; empty for this machine, or if it is not known"""
        self._others, self._budgets = others, budgets
        self._at_last_look: object = None  # the request in progress then, and the bytes to send
        self._next_look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or close it."""
        super().connection_made(transport)
        self.visitor = visitor_at_other_end(self.client)
        self._next_look = self.loop.call_later(_SILENT_SECONDS, self._close_if_silent)
        self._budgets.start(self.loop)
        self._others.add(self)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request, or close the connection of who has used up this thread."""
        for start in range(0, len(data), READ_AT_ONCE):
            self._close_if_spent()
            if self.transport.is_closing():  # or what came before was no request
                return
            with self._budgets.charged(self.visitor):
                super().data_received(data[start : start + READ_AT_ONCE])

    def on_response_complete(self) -> None:
        """Go on to the next request, which may have arrived with the one that is answered now."""
        self._close_if_spent()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        super().connection_lost(exc)
        self._others.remove(self)
        if self._next_look is not None:
            self._next_look.cancel()

    def _close_if_spent(self) -> None:
        if self.visitor and self._budgets.are_spent(self.visitor):
            self.transport.abort()

    def _close_if_silent(self) -> None:
        """Close it if it has sent no more of a request, or taken none of an answer, for a while."""
        request, unsent = self.cycle, self.transport.get_write_buffer_size()
        is_waiting = request is None or request.response_complete or request.more_body or unsent > 0
        if is_waiting and (request, unsent) == self._at_last_look:
            self.transport.abort()
            return
        self._at_last_look = request, unsent
        self._next_look = self.loop.call_later(_SILENT_SECONDS, self._close_if_silent)
