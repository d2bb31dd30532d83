"""What a visitor of the page may cost."""

import asyncio
from types import SimpleNamespace

import pytest

from sudoku_gym.app import limits
from sudoku_gym.app.limits import ShortQueue, VisitorBudgets, limit_waiting, visitor_of


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


BODY = SimpleNamespace(session_hash="a-session")


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
    reading = pushed("a", "is-read")
    queue.send_message(reading, "an answer")
    assert answers["is-read"].get_nowait() == "an answer" and reading.alive
    others = pushed("b", "another")
    for _ in range(10):
        queue.send_message(others, "an answer")
    for number in range(50):
        event = pushed("a", f"page-{number}")
        for _ in range(1000):
            queue.send_message(event, "an answer")
        assert not event.alive
    assert sum(each.qsize() for each in answers.values()) <= 10 + 100 + 40
    assert answers["another"].qsize() == 10
    forgotten = queue.events[2]
    assert forgotten.session_hash not in answers
    queue.send_message(forgotten, "an answer")
    last = answers["page-49"]
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
        asyncio.run(queue.push(SimpleNamespace(session_hash=f"of-{host}"), request, None))
        return queue.events[-1]

    reading, few = pushed("reader"), pushed("few")
    queue.send_message(reading, "an answer")
    answers["of-reader"].get_nowait()
    queue.send_message(few, "an answer")
    for number in range(200):
        event = pushed(f"visitor-{number}")
        for _ in range(30):
            queue.send_message(event, "an answer")
        assert sum(each.qsize() for each in answers.values()) <= 800 + 30
    assert {"of-reader", "of-few"} <= answers.keys() and reading.alive and few.alive


def test_sessions_that_nobody_reads_are_forgotten(monkeypatch):
    """So that a visitor who gives a new name with each request takes no memory."""
    monkeypatch.setattr(limits, "_MOST_SESSIONS", 10)
    queue = Queue()
    queue.max_size = None
    limit_waiting(queue, 100)
    for number in range(40):
        body = SimpleNamespace(session_hash=f"session-{number}")
        assert asyncio.run(queue.push(body, SimpleNamespace(client=None), None))[0]
        queue.events.clear()
        for name in set(queue.pending_messages_per_session) - {"session-3"}:
            del queue.pending_messages_per_session[name]
        assert len(queue.pending_event_ids_session) <= 10
    assert "session-3" in queue.pending_event_ids_session


@pytest.mark.parametrize(
    "name", ["\ud800", "a\nb", "\u00e9", "", None, 5, "a" * 101, "a<gradio-sep>b", "a\n"]
)
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
