"""Bodies of HTTP requests from third parties, of a sensible size."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]


class LimitedBodies:
    """An ASGI application whose requests have bodies of at most `longest` bytes.

    They are counted while they are read, since a body in chunks does not say its length. One that
    says it, and is longer, is answered with 413; any other that is too long is cut off. So is one
    of more than `brackets` lists and objects in JSON, which cost far more to look at than to send.
    """

    def __init__(self, app: Application, longest: int, brackets: int) -> None:
        self._app, self._longest, self._brackets = app, longest, brackets

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length[:20]) > self._longest:
            await send({"type": "http.response.start", "status": 413, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        left, brackets = self._longest, self._brackets

        async def receive_some() -> Message:
            nonlocal left, brackets
            message = await receive()
            body = message.get("body", b"")
            left -= len(body)
            brackets -= body.count(b"[") + body.count(b"{")
            return message if min(left, brackets) >= 0 else {"type": "http.disconnect"}

        await self._app(scope, receive_some, send)
