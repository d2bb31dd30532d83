"""Connections and requests of visitors: few of each, so that one with many shuts nobody out."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from sudoku_gym.app.limits import visitor_at
from sudoku_gym.storage.bodies import Application, Message, Receive, Send

MOST_CONNECTIONS = 100
"""Connections of a visitor; a browser opens six, and one for each page that is open."""


class FewConnections(H11Protocol):
    """HTTP on a connection, which is closed at once where its visitor has too many.

    Those from this machine are not counted: a reverse proxy serves all visitors from there.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or close it."""
        super().connection_made(transport)
        mine = self._visitor
        others = (each for each in self.connections if isinstance(each, FewConnections))
        if mine and sum(each._visitor == mine for each in others) > MOST_CONNECTIONS:
            transport.abort()

    @property
    def _visitor(self) -> str:
        return _remote(self.client)


class FewRequests:
    """An ASGI application that answers few requests of a visitor at a time; more get status 503.

    A request goes on after its connection has closed, until the application has noticed it. Those
    from this machine are not counted.
    """

    def __init__(self, app: Application) -> None:
        self._app = app
        self._served: Counter[str] = Counter()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        visitor = _remote(scope.get("client"))
        if not visitor or scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._served[visitor] >= MOST_CONNECTIONS:
            await send({"type": "http.response.start", "status": 503, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        self._served[visitor] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._served[visitor] -= 1
            if not self._served[visitor]:
                del self._served[visitor]


def _remote(client: Sequence[Any] | None) -> str:
    """Return who is at the other end; empty for this machine, or if it is not known."""
    if client is None:
        return ""
    try:
        is_here = ip_address(client[0]).is_loopback
    except ValueError:
        is_here = True
    return "" if is_here else visitor_at(client[0])
