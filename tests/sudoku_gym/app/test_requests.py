"""Requests of visitors: how many are answered and worked at, and who pays for them."""

import asyncio

import pytest

from sudoku_gym.app.limits import VisitorBudgets

requests = pytest.importorskip("sudoku_gym.app.requests")

NO_LIMIT = VisitorBudgets(None)
STREAM = "/gradio_api/queue/data"

BODY = [
    {"type": "http.request", "body": b"{", "more_body": True},
    {"type": "http.request", "body": b"}", "more_body": False},
]


def request(host, path):
    return {"type": "http", "client": (host, 1), "path": path}


def test_a_visitor_is_answered_few_requests_at_a_time():
    started, statuses = [], []

    async def waiting(scope, receive, send):
        started.append(scope["client"][0])
        await scope["go on"].wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message):
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    async def asked():
        application, go_on = requests.FewRequests(waiting, NO_LIMIT), asyncio.Event()
        most = requests.MOST_CONNECTIONS
        hosts = ["192.0.2.7"] * (most + 5) + ["192.0.2.8"] + ["127.0.0.1"] * (most + 5)
        scopes = [request(host, STREAM) | {"go on": go_on} for host in hosts]
        tasks = [asyncio.ensure_future(application(scope, None, send)) for scope in scopes]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert statuses == [503] * 5 and started.count("192.0.2.7") == most
        assert started.count("127.0.0.1") == most + 5
        go_on.set()
        await asyncio.gather(*tasks)
        await application(scopes[0], None, send)

    asyncio.run(asked())
    assert statuses.count(503) == 5 and started.count("192.0.2.8") == 1


def test_a_few_requests_of_a_visitor_are_worked_at_while_the_others_wait():
    worked_at = []

    async def working(scope, receive, send):
        assert [await receive(), await receive()] == BODY
        worked_at.append(scope["client"][0])
        await scope["go on"].wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.sleep(60)  # the answer is long, or the visitor slow

    async def ask():
        application, go_on = requests.InTurn(working), asyncio.Event()
        few = requests.WORKED_AT
        slow = [request("192.0.2.7", "/config")] * 5  # whose bodies do not arrive
        scopes = [request("192.0.2.7", "/config")] * (few + 5)
        scopes += [request("192.0.2.7", STREAM), request("192.0.2.8", "/config")]
        tasks = [
            asyncio.ensure_future(application(scope | {"go on": go_on}, *channel))
            for scope, channel in [(each, (asyncio.Event().wait, ignore)) for each in slow]
            + [(each, (iter_of(BODY), ignore)) for each in scopes]
        ]
        await asyncio.sleep(0.01)
        assert sorted(worked_at) == ["192.0.2.7"] * (few + 1) + ["192.0.2.8"]
        go_on.set()
        await asyncio.sleep(0.01)
        assert len(worked_at) == len(scopes)
        for task in tasks:
            task.cancel()

    asyncio.run(ask())


async def ignore(message):
    pass


def iter_of(messages):
    """Return an ASGI channel that receives them, one after the other."""
    left = iter(messages)

    async def receive():
        return next(left)

    return receive


def test_the_steps_of_a_request_are_charged_and_no_others(clock):
    """Between its steps the thread answers others."""
    budgets, ends = VisitorBudgets(1.0), []

    async def busy(scope, receive, send):
        try:
            for _ in range(3):
                clock.used += 0.25
                await asyncio.sleep(0)
            if scope["path"] == "/wrong":
                raise KeyError("wrong")
            await asyncio.sleep(60)
        finally:
            clock.used += 0.25
            ends.append(scope["path"])

    async def ask():
        application = requests.FewRequests(busy, budgets)
        scopes = [
            {"type": "http", "path": path, "client": (host, 1)}
            for path, host in (("/wrong", "192.0.2.7"), ("/long", "192.0.2.8"))
        ]
        wrong, long = (asyncio.ensure_future(application(each, None, None)) for each in scopes)
        with pytest.raises(KeyError):
            await wrong
        assert budgets.are_spent("192.0.2.7") and not budgets.are_spent("192.0.2.8")
        long.cancel()
        with pytest.raises(asyncio.CancelledError):
            await long
        assert budgets.are_spent("192.0.2.8")

    asyncio.run(ask())
    assert ends == ["/wrong", "/long"] and clock.used == 2.0
