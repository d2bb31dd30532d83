"""Every command that takes puzzles takes their board."""

import io
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
few = puzzles.load("jigsaw9x9", "test")[:2]
def make(): return few
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "puzzles, board_name",
    [
        ("x.csv", "x9x9"),
        ("flat.csv", "my_boards:flat"),
        ("my_boards:few", ""),
        ("my_boards:make", "jigsaw9x9"),
    ],
)
def test_every_command_takes_a_board_with_its_puzzles(run, boards_of_ones_own, puzzles, board_name):
    chosen = ["--board", board_name] if board_name else []
    for command in ("evaluate", "compare"):
        code, out, err = run(command, "solver", "--puzzles", puzzles, *chosen, "--format", "json")
        assert code == 0, err
        figures = json.loads(out)["solver"]
        assert figures["solved"] == figures["puzzles"] > 1


@pytest.mark.slow
def test_watch_and_play_take_a_board_too(run, boards_of_ones_own, monkeypatch):
    assert run("watch", "x.csv", "--board", "x9x9", "--policy", "solver")[0] == 0
    monkeypatch.setattr(sys, "stdin", io.StringIO("quit"))
    assert "Sudoku-X 9x9" in run("play", "x.csv", "--board", "x9x9")[1]
    rng = np.random.default_rng(0)
    line = board.to_line(generate(1, Geometry.standard(12), rng, givens=100).puzzles[0])
    assert run("watch", line, "--policy", "solver")[0] == 0  # there is no bank of 12x12
    line = board.to_line(load("x9x9", "test").puzzles[0])
    assert run("watch", line, "--board", "x9x9", "--policy", "solver")[0] == 0
    assert run("watch", line, "--policy", "solver")[1].count("solved after") == 1
