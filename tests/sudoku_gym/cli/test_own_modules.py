"""Policies that put their own folder on the path get no module of each other's."""

import sys

import pytest

from sudoku_gym import puzzles
from sudoku_gym.puzzles import files

PATH = "import os, sys\nsys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))\n"
THINK = "from sudoku_gym import load_policy\ndef think(): return load_policy('naked-singles')\n"
MODULE = f"{PATH}from brain import think\ndef P(): return think()\n"
PACKAGE = f"{PATH}from brains.deep import think\ndef P(): return think()\n"
IN_GAMES = f"""{PATH}
class P:
    def reset(self, *args):
        from brain import think
        self.plays = think()
        self.plays.reset(*args)
    def act(self, *args): return self.plays.act(*args)
"""
LISTED = f"{PATH}import json, brain\ndef P(): return brain.think()\n"
RELATIVE = "from .brain import think\nimport random\ndef P(): return think()\n"
ADAPTERS = f'"""\nfrom brain comes what it plays.\n"""\nimport numpy\n{RELATIVE}'


@pytest.fixture
def play(run, tmp_path, monkeypatch):
    """Compare two packages that hold the same modules, and agents of these sources."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    files.write("list.csv", puzzles.load("4x4", "test")[:3])
    packages = ("first_repo", "second_repo")

    def call(*sources):
        for package, source in zip(packages, sources, strict=True):
            folder = tmp_path / package
            (folder / "brains").mkdir(parents=True)
            (folder / "adapters").mkdir()
            for name in ("__init__", "random", "adapters/numpy"):
                (folder / f"{name}.py").touch()
            (folder / "agent.py").write_text(source)
            for name in ("brain", "brains/deep"):
                (folder / f"{name}.py").write_text(THINK)
        names = [f"{package}.agent:P" for package in packages]
        return run("compare", *names, "dlx", "--puzzles", "list.csv")

    yield call
    for name in [*sys.modules]:
        if name.partition(".")[0] in ("brain", "brains", *packages):
            del sys.modules[name]


@pytest.mark.parametrize(
    ("sources", "name"),
    [
        ((MODULE, MODULE), "brain"),
        ((PACKAGE, PACKAGE), "brains"),
        ((IN_GAMES, MODULE), "brain"),
        ((IN_GAMES, IN_GAMES), "brain"),
        ((LISTED, LISTED), "brain"),
    ],
)
def test_two_that_import_their_own_by_one_name_are_refused(play, sources, name):
    code, _, err = play(*sources)
    assert code == 2 and err.startswith("sudoku-gym: first_repo.agent:P and second_repo.agent:P")
    assert f"by one name, {name}, which" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    "sources", [(RELATIVE, RELATIVE), (ADAPTERS, ADAPTERS), (MODULE, RELATIVE), (PACKAGE, MODULE)]
)
def test_those_that_share_no_name_play(play, sources):
    assert play(*sources)[0] == 0
