"""What the buttons of the page do while moves are computed, or after other games have begun."""

import time
from threading import Event, Thread
from types import SimpleNamespace

import pytest

from sudoku_gym.app.choices import OfferedPolicies, puzzle
from sudoku_gym.app.game import Game
from sudoku_gym.app.limits import VisitorBudgets
from sudoku_gym.policies import load_policy

pytest.importorskip("gradio")
from sudoku_gym.app import page

REQUEST = SimpleNamespace(client=SimpleNamespace(host="192.0.2.7"))


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
    return page.Handlers(OfferedPolicies(["masked-random"]), VisitorBudgets(None), None)


def wait_until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_move_that_nobody_waits_for_ends_before_the_next(handlers, slow):
    """A visitor may leave a request in the middle of a move; the game is then still in it."""
    game = Game("slow", slow, *puzzle("4x4", 1, ""))
    moving = handlers.move([game], REQUEST)
    next(moving)
    wait_until(lambda: game.is_computing)
    moving.close()
    assert game.is_computing
    list(handlers.move([game], REQUEST))  # a click that comes too early
    game.step()
    assert game.status.endswith("blanks.")
    slow.go_on.set()
    wait_until(lambda: not game.is_computing)
    assert game.status.startswith("1. ") and not game.is_finished
    list(handlers.move([game], REQUEST))
    assert game.status.startswith("2. ") and not game.failure


def test_a_replaced_game_draws_nothing(handlers, slow):
    game = Game("slow", slow, *puzzle("4x4", 1, ""))
    games = [game]
    moving = handlers.move(games, REQUEST)
    next(moving)
    chosen = ["4x4", 1, "", "masked-random", "", "nobody", ""]
    *_, (begun, left, _, _, _) = handlers.start(REQUEST, games, *chosen)
    assert len(begun) == 1 and "blanks." in left
    assert list(moving) == []
    nothing = page.gr.skip()
    assert handlers.back(games, REQUEST) == (nothing,) * 5
    assert list(handlers.move(games, REQUEST)) == []


def test_games_that_are_no_longer_kept_are_told_of(handlers):
    for answer in (*handlers.move(None, REQUEST), handlers.back(None, REQUEST)):
        assert "no longer kept: Start over" in answer[3].value


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
