"""What a visitor of the page may cost."""

import asyncio
from types import SimpleNamespace

import pytest

from sudoku_gym.app import limits
from sudoku_gym.app.limits import LimitedBodies, VisitorBudgets, limit_waiting, visitor_of


def answered(parts, headers=()):
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

    scope = {"type": "http", "headers": list(headers)}
    asyncio.run(LimitedBodies(application, 100)(scope, receive, send))
    return b"".join(got), [each.get("status") for each in sent], messages


def test_bodies_are_counted_while_they_are_read():
    assert answered([b"a" * 60, b"b" * 40])[:2] == (b"a" * 60 + b"b" * 40, [200])
    got, statuses, unread = answered([b"a" * 60] * 1000)
    assert len(got) == 60 and statuses == [] and len(unread) == 998


@pytest.mark.parametrize("length", [b"101", b"9" * 5000, b"-1", b"x"])
def test_a_length_that_is_too_long_is_refused_unread(length):
    got, statuses, unread = answered([b"a"], [(b"content-length", length)])
    assert got == b"" and statuses[0] == 413 and len(unread) == 1


@pytest.fixture
def clock(monkeypatch):
    """Clocks of the processor and on the wall that only tests move."""
    clock = SimpleNamespace(used=0.0, now=1000.0)
    monkeypatch.setattr(limits.time, "thread_time", lambda: clock.used)
    monkeypatch.setattr(limits.time, "monotonic", lambda: clock.now)
    return clock


def test_a_visitor_has_processor_time_which_comes_back(clock):
    budgets = VisitorBudgets(10.0, window=100.0)
    for _ in range(3):
        with budgets.charged("a"):
            clock.used += 4
    with pytest.raises(ValueError, match=r"used 10 s of processor time .* go on in 20 s"):
        budgets.check("a")
    with pytest.raises(ValueError), budgets.charged("a"):
        pytest.fail("it plays on")
    budgets.check("b")
    clock.now += 21
    budgets.check("a")


def test_what_raises_is_charged_and_nobody_is_limited_without_a_budget(clock):
    budgets, free = VisitorBudgets(1.0), VisitorBudgets(None)
    for each in (budgets, free):
        with pytest.raises(KeyError), each.charged("a"):
            clock.used += 5
            raise KeyError
    with pytest.raises(ValueError, match="processor time"):
        budgets.check("a")
    free.check("a")


def test_few_visitors_are_remembered(clock, monkeypatch):
    monkeypatch.setattr(limits, "_MOST_VISITORS", 3)
    budgets = VisitorBudgets(1.0)
    for name in "abcdef":
        with budgets.charged(name):
            clock.used += 5
    assert len(budgets._used) == 3


class Queue:
    """As much of gradio's queue as is looked at."""

    max_size = 5

    def __init__(self):
        self.events = []
        self.event_queue_per_concurrency_id = {"play": SimpleNamespace(queue=self.events)}

    def __len__(self):
        return len(self.events)

    async def push(self, body, request, username):
        self.events.append(SimpleNamespace(request=request))
        return True, "an id", "success"


def test_a_visitor_has_few_places_and_reads_how_many_wait():
    queue, pushed = Queue(), []
    limit_waiting(queue, 2)
    for host in "aaabbbc":
        request = SimpleNamespace(client=SimpleNamespace(host=host))
        pushed.append(asyncio.run(queue.push(None, request, None)))
    assert [each[0] for each in pushed] == [True, True, False, True, True, False, True]
    assert pushed[2][1] == "2 of your requests are waiting already, of 2 in all: wait for them"
    full = asyncio.run(queue.push(None, SimpleNamespace(client=None), None))
    assert full[0] is False and full[1] == "5 requests are waiting: come back in a minute"


def test_a_visitor_without_an_address():
    assert visitor_of(SimpleNamespace(client=None)) == visitor_of(None) == ""
