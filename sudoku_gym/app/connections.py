"""Connections of visitors: few of each, so that one who opens many shuts nobody out."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address

from uvicorn.protocols.http.h11_impl import H11Protocol

from sudoku_gym.app.limits import visitor_at

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
        """Who is at the other end; empty for this machine, or if it is not known."""
        try:
            is_here = self.client is None or ip_address(self.client[0]).is_loopback
        except ValueError:
            is_here = True
        return "" if is_here or self.client is None else visitor_at(self.client[0])
