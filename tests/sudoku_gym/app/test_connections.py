"""Connections of visitors, and the time of the thread that answers them."""

import asyncio
import itertools
from functools import partial
from unittest.mock import Mock

import pytest

uvicorn = pytest.importorskip("uvicorn")
connections = pytest.importorskip("sudoku_gym.app.connections")
from sudoku_gym.app.requests import FewRequests  # noqa: E402

NO_LIMIT = connections.LoopBudgets(None, 9.0)


async def never_answers(scope, receive, send):
    await asyncio.Event().wait()


def was_closed(transport):
    return transport.abort.called or transport.close.called


def connect(hosts, most, budgets=NO_LIMIT, application=never_answers):
    """Return a connection from each host, of which so many are allowed at a time."""
    others = connections.OpenConnections(most)
    config = uvicorn.Config(application, lifespan="off", log_level="critical")
    config.load()
    made = []
    for host in hosts:
        peer = {"peername": host and (host, 1), "sockname": ("192.0.2.1", 80)}
        of_uvicorn = {
            "config": config,
            "server_state": uvicorn.server.ServerState(),
            "app_state": {},
        }
        made.append(connections.FewConnections(others, budgets, **of_uvicorn))
        transport = Mock(spec=asyncio.Transport)
        transport.is_closing.side_effect = partial(was_closed, transport)
        transport.get_extra_info.side_effect = peer.get
        transport.get_write_buffer_size.return_value = 0
        made[-1].connection_made(transport)
    return made


def closed(hosts, most):
    async def hosts_of_closed():
        return [
            each.client and each.client[0]
            for each in connect(hosts, most)
            if each.transport.abort.called
        ]

    return asyncio.run(hosts_of_closed())


def test_a_visitor_has_few_connections(monkeypatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 2)
    hosts = [*["192.0.2.7"] * 3, "192.0.2.8", *["127.0.0.1"] * 4, *["::1"] * 4, None]
    hosts += ["2001:db8::1", "2001:db8::2", "2001:db8::3"]
    assert closed(hosts, 100) == ["192.0.2.7", "2001:db8::3"]


def test_many_connections_do_not_shut_others_out():
    """The oldest of the visitor with most of them goes; a reverse proxy's are left alone."""
    hosts = ["192.0.2.1"] * 2 + ["192.0.2.7"] * 5 + ["192.0.2.8"] * 2 + ["192.0.2.9"]
    assert closed(hosts, 8) == ["192.0.2.7"] * 2
    assert closed(["127.0.0.1"] * 6 + ["192.0.2.9"], 6) == ["192.0.2.9"]


def test_connections_that_say_nothing_are_closed(monkeypatch):
    monkeypatch.setattr(connections, "_SILENT_SECONDS", 0.05)

    async def wait():
        made = connect(["192.0.2.7"] * 6, 10)
        made[1].data_received(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc")
        made[2].data_received(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
        made[3].data_received(b"GET / HTTP/1.1\r\nHost: a")
        for each, unsent in ((made[4], itertools.repeat(9)), (made[5], itertools.count(9))):
            each.data_received(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")  # it reads nothing, or slowly
            each.transport.get_write_buffer_size.side_effect = unsent
        await asyncio.sleep(0.3)
        made[2].connection_lost(None)
        made[5].connection_lost(None)
        return [each.transport.abort.called for each in made]

    assert asyncio.run(wait()) == [True, True, False, True, True, False]


def test_the_limit_of_open_files_is_raised(monkeypatch):
    resource = pytest.importorskip("resource")
    wanted = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: wanted.append(limits))
    for limits_here, room in (
        ((1024, 4300), 2000),
        ((1024, 1024), 362),
        ((256, 256), 1),
        ((1024, resource.RLIM_INFINITY), 2000),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), 2000),
        ((9000, 9000), 2000),
    ):
        monkeypatch.setattr(resource, "getrlimit", lambda _, found=limits_here: found)
        assert connections.allow_connections(2000) == room
    assert wanted[0] == (4300, 4300) and len(wanted) == 4


def test_who_has_used_up_the_thread_is_not_read(clock, monkeypatch):
    def read(self, data):
        assert len(data) <= 16_384
        clock.used += 0.25

    monkeypatch.setattr(connections.H11Protocol, "data_received", read)

    async def send_all():
        hosts = ["192.0.2.7"] * 9 + ["192.0.2.8", "127.0.0.1"]
        made = connect(hosts, 20, connections.LoopBudgets(4.0, 8.0))
        for each in made:
            each.data_received(b"a" * 3 * 16_384)
        first = [each.transport.abort.called for each in made]
        clock.now += 2.0  # on the wall
        made[0].data_received(b"a")
        stays_closed = made[0].transport.abort.call_count == 1
        made[1]._budgets._turned += 2.0
        made[1].data_received(b"a")
        assert stays_closed and not made[1].transport.abort.called
        return first

    closed = [False] * 5 + [True] * 4 + [False] * 2
    assert asyncio.run(send_all()) == closed


def test_nothing_is_read_after_what_is_no_request():
    async def send_much():
        (made,) = connect(["192.0.2.7"], 20)
        made.data_received(b"GET / HTTP/1.1\r\n" + b"a:\r\n" * 30_000)
        return b"".join(call.args[0] for call in made.transport.write.call_args_list)

    answer = asyncio.run(send_much())
    assert answer.startswith(b"HTTP/1.1 400") and answer.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(("host", "count"), [("192.0.2.7", 5), ("127.0.0.1", 9)])
def test_requests_that_came_with_an_earlier_one_wait_for_the_budget_too(clock, host, count):
    async def costly(scope, receive, send):
        clock.used += 1.0
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def send_a_volley():
        budgets = connections.LoopBudgets(4.0, 8.0)
        application = FewRequests(costly, budgets)
        (made,) = connect([host], 20, budgets, application)
        made.data_received(b"GET /config HTTP/1.1\r\nHost: x\r\n\r\n" * 9)
        for _ in range(40):
            await asyncio.sleep(0)
        return b"".join(call.args[0] for call in made.transport.write.call_args_list)

    assert asyncio.run(send_a_volley()).count(b"HTTP/1.1 204") == count
