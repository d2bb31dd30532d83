"""`sudoku-gym watch`."""

import re

import numpy as np
import pytest
from PIL import Image

from sudoku_gym import cli

PUZZLE = "1234....21.34..1"


class FirstLegal:
    """Plays the first legal action, and says so."""

    def reset(self, puzzles, geometry, rng):
        self.size = geometry.size

    def act(self, boards, action_masks):
        return action_masks.argmax(1)

    def probabilities(self, boards, action_masks):
        return np.eye(self.size**3)[self.act(boards, action_masks)]


class Illegal(FirstLegal):
    """Plays a digit onto a given."""

    def act(self, boards, action_masks):
        return np.zeros(len(boards), np.int64)


@pytest.fixture
def policy(monkeypatch):
    """Name a policy of this file."""
    monkeypatch.setattr("sudoku_gym.cli.watch.load_policy", lambda name, trust: globals()[name]())


def test_moves_are_listed_where_there_is_no_terminal(policy, capsys):
    assert cli.main(["watch", "FirstLegal", "--puzzles", PUZZLE]) == 0
    first, *_, said = (lines := capsys.readouterr().out.splitlines())
    assert first == " 1 2 | 3 4"
    assert lines[5] == "1. 3 at row 2, column 1"
    assert said == "FirstLegal: solved after 7 moves"


def test_a_terminal_shows_every_board(policy, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sudoku_gym.cli.watch.sleep", lambda seconds: None)
    assert cli.main(["watch", "FirstLegal", "--puzzles", PUZZLE]) == 0
    assert capsys.readouterr().out.count("\x1b[H\x1b[J") == 8


def test_a_game_may_be_lost(policy, capsys):
    assert cli.main(["watch", "FirstLegal", "--puzzles", "12..........3..4"]) == 1
    assert re.search("not solved after [0-9]+ moves: [0-9]+ blanks left", capsys.readouterr().out)


def test_an_illegal_move_is_an_error(policy, capsys):
    assert cli.main(["watch", "Illegal", "--puzzles", PUZZLE]) == 2
    assert "the policy has chosen an illegal action, 0" in capsys.readouterr().err


@pytest.mark.parametrize("options", [[], ["--heat"]])
def test_a_film(policy, tmp_path, capsys, options):
    path = tmp_path / "films" / "game.gif"
    arguments = ["watch", "FirstLegal", "--puzzles", PUZZLE, "--out", str(path), *options]
    assert cli.main(arguments) == 0
    assert str(path) in capsys.readouterr().out
    with Image.open(path) as film:
        assert film.n_frames == 8
