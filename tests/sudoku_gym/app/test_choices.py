"""What visitors of the app ask for: they get what is offered or a reason, never a path."""

import re
import socket
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from sudoku_gym import board, cli
from sudoku_gym.app import choices
from sudoku_gym.app.choices import BANKS, TYPED_IN, OfferedPolicies, puzzle
from sudoku_gym.app.game import Game, render_html, render_legend
from sudoku_gym.envs.rendering import HEAT_COLORS
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Convergence, SolverPolicy
from sudoku_gym.puzzles import banks, named


class Hinted:
    """A policy that takes all sorts of options."""

    made: ClassVar = []

    def __init__(self, folder: str = "", simulations: int = 0, time_limit: float | None = None):
        self.made.append((folder, simulations, time_limit))

    def reset(self, puzzles, geometry, rng):
        pass

    def act(self, boards, action_masks):
        return action_masks.argmax(1)


class Broken(Hinted):
    def act(self, boards, action_masks):
        raise RuntimeError("<script>alert(1)</script>")


class Entry:
    """An installed policy of another package."""

    dist = None

    def __init__(self, factory):
        self.load = lambda: factory


@pytest.fixture
def offers(monkeypatch):
    installed = {"hinted": Entry(Hinted), "dlx": choices.plugins.available("sudoku_gym.policies")}
    installed["dlx"] = installed["dlx"]["dlx"]
    monkeypatch.setattr(choices.plugins, "available", lambda group: installed)
    Hinted.made.clear()
    return OfferedPolicies()


@pytest.mark.parametrize("name", [*BANKS, *named.TITLES])
def test_every_puzzle_of_the_list_is_well_posed(name):
    given, geometry = puzzle(name, 1, "")
    assert given.shape == (geometry.size, geometry.size) and given.dtype == np.int8
    board.check_puzzle(given, geometry)


def test_a_bank_serves_its_test_puzzles():
    test = banks.load("9x9", "test")
    for number in (1, 2, len(test)):
        np.testing.assert_array_equal(puzzle("9x9", number, "")[0], test.puzzles[number - 1])
    why = f"9x9 has {len(test):,} test puzzles: choose a number from 1 to that"
    with pytest.raises(ValueError, match=why):
        puzzle("9x9", len(test) + 1, "")


def test_a_typed_puzzle_is_read():
    given, geometry = puzzle(TYPED_IN, 1, "1... .2.. ..3. ...4")
    assert geometry == Geometry.standard(4) and given.diagonal().tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("source", "number", "text", "why"),
    [
        (TYPED_IN, 1, "", "type a puzzle"),
        (TYPED_IN, 1, None, "type a puzzle"),
        (TYPED_IN, 1, ["1"], "type a puzzle"),
        (TYPED_IN, 1, "1" * 2001, "at most 2,000 characters"),
        (TYPED_IN, 1, "1" * 16, "1 stands twice"),
        (TYPED_IN, 1, "\0" * 16, "is no digit"),
        (TYPED_IN, 1, "\u0661" * 16, "is no digit"),
        (TYPED_IN, 1, "." * 15, "15 cells"),
        (TYPED_IN, 1, "." * 324, "up to 256 cells"),
        (TYPED_IN, 1, "." * 625, "up to 256 cells"),
        ("/etc/passwd", 1, "", "choose one"),
        ("25x25", 1, "", "choose one"),
        ("named", 1, "", "choose one"),
        ("os:sep", 1, "", "choose one"),
        (None, 1, "", "choose one"),
        ("9x9", 0, "", "number from 1"),
        ("9x9", float("nan"), "", "number from 1"),
        ("9x9", float("inf"), "", "number from 1"),
        ("9x9", None, "", "number from 1"),
        ("9x9", "1", "", "number from 1"),
    ],
)
def test_what_is_no_puzzle_is_refused(source, number, text, why):
    with pytest.raises(ValueError, match=why):
        puzzle(source, number, text)


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("runs/mine", "", "choose one"),
        ("os:system", "", "choose one"),
        ("hinted?folder=/tmp", "", "choose one"),
        (None, "", "choose one"),
        ("hinted", "folder=/tmp", "no option that can be given"),
        ("hinted", "folder=x", "no option that can be given"),
        ("hinted", "simulations=33", "at most 32"),
        ("hinted", "simulations=-1e9", "at most 32"),
        ("hinted", "simulations=true", "number of at most 32"),
        ("hinted", "time_limit=null", "number of at most 5"),
        ("hinted", "time_limit=1e6", "at most 5"),
        ("hinted", "nodes=3", "no option nodes"),
        ("hinted", "\0=3", "no option"),
        ("hinted", "simulations=3&simulations=4", "twice"),
        ("hinted", "simulations=1.5", "no int"),
        ("hinted", "x" * 201, "200 characters"),
        ("hinted", 7, "200 characters"),
        ("dlx", "item_rule=worst", "no option that can be given"),
    ],
)
def test_policies_and_options_that_are_not_offered_are_refused(offers, name, options, why):
    with pytest.raises(ValueError, match=why):
        offers.policy(name, options)
    assert Hinted.made == []


def test_a_number_is_no_file_of_a_policy_that_says_no_types(monkeypatch):
    """`open(3)` would read what the server has open."""

    def make(weights="w.txt", model=None, rounds=3, **others): ...

    monkeypatch.setattr(choices.plugins, "available", lambda group: {"theirs": Entry(make)})
    monkeypatch.setattr(OfferedPolicies, "_load", lambda self, name, **options: options)
    offers = OfferedPolicies()
    paths = ("weights=w.txt", "rounds=/etc/passwd", "rounds=x", "model=x", "other=x")
    for options in ("weights=3", "model=3", "weights=true", *paths):
        with pytest.raises(ValueError, match="no option that can be given here"):
            offers.policy("theirs", options)
    assert offers.policy("theirs", "rounds=4") == {"rounds": 4}


def test_what_is_offered_is_made_with_a_limit_of_time(offers, monkeypatch):
    monkeypatch.setattr(OfferedPolicies, "_load", lambda self, name, **options: options)
    assert offers.names == ["hinted", "dlx"]
    assert offers.policy("hinted", "?simulations=32") == {"simulations": 32, "time_limit": 5.0}
    assert offers.policy("dlx", "item_rule=fewest") == {
        "item_rule": "fewest",
        "time_limit": 5.0,
        "node_limit": 1_000_000,
    }


def test_a_network_starts_again_less_often_on_large_boards():
    """There each round takes several times as long."""
    pytest.importorskip("torch")
    offers = choices.OfferedPolicies()

    def starts(options, size):
        policy = offers.policy("calphazero", options, size)
        return 1 + getattr(policy, "solver", policy).restarts.count

    assert [starts("", 9), starts("", 16), starts("rounds=1024", 16)] == [128, 32, 8]
    assert [starts("restarts=2", 16), starts("rounds=1", 16)] == [3, 32]
    assert [starts("search=retry", 16), starts("search=retry&rounds=1024", 16)] == [32, 8]
    assert [starts("", 9), starts("rounds=1024", 9), starts("search=retry", 9)] == [128, 32, 128]
    assert [starts("search=retry&rounds=1024", 9), starts("rounds=1", 9)] == [32, 128]
    with pytest.raises(ValueError, match="use at most restarts=7 with 1,024 rounds"):
        offers.policy("calphazero", "rounds=1024&restarts=8", 16)
    for options in ("search=retry", "simulations=4"):
        offers.policy("calphazero", options, 16)
    offers.policy("exact-cover-supervised", "", 16)


def test_the_starter_s_own_are_offered_as_they_are(monkeypatch):
    mine, made = f"{__name__}:Hinted?folder=mine&simulations=5000", []
    monkeypatch.setattr(OfferedPolicies, "_load", lambda self, name, trust: made.append(name))
    offers = OfferedPolicies([mine])
    assert offers.names[0] == mine
    offers.policy(mine)
    assert made == [mine] * 2
    with pytest.raises(ValueError, match="as it is"):
        offers.policy(mine, "simulations=6")


def test_what_can_not_be_made_is_not_offered(monkeypatch):
    def needs_a_folder(folder):
        raise AssertionError

    class Missing:
        def load(self):
            raise ModuleNotFoundError("no torch")

    installed = {"a": Entry(needs_a_folder), "b": Missing(), "c": Entry(Hinted)}
    monkeypatch.setattr(choices.plugins, "available", lambda group: installed)
    assert OfferedPolicies().names == ["c"]


def test_a_game_is_played_to_its_end(offers):
    given, geometry = puzzle("4x4", 1, "")
    game = Game("dlx", offers.policy("dlx"), given, geometry)
    assert game.status == f"{(given == 0).sum()} blanks." and game.latest.likely == []
    for _ in range(40):
        game.step()
    assert game.is_over and game.status == f"Solved after {(given == 0).sum()} moves."
    assert board.is_solved(game.moment.board[None])[0]
    game.back()
    assert not game.is_over and game.status.startswith(f"{(given == 0).sum() - 1}. ")
    for _ in range(40):
        game.back()
    assert (game.moment.board == given).all() and game.status.endswith("blanks.")
    game.step()  # forward again, without another move of the policy
    assert game.status.startswith("1. ")


def test_a_game_that_is_stopped_drops_the_move_in_progress():
    given, geometry = puzzle("4x4", 1, "")

    class Slow(Hinted):
        def act(self, boards, action_masks):
            game.stop("Stopped: too long.")  # as another thread does
            return super().act(boards, action_masks)

    game = Game("slow", Slow(), given, geometry)
    game.step()
    assert game.is_over and game.status == "Stopped: too long."
    assert (game.moment.board == given).all()
    assert "a note" in render_html(game, "a note")


def test_the_colours_are_those_of_the_page_in_the_docs():
    style = (Path(__file__).parents[3] / "docs" / "stylesheets" / "play.css").read_text("utf-8")
    names = dict(re.findall(r"--(warm|hot): (rgb\([^)]*\))", style.partition("slate")[0]))
    warm, hot = (f"rgb({red} {green} {blue})" for red, green, blue in HEAT_COLORS[1:])
    assert names == {"warm": warm, "hot": hot} and warm in render_legend()


def test_a_policy_that_fails_ends_its_game_and_is_escaped():
    given, geometry = puzzle("4x4", 1, "")
    game = Game("<b>", Broken(), given, geometry)
    game.step()
    assert game.is_over and "RuntimeError" in game.status
    drawn = render_html(game)
    assert "<script>" not in drawn and "<b>" not in drawn and "&lt;script&gt;" in drawn


class Searching(SolverPolicy):
    """Tells chances, and that it looked at two placements."""

    class Found:
        visit_counts = np.array([[3, 1] + [0] * 62])
        values = np.array([0.5])

    last_search = Found()

    def probabilities(self, boards, action_masks):
        return action_masks / action_masks.sum(1, keepdims=True)


def test_what_a_policy_thinks_and_looked_at_is_shown(offers):
    given, geometry = puzzle("4x4", 1, "")
    game = Game("mine", Searching(offers.policy("dlx").solver), given, geometry)
    likely = game.latest.likely
    assert [each.text for each in likely] == [likely[0].text] * 5
    assert game.latest.search is None
    game.step()
    shares, value = game.latest.search
    assert [(each.placement, each.text) for each in shares] == [
        ("1 at row 1, column 1", "75%"),
        ("2 at row 1, column 1", "25%"),
    ]
    assert value == 0.5
    drawn = render_html(game)
    assert "value 0.50" in drawn and "width:33.3%" in drawn and "Likely to place next" in drawn


def test_counts_in_place_of_probabilities_are_shown(offers):
    given, geometry = puzzle("4x4", 1, "")
    policy = Searching(offers.policy("dlx").solver)
    policy.probabilities = lambda boards, action_masks: action_masks * 100_000
    game = Game("mine", policy, given, geometry)
    assert game.latest.likely[0].text == "100.0%"
    assert "100.0%" in render_html(game)


class Reading(Hinted):
    """Tells that it took 48 rounds, and whether it had converged."""

    last_convergence = None

    def act(self, boards, action_masks):
        converged = self.last_convergence is None
        self.last_convergence = Convergence(np.array([1_048]), np.array([converged]))
        return super().act(boards, action_masks)


def test_whether_the_network_had_converged_is_shown():
    given, geometry = puzzle("4x4", 1, "")
    game = Game("mine", Reading(), given, geometry)
    assert game.latest.reading == "" and "onverged" not in render_html(game)
    game.step()
    assert game.latest.reading == "Converged after 1,048 rounds."
    assert game.latest.reading in render_html(game)
    game.step()
    assert game.latest.reading == "Not converged after 1,048 rounds: this move is a guess."
    assert game.latest.reading in render_html(game)


def test_the_extra_is_named_where_it_is_missing(monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "gradio", None)
    monkeypatch.delitem(__import__("sys").modules, "sudoku_gym.app.page", raising=False)
    assert cli.main(["app"]) == cli.BAD_INPUT
    assert capsys.readouterr().err == (
        "sudoku-gym: sudoku-gym app needs gradio: pip install -c constraints.txt '.[app]' "
        "in a checkout of sudoku-gym\n"
    )


def test_an_address_that_can_t_be_had_is_named(capsys):
    pytest.importorskip("gradio")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert cli.main(["app", "--port", str(port)]) == cli.BAD_INPUT
    assert f"--host 127.0.0.1, --port {port}: " in capsys.readouterr().err


def test_an_empty_address_is_not_every_address(capsys):
    """As of a variable of the shell that is not set."""
    assert cli.main(["app", "--host", ""]) == cli.BAD_INPUT
    assert "--host is empty: give an address" in capsys.readouterr().err


def test_a_port_is_checked(capsys):
    assert cli.main(["app", "--port", "65536"]) == cli.BAD_INPUT
    assert "use 0 to 65535" in capsys.readouterr().err
