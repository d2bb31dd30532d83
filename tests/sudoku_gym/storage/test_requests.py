"""Requests of strangers: short heads, bodies that are counted while they are read, few lines."""

import asyncio

import pytest

from sudoku_gym.storage import requests
from sudoku_gym.storage.requests import ErrorsInALine, LimitedBodies, LimitedHeads, _Refusals


def answered(parts, headers=(), path="/"):
    """Send a body in parts to an application that reads all; return what it got, and was sent."""
    got, sent = [], []

    async def application(scope, receive, send):
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            got.append(message["body"])
            if not message["more_body"]:
                await send({"type": "http.response.start", "status": 200, "headers": []})
                return

    messages = [
        {"type": "http.request", "body": part, "more_body": i < len(parts) - 1}
        for i, part in enumerate(parts)
    ]

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "headers": list(headers), "path": path}
    limited = LimitedBodies(application, 100, 20, 100, {"/short": 10})
    asyncio.run(limited(scope, receive, send))
    return b"".join(got), [each.get("status") for each in sent], messages


def test_bodies_are_counted_while_they_are_read():
    assert answered([b"a" * 60, b"b" * 40])[:2] == (b"a" * 60 + b"b" * 40, [200])
    got, statuses, unread = answered([b"a" * 60] * 1000)
    assert len(got) == 60 and statuses == [] and len(unread) == 998


def test_some_paths_take_shorter_bodies():
    assert answered([b"a" * 10], path="/short")[:2] == (b"a" * 10, [200])
    assert answered([b"a" * 11], path="/short")[:2] == (b"", [])
    got, statuses, _ = answered([b"a"], [(b"content-length", b"11")], path="/short")
    assert got == b"" and statuses[0] == 413


@pytest.mark.parametrize("part", [b"[[]]", b'{"a":{"b"', b"[1,[{"])
def test_a_body_of_many_lists_is_cut_off(part):
    got, statuses, unread = answered([part] * 25)
    assert statuses == [] and len(unread) > 10 and got.count(b"[") + got.count(b"{") <= 20


def test_bodies_that_do_not_end_are_bounded_in_all_and_cut_off(monkeypatch):
    monkeypatch.setattr(requests, "_SECONDS_TO_ARRIVE", 0.2)
    read = []

    async def application(scope, receive, send):
        while (await receive())["type"] != "http.disconnect":
            read.append(scope["path"])

    async def ask(limited, path, size):
        parts = [{"type": "http.request", "body": b"a" * size, "more_body": True}]

        async def receive():
            return parts.pop() if parts else await asyncio.Event().wait()

        await limited({"type": "http", "headers": [], "path": path}, receive, None)

    async def ask_all():
        limited = LimitedBodies(application, 100, 20, 150)
        first, second = (asyncio.ensure_future(ask(limited, each, 75)) for each in "ab")
        await asyncio.sleep(0.05)
        await ask(limited, "too many", 1)
        assert read == ["a", "b"] and not (first.done() or second.done())
        await asyncio.gather(first, second)
        await ask(limited, "c", 100)
        assert read == ["a", "b", "c"]

    asyncio.run(asyncio.wait_for(ask_all(), 10))


@pytest.mark.parametrize("length", [b"101", b"9" * 5000, b"-1", b"x"])
def test_a_length_that_is_too_long_is_refused_unread(length):
    got, statuses, unread = answered([b"a"], [(b"content-length", length)])
    assert got == b"" and statuses[0] == 413 and len(unread) == 1


@pytest.mark.parametrize(
    ("message", "is_taken"),
    [
        ({"text": "a" * 100}, True),
        ({"bytes": b"a" * 100}, True),
        ({"text": "a" * 101}, False),
        ({"bytes": b"a" * 101}, False),
        ({"text": "[" * 21}, False),
        ({"text": "é" * 51}, False),
    ],
)
def test_a_websocket_is_closed_after_a_message_that_is_too_long(message, is_taken):
    got, sent = [], []

    async def application(scope, receive, send):
        got.append(await receive())

    async def receive():
        return {"type": "websocket.receive", **message}

    async def send(message):
        sent.append(message)

    asyncio.run(LimitedBodies(application, 100, 20, 100)({"type": "websocket"}, receive, send))
    assert [each["type"] for each in got] == [
        f"websocket.{'receive' if is_taken else 'disconnect'}"
    ]
    assert [each["code"] for each in sent] == ([] if is_taken else [1009])


def asked(headers=(), query=b"", kind="http"):
    """Send a head; return the headers that the application got, and what was sent."""
    got, sent = [], []

    async def application(scope, receive, send):
        got.extend(scope["headers"])

    async def send(message):
        sent.append(message.get("status", message.get("code")))

    scope = {"type": kind, "headers": list(headers), "path": "/", "query_string": query}
    asyncio.run(LimitedHeads(application)(scope, None, send))
    assert scope["headers"] == list(headers)
    return got, sent


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_headers_that_are_not_needed_are_not_read(kind):
    """Compression and long cookies take seconds of a server, in which nobody is answered."""
    dropped = [(b"accept-encoding", b"gzip"), (b"cookie", b'a="\\\\"'), (b"range", b"bytes=0-")]
    assert asked([*dropped, (b"accept", b"*/*")], kind=kind) == ([(b"accept", b"*/*")], [])


def test_long_heads_are_refused():
    host = (b"host", b"example.org")
    assert asked([host] * 64, b"a" * 1000) == ([host] * 64, [])
    assert asked([host] * 65) == ([], [431, None])
    assert asked([(b"host", b"a" * 17_000)]) == ([], [431, None])
    assert asked([host], b"a" * 1001) == ([], [414, None])
    assert asked([host], b"a" * 1001, "websocket") == ([], [1009])


def test_an_error_is_a_line(capsys):
    async def application(scope, receive, send):
        raise KeyError("forged")

    asyncio.run(ErrorsInALine(application)({}, None, None))
    assert capsys.readouterr().err == "sudoku-gym: a request was refused: KeyError('forged')\n"


def test_the_log_grows_slowly():
    refusals = _Refusals()
    lines = [refusals.line("why", 100.0 + second / 100) for second in range(1000)]
    assert lines == ["a request was refused: why"] * 30 + [""] * 970
    assert refusals.line("why", 170.0) == "a request was refused: why; 970 more before it"
    assert refusals.line("why", 171.0) == "a request was refused: why"
    assert refusals.line("why", 1000.0) == "a request was refused: why"
