"""Requests from third parties to a server: of a sensible size, in a log without tracebacks."""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, TypeAlias

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

_LONGEST_QUERY, _LONGEST_HEAD, _MOST_HEADERS = 1_000, 16_384, 64
_HEADERS = (
    *(b"host", b"origin", b"x-forwarded-host", b"x-forwarded-proto"),  # a page's own address
    *(b"accept", b"content-length", b"content-type", b"if-none-match", b"user-agent"),
)
_SECONDS_TO_ARRIVE = 30.0  # of a body
_MINUTE, _LINES_A_MINUTE = 60.0, 30
_TOO_BIG = 1009  # why a websocket is closed, RFC 6455


class LimitedHeads:
    """An ASGI application whose requests have short heads, with few headers.

    A query of more than 1,000 bytes is answered with 414, headers of more than 16 kB or 64 of them
    with 431. No other headers than those of a request's address and body reach the application: it
    has no cookies, and some Pythons take seconds to read a long one; and it compresses nothing,
    which takes half a second for a large answer, in which nobody else gets one.
    """

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = scope["headers"]
        length = sum(len(name) + len(value) for name, value in headers)
        if len(scope["query_string"]) > _LONGEST_QUERY:
            await refuse(scope, send, 414)
        elif length > _LONGEST_HEAD or len(headers) > _MOST_HEADERS:
            await refuse(scope, send, 431)
        else:
            kept = [pair for pair in headers if pair[0] in _HEADERS]
            await self._app({**scope, "headers": kept}, receive, send)


async def refuse(scope: Message, send: Send, status: int) -> None:
    """Answer a request with a status alone; a websocket is closed, which clients see as 403."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": _TOO_BIG, "reason": "too long"})
        return
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b""})


class LimitedBodies:
    """An ASGI application whose requests have bodies of at most `longest` bytes.

    They are counted while they are read, since a body in chunks does not say its length. One that
    says it, and is longer, is answered with 413; any other that is too long is cut off. So is one
    of more than `brackets` lists and objects in JSON, which cost far more to look at than to send.
    A websocket that sends such a message is closed with 1009. A body that is not there after 30 s
    is cut off too, and one that brings those of all requests being answered above `most` bytes.
    `longest_at` has other numbers of bytes, by the path of a request.
    """

    def __init__(
        self,
        app: Application,
        longest: int,
        brackets: int,
        most: int,
        longest_at: Mapping[str, int] | None = None,
    ) -> None:
        self._app, self._longest, self._brackets = app, longest, brackets
        self._most, self._held = most, 0
        self._longest_at = longest_at or {}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "websocket":
            await self._app(scope, self._short_messages(receive, send), send)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        longest = self._longest_at.get(scope["path"], self._longest)
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or int(length[:20]) > longest:
            await refuse(scope, send, 413)
            return
        left, brackets, has_more = longest, self._brackets, True
        end = time.monotonic() + _SECONDS_TO_ARRIVE

        async def receive_some() -> Message:
            nonlocal left, brackets, has_more
            try:
                seconds = end - time.monotonic() if has_more else None
                message = await asyncio.wait_for(receive(), seconds)
            except TimeoutError:
                return {"type": "http.disconnect"}
            body, has_more = message.get("body", b""), message.get("more_body", False)
            left -= len(body)
            self._held += len(body)
            brackets -= _count_brackets(body)
            is_short = min(left, brackets, self._most - self._held) >= 0
            return message if is_short else {"type": "http.disconnect"}

        try:
            await self._app(scope, receive_some, send)
        finally:
            self._held -= longest - left

    def _short_messages(self, receive: Receive, send: Send) -> Receive:
        async def receive_short() -> Message:
            message = await receive()
            body = message.get("bytes") or (message.get("text") or "").encode()
            if len(body) <= self._longest and _count_brackets(body) <= self._brackets:
                return message
            await send({"type": "websocket.close", "code": _TOO_BIG, "reason": "too long"})
            return {"type": "websocket.disconnect", "code": _TOO_BIG}

        return receive_short


class ErrorsInALine:
    """An ASGI application whose errors about forged requests are a line in the log."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        try:
            await self._app(scope, receive, send)
        except Exception:
            tell_of_refusal()


def tell_of_refusal() -> None:
    """Write the error that is being handled, of a request that can't be answered, as a line.

    Whoever sends such requests must not fill a disk: beyond some lines a minute they are counted.
    """
    line = _refusals.line(repr(sys.exc_info()[1])[:200], time.monotonic())
    if line:
        print(f"sudoku-gym: {line}", file=sys.stderr)


class _Refusals:
    """The lines of a minute."""

    def __init__(self) -> None:
        self._since, self._lines = -math.inf, 0

    def line(self, problem: str, now: float) -> str:
        """Return what is to be written of a problem; empty if nothing is."""
        left_out = max(self._lines - _LINES_A_MINUTE, 0)
        is_new = now - self._since > _MINUTE
        if is_new:
            self._since, self._lines = now, 0
        self._lines += 1
        if self._lines > _LINES_A_MINUTE:
            return ""
        more = f"; {left_out} more before it" if is_new and left_out else ""
        return f"a request was refused: {problem}{more}"


_refusals = _Refusals()


def _count_brackets(body: bytes) -> int:
    return body.count(b"[") + body.count(b"{")
