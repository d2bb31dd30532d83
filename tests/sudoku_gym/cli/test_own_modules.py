"""Policies that put their own folder on the path get no module of each other's."""

import sys

import pytest

from sudoku_gym import puzzles
from sudoku_gym.puzzles import files

AGENT = """
import os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from brain import think
def P(): return think()
"""
BRAIN = """
from sudoku_gym import load_policy
def think(): return load_policy({name!r})
"""


@pytest.fixture
def agents(tmp_path, monkeypatch):
    """Two packages of one pattern."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    for package, name in (("first_repo", "naked-singles"), ("second_repo", "hidden-singles")):
        folder = tmp_path / package
        folder.mkdir()
        (folder / "__init__.py").touch()
        (folder / "agent.py").write_text(AGENT)
        (folder / "brain.py").write_text(BRAIN.format(name=name))
        # Modules of Python's own are no policy's, whatever lies beside them.
        (folder / "os.py").touch()
    files.write("list.csv", puzzles.load("4x4", "test")[:3])
    yield
    for name in [*sys.modules]:
        if name.partition(".")[0] in ("brain", "first_repo", "second_repo"):
            del sys.modules[name]


def test_one_that_has_got_another_s_module_is_refused(run, agents):
    names = ("first_repo.agent:P", "second_repo.agent:P")
    code, _, err = run("compare", *names, "--puzzles", "list.csv")
    assert code == 2 and err.startswith("sudoku-gym: second_repo.agent:P: it has got ")
    assert "brain.py in place of its own" in err and err.count("\n") == 1


def test_each_plays_by_itself_and_beside_those_that_share_nothing(run, agents):
    names = ("second_repo.agent:P", "hidden-singles")
    assert run("compare", *names, "--puzzles", "list.csv")[0] == 0
