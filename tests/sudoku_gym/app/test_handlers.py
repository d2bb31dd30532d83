"""What the buttons of the page do while moves are computed, or after other games have begun."""

import asyncio
import gc
import os
import subprocess
import sys
import time
import weakref
from threading import Event, Thread
from types import SimpleNamespace

import pytest

from sudoku_gym.app.choices import OfferedPolicies, puzzle
from sudoku_gym.app.game import Game
from sudoku_gym.app.limits import VisitorBudgets
from sudoku_gym.policies import load_policy

gr = pytest.importorskip("gradio")
from sudoku_gym.app.handlers import Handlers  # noqa: E402

HOST = "192.0.2.7"
REQUEST = SimpleNamespace(client=SimpleNamespace(host=HOST), session_hash="page")
CHOSEN = ["4x4", 1, "", "masked-random", "", "nobody", ""]


class Slow:
    """Plays the first legal action once it is told to go on."""

    def __init__(self):
        self.go_on = Event()

    def reset(self, puzzles, geometry, rng):
        pass

    def act(self, boards, action_masks):
        assert self.go_on.wait(60)
        return action_masks.argmax(1)


@pytest.fixture
def slow():
    policy = Slow()
    yield policy
    policy.go_on.set()


@pytest.fixture
def handlers():
    return Handlers(OfferedPolicies(["masked-random"]), VisitorBudgets(None), None)


def shown(handlers, *games):
    """Let a page show these games."""
    handlers._visits.open(HOST, "page").begin(list(games))


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_move_that_nobody_waits_for_ends_before_the_next(handlers, slow):
    """A visitor may leave a request in the middle of a move; the game is then still in it."""
    game = Game("slow", slow, *puzzle("4x4", 1, ""))
    shown(handlers, game)
    moving = handlers.move(REQUEST)
    next(moving)
    wait_until(lambda: game.is_computing)
    moving.close()
    assert game.is_computing
    list(handlers.move(REQUEST))  # a click that comes too early
    game.step()
    assert game.status.endswith("blanks.")
    slow.go_on.set()
    wait_until(lambda: not game.is_computing)
    assert game.status.startswith("1. ") and not game.is_finished
    list(handlers.move(REQUEST))
    assert game.status.startswith("2. ") and not game.failure


def test_a_replaced_game_draws_nothing(handlers, slow):
    shown(handlers, Game("slow", slow, *puzzle("4x4", 1, "")))
    moving = handlers.move(REQUEST)
    next(moving)
    *_, (left, _, note, _) = handlers.start(REQUEST, *CHOSEN)
    assert "masked-random" in left and "blanks." in left and not note.value
    assert list(moving) == []
    left, *_ = handlers.back(REQUEST)
    assert "masked-random" in left


@pytest.mark.parametrize("ending", ["finished", "failed", "replaced"])
def test_a_game_that_has_ended_lets_go_of_its_policy(ending):
    """A network takes megabytes, and the games of many pages are kept for an hour."""
    policy = load_policy("naked-singles")
    game = Game("policy", policy, *puzzle("4x4", 1, ""))
    kept = weakref.ref(policy)
    if ending == "failed":
        policy.act = lambda boards, masks: 1 / 0
    del policy
    gc.collect()
    assert kept()
    if ending == "replaced":
        game.replace()
    while not game.is_finished:
        game.step()
    gc.collect()
    assert not kept() and game.status


def test_a_finished_game_is_looked_through_back_and_forth(handlers):
    given, geometry = puzzle("4x4", 1, "")
    game = Game("dlx", load_policy("dlx"), given, geometry)
    shown(handlers, game)
    end = time.monotonic() + 60
    ticking = None
    while ticking is None or ticking == gr.skip():
        *_, (left, _, _, ticking) = handlers.move(REQUEST)
        assert time.monotonic() < end
    assert game.is_over and "Solved after" in left and not ticking.active
    moves = int((given == 0).sum())
    for number in reversed(range(moves)):
        left, *_ = handlers.back(REQUEST)
        assert f"{number}. " in left or f"{moves} blanks." in left
    assert game.moment.board.tolist() == given.tolist()
    for number in range(1, moves):
        *_, (left, _, note, ticking) = handlers.move(REQUEST)
        assert f"{number}. " in left and not note.value and ticking == gr.skip()
    *_, (left, _, _, ticking) = handlers.move(REQUEST)
    assert "Solved after" in left and not ticking.active


def test_a_stopped_game_goes_to_its_end_after_back(handlers):
    game = Game("first", load_policy("naked-singles"), *puzzle("9x9", 1, ""))
    shown(handlers, game)
    for _ in range(3):
        list(handlers.move(REQUEST))
    game.stop("Stopped in the middle of a move.")
    handlers.back(REQUEST)
    *_, (left, _, _, ticking) = handlers.move(REQUEST)
    assert "Stopped in the middle" in left and not ticking.active


def test_games_that_are_no_longer_kept_are_told_of(handlers):
    for answer in (*handlers.move(REQUEST), handlers.back(REQUEST)):
        assert "no longer kept: Start over" in answer[2].value


def test_a_visitor_with_many_pages_pushes_out_no_game_of_others(handlers):
    list(handlers.start(REQUEST, *CHOSEN))
    for number in range(300):
        page_name, host = f"page {number}", f"198.51.100.{number % 15}"
        other = SimpleNamespace(client=SimpleNamespace(host=host), session_hash=page_name)
        handlers.stop(other)
        handlers._visits.open(host, page_name)
    assert len(handlers._visits) == 250
    for number in range(60):
        handlers._visits.open("198.51.100.0", f"another page {number}")
    of_one = [page for visitor, page in handlers._visits._visits if visitor == "198.51.100.0"]
    assert len(of_one) <= 20 and of_one[-1] == "another page 59"
    *_, (left, _, note, _) = handlers.move(REQUEST)
    assert "masked-random" in left and not note.value


def test_a_visitor_is_not_who_a_header_says(monkeypatch):
    """A proxy on this machine may hand on what a visitor has written, another name each time."""
    page = pytest.importorskip("sudoku_gym.app.page")
    seen = []

    async def application(scope, receive, send):
        seen.append(scope["client"])

    def run(server, sockets):
        server.config.load()
        header = (b"x-forwarded-for", b"198.51.100.7")
        scope = {"type": "http", "client": ("127.0.0.1", 7), "headers": [header]}
        asyncio.run(server.config.loaded_app(scope, None, None))

    monkeypatch.setattr(page, "_compile", lambda offers: None)
    monkeypatch.setattr(page, "application", lambda *limits: application)
    monkeypatch.setattr(page.uvicorn.Server, "run", run)
    page.serve(OfferedPolicies(), "127.0.0.1", 0)
    assert seen == [("127.0.0.1", 7)]


ODD = {
    "MPLBACKEND": "module://of_a_notebook_elsewhere",
    "ALL_PROXY": "socks5://127.0.0.1:1",
    "all_proxy": "socks://127.0.0.1:1",
    "SSL_CERT_FILE": "/not/there",
    "WEB_CONCURRENCY": "auto",
}
STARTS = """
import os, sys
from types import SimpleNamespace
import sudoku_gym.app.page as page
from sudoku_gym.app.choices import OfferedPolicies
def run(server, sockets):
    server.config.load()
    import matplotlib
    print(matplotlib.get_backend(), os.environ["ALL_PROXY"])
sys.stdout = SimpleNamespace(write=sys.stdout.write, flush=sys.stdout.flush)  # a log of another's
page._compile = lambda offers: None
page.uvicorn.Server.run = run
page.serve(OfferedPolicies(), "127.0.0.1", 0)
"""


def test_the_page_starts_whatever_the_environment_says_to_libraries_of_it():
    """Settings of notebooks, desktops and other servers; policies find them as they were."""
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, **ODD, "PYTHONPATH": paths}
    command = [sys.executable, "-c", STARTS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "agg socks5://127.0.0.1:1"


def test_a_folder_that_gradio_can_t_write_is_named_before_the_page_is_shown(
    tmp_path, monkeypatch, capsys
):
    page = pytest.importorskip("sudoku_gym.app.page")
    (tmp_path / "gradio").write_text("mine")
    history = tmp_path / "gradio" / "history"  # which gradio makes while the page is laid out
    monkeypatch.setattr(page, "application", lambda *limits: history.mkdir(parents=True))
    monkeypatch.setattr(page, "_compile", lambda offers: None)
    with pytest.raises(ValueError, match=r"gradio.*: Not a directory: .*GRADIO_TEMP_DIR"):
        page.serve(OfferedPolicies(), "127.0.0.1", 0)
    assert not capsys.readouterr().out


class Unmade:
    """Offers a policy only once it is told to go on."""

    def __init__(self):
        self.go_on, self.asked = Event(), Event()

    def is_of_others(self, name):
        return False

    def policy(self, name, options, size):
        self.asked.set()
        assert self.go_on.wait(60)
        return load_policy("masked-random")


@pytest.fixture
def unmade():
    offers = Unmade()
    yield offers
    offers.go_on.set()


@pytest.mark.parametrize("ending", ["connection lost", "Stop", "error"])
def test_games_stay_until_others_have_begun(unmade, ending):
    handlers = Handlers(unmade, VisitorBudgets(None), None)
    game = Game("before", load_policy("masked-random"), *puzzle("4x4", 1, ""))
    shown(handlers, game)
    starting = handlers.start(REQUEST, *(["?"] if ending == "error" else ["4x4"]), *CHOSEN[1:])
    if ending == "error":
        *_, (left, _, note, _) = starting
        assert left == gr.skip() and "choose one of the puzzles" in note.value
    else:
        next(starting)
        assert unmade.asked.wait(60)
        if ending == "Stop":
            handlers.stop(REQUEST)
            *_, (left, _, note, _) = starting
            assert left == gr.skip() and "Stopped before the games began" in note.value
        else:
            starting.close()
        unmade.go_on.set()
    assert not game.is_replaced
    *_, (left, _, note, _) = handlers.move(REQUEST)
    assert "before" in left and "1. " in left and not note.value


def test_the_last_start_of_a_page_counts(unmade):
    handlers = Handlers(unmade, VisitorBudgets(None), None)
    first = handlers.start(REQUEST, *CHOSEN)
    next(first)
    second = handlers.start(REQUEST, "6x6", *CHOSEN[1:])
    next(second)
    unmade.go_on.set()
    assert list(first) == []
    *_, (_, _, note, _) = second
    assert not note.value
    (game,) = handlers._visits.find(HOST, "page").games
    assert game.moment.geometry.size == 6


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("sum-product", "iterations=201"),
        ("bp-sinkhorn", "sinkhorn_rounds=21"),
        ("sinkhorn", "iterations=1000"),
    ],
)
def test_belief_propagation_of_visitors_is_short(name, options):
    offers = OfferedPolicies()
    with pytest.raises(ValueError, match="takes too long here: use at most"):
        offers.policy(name, options)
    offers.policy(name)


@pytest.mark.parametrize(
    ("name", "most"),
    [("sum-product", 20), ("max-product", 20), ("drawn-marginal", 12), ("surest-marginal", 12)],
)
def test_exact_messages_on_large_boards_take_few_iterations(name, most):
    offers = OfferedPolicies()
    with pytest.raises(ValueError, match=f"iterations={most + 1} takes too long here"):
        offers.policy(name, f"iterations={most + 1}", 16)
    solver = getattr(offers.policy(name, "", 16), "solver", None)
    if solver is not None:
        assert solver.config.iterations == most
    offers.policy(name, f"iterations={most + 1}", 9)


@pytest.mark.parametrize(
    ("name", "count"),  # of puzzles that take about half a second
    [
        ("sum-product", 20),
        ("sinkhorn", 40),
        ("backtracking", 150),
        ("propagation", 1500),
        ("dlx", 4000),
    ],
)
def test_others_go_on_while_a_solver_computes(name, count):
    """Compiled kernels hold no lock of the interpreter."""
    given, geometry = puzzle("9x9-hardest", 1, "")
    puzzles = given[None].repeat(count, 0)
    solver = load_policy(name).solver
    solver.solve(puzzles[:1], geometry)  # compiles
    computing = Thread(target=solver.solve, args=(puzzles, geometry))
    computing.start()
    ticks = 0
    while computing.is_alive():
        time.sleep(0.001)
        ticks += 1
    assert ticks >= 20
