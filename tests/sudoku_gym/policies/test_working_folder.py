"""Policies that change the working folder play where they have changed to, alone."""

import os
import shutil
import sys
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from sudoku_gym import load_policy, puzzles
from sudoku_gym.app.choices import OfferedPolicies
from sudoku_gym.evaluation import evaluate
from sudoku_gym.policies import SolverPolicy
from sudoku_gym.policies.identity import load_with_fingerprint, package_of
from sudoku_gym.policies.working_folder import load_in_own_folder

SOURCE = """
import os
from pathlib import Path
from sudoku_gym import load_policy

class Lazy:
    def reset(self, *args):
        self.plays = load_policy(Path("which.txt").read_text())
        self.plays.reset(*args)
    def act(self, *args): return self.plays.act(*args)

    @property
    def title(self): return Path("which.txt").read_text()

    def read(self): return Path("which.txt").read_text()

class Roams(Lazy):
    def __init__(self, path="."):
        self.which = Path(path, "which.txt").read_text()
        os.chdir({elsewhere!r})
"""
AT_IMPORT = f"{SOURCE}\nos.chdir({{elsewhere!r}})\n"
FEW = puzzles.load("9x9", "test")[:40]


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a module that changes to another folder; there `which.txt` names another policy."""
    work, elsewhere = tmp_path / "work", tmp_path / "elsewhere"
    for folder, name in ((work, "hidden-singles"), (elsewhere, "naked-singles")):
        folder.mkdir()
        (folder / "which.txt").write_text(name)
    monkeypatch.chdir(work)
    monkeypatch.syspath_prepend(tmp_path)

    def call(name, source):
        (tmp_path / f"{name}.py").write_text(source.format(elsewhere=str(elsewhere)))
        monkeypatch.delitem(sys.modules, name, raising=False)

    return call


def test_it_is_made_here_and_plays_there_each_time(write):
    write("roams_once", SOURCE)
    work = os.getcwd()
    for _ in range(2):
        policy = load_in_own_folder("roams_once:Roams")
        assert (os.getcwd(), policy.which) == (work, "hidden-singles")
        solved = evaluate(policy, FEW).solved
        np.testing.assert_array_equal(solved, evaluate(load_policy("naked-singles"), FEW).solved)
        assert (os.getcwd(), policy.title, policy.read()) == (work, *["naked-singles"] * 2)


def test_what_is_changed_by_an_import_holds_for_all_that_is_imported(write):
    write("roams_at_import", AT_IMPORT)
    for name in ("Lazy", "Lazy", "Roams"):
        assert load_in_own_folder(f"roams_at_import:{name}").title == "naked-singles"
    _, made_of = load_with_fingerprint("roams_at_import:Lazy")
    assert made_of["code"] and os.path.exists("which.txt")


def test_what_another_s_import_brings_of_the_project_stays_here(write, monkeypatch):
    """As a policy of the project that is imported after the folder was changed."""
    monkeypatch.delitem(sys.modules, "sudoku_baselines.classical.dlx", raising=False)
    write("roams_and_imports", f"{AT_IMPORT}\nfrom sudoku_baselines.classical import dlx\n")
    assert load_in_own_folder("roams_and_imports:Lazy").title == "naked-singles"
    assert isinstance(load_in_own_folder("dlx"), SolverPolicy)


def test_a_partial_function_of_a_module_is_made_where_its_import_has_left_us(write):
    part = "\nimport functools\npart = functools.partial(Roams)\n"
    write("roams_in_part", AT_IMPORT + part)
    for _ in range(2):
        assert load_in_own_folder("roams_in_part:part").which == "naked-singles"


ONCE = f"""{SOURCE}
from functools import lru_cache
@lru_cache
def setup(): os.chdir({{elsewhere!r}})
class Once(Lazy):
    def __init__(self): setup(); self.which = Path("which.txt").read_text()
def make():
    from imports_late import Lazy as Late
    return Late()
other = lambda: make()
"""


def test_a_folder_that_is_changed_once_holds_each_time(write):
    write("roams_once_only", ONCE)
    write("imports_late", AT_IMPORT)
    for _ in range(3):
        made = load_in_own_folder("roams_once_only:Once")
        assert (made.which, made.title) == ("naked-singles", "naked-singles")
    assert load_in_own_folder("roams_once_only:Lazy").title == "hidden-singles"
    for name in ("make", "make", "other"):
        assert load_in_own_folder(f"roams_once_only:{name}").title == "naked-singles"


def test_the_weights_of_the_folder_that_it_changes_to_count(write, tmp_path):
    roams_first = SOURCE.replace("self.which = ", "os.chdir({elsewhere!r}); self.which = ")
    write("roams_first", roams_first)
    found = set()
    for name in ("naked-singles", "hidden-singles"):
        (tmp_path / "elsewhere" / "which.txt").write_text(name)
        made, made_of = load_with_fingerprint("roams_first:Roams?path=.")
        assert made.which == name
        found.add(made_of["weights"])
    assert len(found) == 2


def test_options_that_change_no_folder_are_made_where_they_are(write):
    here = SOURCE.replace('path="."', 'path=".", engine=True').replace(
        "        os.chdir", "        if engine: os.chdir"
    )
    write("roams_with_engine", here)
    for engine, title in (("true", "naked-singles"), ("false", "hidden-singles")):
        made = load_in_own_folder(f"roams_with_engine:Roams?engine={engine}")
        assert (made.which, made.title) == ("hidden-singles", title)


def test_a_policy_that_imports_another_leaves_it_where_it_was(write, tmp_path):
    (tmp_path / "roams_on_another").mkdir()
    write("stays", SOURCE)
    write("roams_on_another/__init__", f"import stays\n{AT_IMPORT}")
    assert load_in_own_folder("roams_on_another:Lazy").title == "naked-singles"
    assert load_in_own_folder("stays:Lazy").title == "hidden-singles"


def test_what_is_changed_by_an_import_is_so_when_a_policy_is_made(write):
    write("roams_before", AT_IMPORT)
    for _ in range(2):
        made, made_of = load_with_fingerprint("roams_before:Roams")
        assert (made.which, made.title) == ("naked-singles", "naked-singles")
        assert made_of["weights"]  # of the folder `.` there


def test_one_that_stays_is_what_load_policy_makes():
    assert type(load_in_own_folder("hidden-singles")) is type(load_policy("hidden-singles"))


def test_the_page_makes_it_anew_for_each_game_from_the_same_files(write):
    write("roams_in_page", SOURCE)
    extra = ["roams_in_page:Roams?path=."]
    offers, there = OfferedPolicies(extra), evaluate(load_policy("naked-singles"), FEW).solved
    for _ in range(2):
        assert (evaluate(offers.policy(extra[0]), FEW).solved == there).all()
    offers.close()


def test_the_page_s_own_policies_wait_for_none_of_another_s(write):
    pytest.importorskip("torch")
    q_learning = pytest.importorskip("sudoku_agents.q_learning")
    write("waits", WAITS)
    shutil.copytree(Path(q_learning.__file__).parent / "deep" / "pretrained", "ck")
    offers, policy = OfferedPolicies(["./ck"]), load_in_own_folder("waits:Waits")
    game = Thread(target=policy.act, args=(FEW.puzzles, None))
    game.start()
    sys.modules["waits"].begun.wait()
    os.chdir("..")  # as the policy has
    for name in ("hidden-singles", "./ck"):
        assert offers.policy(name) and game.is_alive()
    sys.modules["waits"].over.set()
    game.join()


WAITS = """
import os, threading
begun, over = threading.Event(), threading.Event()
class Waits:
    def __init__(self): os.chdir({elsewhere!r})
    def reset(self, *args): ...
    def act(self, *args): begun.set(); over.wait(60)
"""


def test_of_packages_in_one_namespace_that_counts_which_brings_the_module(tmp_path, monkeypatch):
    for letter in "ba":
        path = tmp_path / letter
        (path / "shared_space").mkdir(parents=True)
        (path / "shared_space" / f"pol{letter}.py").write_text(SOURCE.partition("class Roams")[0])
        metadata = path / f"dist_{letter}-1.0.dist-info"
        metadata.mkdir()
        named = f"Metadata-Version: 2.1\nName: dist-{letter}\nVersion: 1.0\n"
        (metadata / "METADATA").write_text(named)
        (metadata / "RECORD").write_text(
            f"shared_space/pol{letter}.py,,\n{metadata.name}/RECORD,,\n"
        )
        monkeypatch.syspath_prepend(path)
    for letter in "ab":
        load_policy(f"shared_space.pol{letter}:Lazy")
        assert package_of(f"shared_space.pol{letter}:Lazy") == f"dist-{letter} 1.0"
