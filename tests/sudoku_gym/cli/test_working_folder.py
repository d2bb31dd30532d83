"""Policies that change the working folder, as those do which open files by relative names."""

import json
import sys

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
class RoamsLater(Roams):
    def __init__(self): self.plays = load_policy("naked-singles")
"""


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """The working folder, and the one that the policy changes to."""
    work, elsewhere = tmp_path / "work", tmp_path / "elsewhere"
    work.mkdir()
    elsewhere.mkdir()
    (tmp_path / "roaming.py").write_text(SOURCE.format(elsewhere=str(elsewhere)))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "roaming", raising=False)  # of the test before
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


BY_NAME = """
import os
from pathlib import Path
from sudoku_gym import load_policy
def read(path):
    return load_policy(Path(path, "which.txt").read_text())
class ReadsThenRoams:
    def __init__(self, path):
        self.plays = read(path)
        os.chdir({elsewhere!r})
    def reset(self, *args): self.plays.reset(*args)
    def act(self, *args): return self.plays.act(*args)
"""
LATER = (
    BY_NAME
    + """
os.chdir({elsewhere!r})
class ReadsInGames(ReadsThenRoams):
    def __init__(self, path=""): ...
    def reset(self, *args):
        self.plays = read("weights")
        self.plays.reset(*args)
"""
)


@pytest.mark.parametrize(
    ("source", "policy", "reads_here"),
    [(BY_NAME, "ReadsThenRoams?path=weights", True), (LATER, "ReadsInGames", False)],
)
def test_what_a_policy_opens_by_name_is_where_it_would_be_without_us(
    run, folders, source, policy, reads_here
):
    """In the working folder as long as it has not changed it, though it may be made twice."""
    work, elsewhere = folders
    module = f"by_name_{policy[:11].lower()}"
    (work.parent / f"{module}.py").write_text(source.format(elsewhere=str(elsewhere)))
    for folder, name in ((work, "hidden-singles"), (elsewhere, "naked-singles")):
        (folder / "weights").mkdir()
        (folder / "weights" / "which.txt").write_text(name)
    files.write("list.csv", puzzles.load("9x9", "test")[:40])
    names = [f"{module}:{policy}", "hidden-singles", "naked-singles"]
    code, out, err = run("compare", *names, "--puzzles", "list.csv", "--format", "json")
    assert code == 0, err
    found, here, there = (each["solved"] for each in json.loads(out).values())
    assert found == (here if reads_here else there) and here > there


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
