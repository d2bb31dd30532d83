"""Policies that change the working folder, as those do which open files by relative names."""

import json

import pytest

from sudoku_gym import puzzles
from sudoku_gym.puzzles import files

SOURCE = """
import os
from sudoku_gym import load_policy
class Roams:
    def __init__(self): self.plays = load_policy("naked-singles"); os.chdir({elsewhere!r})
    def reset(self, *args): self.plays.reset(*args); os.chdir({elsewhere!r})
    def act(self, *args): os.chdir({elsewhere!r}); return self.plays.act(*args)
"""


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """The working folder, and the one that the policy changes to."""
    work, elsewhere = tmp_path / "work", tmp_path / "elsewhere"
    work.mkdir()
    elsewhere.mkdir()
    (tmp_path / "roaming.py").write_text(SOURCE.format(elsewhere=str(elsewhere)))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(work)
    return work, elsewhere


def test_results_of_all_policies_are_written_where_the_command_was_given(run, folders):
    work, elsewhere = folders
    (elsewhere / "out.json").write_text("mine")
    files.write("list.csv", puzzles.load("9x9", "test")[:5])
    arguments = ["compare", "roaming:Roams", "naked-singles", "--puzzles", "list.csv"]
    assert run(*arguments, "--out", "out.json")[0] == 0
    assert len(json.loads((work / "out.json").read_text())["rows"]) == 2
    assert (elsewhere / "out.json").read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "needs"),
    [
        (["watch", "4x4", "--policy", "roaming:Roams", "--out", "out.gif"], "imageio"),
        (["record", "roaming:Roams", "--episodes", "2", "--out", "out-v0"], "h5py"),
    ],
)
def test_films_and_games_are_written_where_the_command_was_given(run, folders, arguments, needs):
    pytest.importorskip(needs)
    work, elsewhere = folders
    assert run(*arguments)[0] in (0, 1)
    assert [path.name for path in work.iterdir() if path.name.startswith("out")] == [arguments[-1]]
    assert [*elsewhere.iterdir()] == []
