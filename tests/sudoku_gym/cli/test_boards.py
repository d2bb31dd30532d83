"""Every command that takes puzzles takes their board."""

import json
import sys

import numpy as np
import pytest

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles import files, generate, load

MY_BOARDS = """
from sudoku_gym import puzzles
from sudoku_gym.geometry import Geometry
flat = Geometry.boxes(3, 2)
def make(): return puzzles.load("jigsaw9x9", "test")[:2]
"""


@pytest.fixture
def boards_of_ones_own(tmp_path, monkeypatch):
    """Puzzles of boards that a file does not tell, and a module that names some."""
    (tmp_path / "my_boards.py").write_text(MY_BOARDS)
    files.write(tmp_path / "x.csv", load("x9x9", "test")[:3])
    rng = np.random.default_rng(0)
    files.write(tmp_path / "flat.csv", generate(3, Geometry.boxes(3, 2), rng))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    yield
    sys.modules.pop("my_boards", None)


@pytest.mark.parametrize(
    "puzzles, board_name", [("flat.csv", "my_boards:flat"), ("my_boards:make", "jigsaw9x9")]
)
def test_evaluate_takes_a_board_with_its_puzzles(run, boards_of_ones_own, puzzles, board_name):
    arguments = ["--puzzles", puzzles, "--board", board_name, "--format", "json"]
    code, out, err = run("compare", "solver", *arguments)
    assert code == 0, err
    figures = json.loads(out)["solver"]
    assert figures["solved"] == figures["puzzles"] > 1


def test_watch_takes_a_board_too(run):
    line = board.to_line(load("x9x9", "test").puzzles[0])
    assert run("watch", "solver", "--puzzles", line, "--board", "x9x9")[0] == 0
