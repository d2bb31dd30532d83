"""Policies that are offered on one page get no module of each other's."""

import re
import sys

import pytest

from sudoku_gym.app.choices import OfferedPolicies

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
def offer(tmp_path, monkeypatch):
    """Offer the agents, of these sources, of two packages that hold the same modules."""
    monkeypatch.syspath_prepend(tmp_path)
    packages = ("first_repo", "second_repo")

    def offer(*sources):
        for package, source in zip(packages, sources, strict=True):
            folder = tmp_path / package
            (folder / "brains").mkdir(parents=True)
            (folder / "adapters").mkdir()
            for name in ("__init__", "random", "adapters/numpy"):
                (folder / f"{name}.py").touch()
            (folder / "agent.py").write_text(source)
            for name in ("brain", "brains/deep"):
                (folder / f"{name}.py").write_text(THINK)
        return OfferedPolicies([f"{package}.agent:P" for package in packages])

    yield offer
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
def test_two_that_import_their_own_by_one_name_are_refused(offer, sources, name):
    said = f"first_repo.agent:P and second_repo.agent:P import .* by one name, {name}, which"
    with pytest.raises(ValueError, match=said) as refusal:
        offer(*sources)
    assert len(re.findall("\n", str(refusal.value))) == 0


@pytest.mark.parametrize(
    "sources", [(RELATIVE, RELATIVE), (ADAPTERS, ADAPTERS), (MODULE, RELATIVE), (PACKAGE, MODULE)]
)
def test_those_that_share_no_name_are_offered(offer, sources):
    assert len(offer(*sources).names) > 2
