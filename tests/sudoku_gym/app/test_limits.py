"""What a visitor of the page may cost."""

import asyncio
import itertools
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from sudoku_gym.app import limits
from sudoku_gym.app.limits import ShortQueue, VisitorBudgets, limit_waiting, visitor_of


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


def test_pictures_are_charged_and_without_time_no_move_is_taken_back(clock, monkeypatch):
    gr = pytest.importorskip("gradio")
    from sudoku_gym.app import handlers as module
    from sudoku_gym.app.choices import OfferedPolicies

    def drawn(game, note):
        clock.used += 0.4
        return "a board"

    class Game:
        is_computing, is_replaced, moves_back = False, False, 0

        def back(self):
            self.moves_back += 1

    monkeypatch.setattr(module, "render_html", drawn)
    handlers = module.Handlers(OfferedPolicies(["masked-random"]), VisitorBudgets(1.0), None)
    game, client = Game(), SimpleNamespace(host="192.0.2.7")
    request = SimpleNamespace(client=client, session_hash="page")
    handlers._visits.open(client.host, "page").begin([game, game])
    for _ in range(2):
        left, right, note, _ = handlers.back(request)
        assert (left, right, note.value) == ("a board", "a board", "")
    assert game.moves_back == 4
    *_, note, _ = handlers.back(request)
    assert "all that a visitor gets" in note.value and game.moves_back == 4
    ((*boards, note, _),) = handlers.move(request)
    assert "all that a visitor gets" in note.value and boards == [gr.skip()] * 2


def test_few_visitors_are_remembered(clock, monkeypatch):
    monkeypatch.setattr(limits, "_MOST_VISITORS", 3)
    budgets = VisitorBudgets(1.0)
    for name in "abcdef":
        with budgets.charged(name):
            clock.used += 5
    assert len(budgets._used) == 3


BODY = SimpleNamespace(session_hash="a session")


class Queue:
    """As much of gradio's queue as is looked at."""

    max_size = 5

    def __init__(self):
        self.events = []
        self.event_queue_per_concurrency_id = {"play": SimpleNamespace(queue=self.events)}
        self.pending_event_ids_session, self.pending_messages_per_session = {}, {}
        self.active_jobs = []

    def __len__(self):
        return len(self.events)

    async def push(self, body, request, username):
        name = body.session_hash
        self.pending_event_ids_session[name] = set()
        self.pending_messages_per_session.setdefault(name, ShortQueue())
        self.events.append(SimpleNamespace(request=request, session_hash=name, alive=True))
        return True, "an id", "success"

    def send_message(self, event, message):
        self.pending_messages_per_session[event.session_hash].put_nowait(message)


def test_a_visitor_has_few_places_and_reads_how_many_wait():
    queue, pushed = Queue(), []
    limit_waiting(queue, 2)
    for host in "aaabbbc":
        request = SimpleNamespace(client=SimpleNamespace(host=host))
        pushed.append(asyncio.run(queue.push(BODY, request, None)))
    assert [each[0] for each in pushed] == [True, True, False, True, True, False, True]
    assert pushed[2][1].startswith("2 of your requests wait or are being served, 2 wait in all:")
    full = asyncio.run(queue.push(BODY, SimpleNamespace(client=None), None))
    assert full[0] is False and full[1] == "5 requests are waiting: come back in a minute"


def test_what_is_served_takes_a_place_too():
    queue, request = Queue(), SimpleNamespace(client=SimpleNamespace(host="a"))
    queue.active_jobs = [None, [SimpleNamespace(request=request)]]
    limit_waiting(queue, 2)
    pushed = [asyncio.run(queue.push(BODY, request, None))[0] for _ in range(2)]
    assert pushed == [True, False]


def test_answers_that_nobody_reads_take_little_memory():
    queue = Queue()
    queue.max_size = None
    limit_waiting(queue, 1000)

    def pushed(host, name):
        request = SimpleNamespace(client=SimpleNamespace(host=host))
        body = SimpleNamespace(session_hash=name)
        assert asyncio.run(queue.push(body, request, None))[0]
        return queue.events[-1]

    answers = queue.pending_messages_per_session
    reading = pushed("a", "is read")
    queue.send_message(reading, "an answer")
    assert answers["is read"].get_nowait() == "an answer" and reading.alive
    others = pushed("b", "another visitor's")
    for _ in range(10):
        queue.send_message(others, "an answer")
    for number in range(50):
        event = pushed("a", f"page {number}")
        for _ in range(1000):
            queue.send_message(event, "an answer")
        assert not event.alive
    assert sum(each.qsize() for each in answers.values()) <= 10 + 100 + 40
    assert answers["another visitor's"].qsize() == 10
    forgotten = queue.events[2]
    assert forgotten.session_hash not in answers
    queue.send_message(forgotten, "an answer")
    last = answers["page 49"]
    last.put_nowait("cancelled")  # as gradio writes when a request is cancelled
    assert last.qsize() == 40 and [last.get_nowait() for _ in range(40)][-1] == "cancelled"
    assert not forgotten.alive and forgotten.session_hash not in answers


def test_many_visitors_who_read_nothing_take_little_memory():
    """Those with most unread answers lose them; who reads his keeps his page."""
    queue = Queue()
    queue.max_size = None
    limit_waiting(queue, 1000)
    answers = queue.pending_messages_per_session

    def pushed(host):
        request = SimpleNamespace(client=SimpleNamespace(host=host))
        asyncio.run(queue.push(SimpleNamespace(session_hash=f"of {host}"), request, None))
        return queue.events[-1]

    reading, few = pushed("reader"), pushed("few")
    queue.send_message(reading, "an answer")
    answers["of reader"].get_nowait()
    queue.send_message(few, "an answer")
    for number in range(200):
        event = pushed(f"visitor {number}")
        for _ in range(30):
            queue.send_message(event, "an answer")
        assert sum(each.qsize() for each in answers.values()) <= 800 + 30
    assert {"of reader", "of few"} <= answers.keys() and reading.alive and few.alive


def test_a_visitor_is_answered_few_requests_at_a_time():
    pytest.importorskip("uvicorn")
    from sudoku_gym.app import connections

    started, statuses = [], []

    async def waiting(scope, receive, send):
        started.append(scope["client"][0])
        await scope["go on"].wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message):
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    async def asked():
        application, go_on = connections.FewRequests(waiting), asyncio.Event()
        most = connections.MOST_CONNECTIONS
        hosts = ["192.0.2.7"] * (most + 5) + ["192.0.2.8"] + ["127.0.0.1"] * (most + 5)
        scopes = [{"type": "http", "client": (host, 1), "go on": go_on} for host in hosts]
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


def test_sessions_that_nobody_reads_are_forgotten(monkeypatch):
    """So that a visitor who gives a new name with each request takes no memory."""
    monkeypatch.setattr(limits, "_MOST_SESSIONS", 10)
    queue = Queue()
    queue.max_size = None
    limit_waiting(queue, 100)
    for number in range(40):
        body = SimpleNamespace(session_hash=f"session {number}")
        assert asyncio.run(queue.push(body, SimpleNamespace(client=None), None))[0]
        queue.events.clear()
        for name in set(queue.pending_messages_per_session) - {"session 3"}:
            del queue.pending_messages_per_session[name]
        assert len(queue.pending_event_ids_session) <= 10
    assert "session 3" in queue.pending_event_ids_session
    body = SimpleNamespace(session_hash="a" * 101)
    refused = asyncio.run(queue.push(body, SimpleNamespace(client=None), None))
    assert refused[:2] == (False, "the name of a session is too long, or empty")


@pytest.mark.parametrize("name", ["\ud800", "a\nb", "\u00e9", "", None, 5])
def test_a_session_has_a_plain_name(name):
    """Others break what gradio sums up of all requests, and so the answers to all visitors."""
    queue = Queue()
    limit_waiting(queue, 100)
    body = SimpleNamespace(session_hash=name)
    refused = asyncio.run(queue.push(body, SimpleNamespace(client=None), None))
    assert not refused[0] and "the name of a session" in refused[1] and not queue.events


def test_a_visitor_without_an_address():
    assert visitor_of(SimpleNamespace(client=None)) == visitor_of(None) == ""


@pytest.mark.parametrize(
    ("address", "visitor"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2::9", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("::ffff:192.0.2.7", "::ffff:192.0.2.7"),
        ("testclient", "testclient"),
    ],
)
def test_a_visitor_has_all_addresses_of_a_network(address, visitor):
    assert visitor_of(SimpleNamespace(client=SimpleNamespace(host=address))) == visitor


async def never_answers(scope, receive, send):
    await asyncio.Event().wait()


def connect(hosts, most):
    """Return a connection from each host, of which so many are allowed at a time."""
    uvicorn = pytest.importorskip("uvicorn")
    from uvicorn.server import ServerState

    from sudoku_gym.app import connections

    others, config = (
        connections.OpenConnections(most),
        uvicorn.Config(never_answers, log_level="critical"),
    )
    made = []
    for host in hosts:
        peer = {"peername": host and (host, 1), "sockname": ("192.0.2.1", 80)}
        of_uvicorn = {"config": config, "server_state": ServerState(), "app_state": {}}
        made.append(connections.FewConnections(others, **of_uvicorn))
        transport = Mock(spec=asyncio.Transport)
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
    connections = pytest.importorskip("sudoku_gym.app.connections")
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
    connections = pytest.importorskip("sudoku_gym.app.connections")
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
    connections = pytest.importorskip("sudoku_gym.app.connections")
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
