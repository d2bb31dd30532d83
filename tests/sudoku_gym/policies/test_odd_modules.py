"""Modules and packages around a policy may be odd: it is told what it plays by all the same."""

import sys
from hashlib import sha256

from sudoku_gym import load_policy
from sudoku_gym.policies.identity import code_checksum, load_with_fingerprint

POLICY = """
class Mine:
    def reset(self, puzzles, geometry, rng):
        pass

    def act(self, boards, action_masks):
        return action_masks.argmax(1)
"""


def test_what_a_policy_has_put_among_modules_stays_unread(own_folder, monkeypatch):
    """A lazy module as in Python's documentation, and what stands for an absent package."""
    monkeypatch.chdir(own_folder)
    (own_folder / "own_plots.py").write_text("raise RuntimeError('no display')\n")
    before = """
import importlib.util, os, sys
spec = importlib.util.find_spec("own_plots")
spec.loader = importlib.util.LazyLoader(spec.loader)
module = sys.modules["own_plots"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
class Stub:
    def __getattr__(self, name): raise ImportError("it is not installed")
sys.modules["own_absent"] = Stub()
os.makedirs("data", exist_ok=True)
os.chdir("data")
"""
    (own_folder / "own_lazy.py").write_text(before + POLICY)
    try:
        _, made_of = load_with_fingerprint("own_lazy:Mine")
    finally:
        for module in ("own_lazy", "own_plots", "own_absent"):
            sys.modules.pop(module, None)
    assert len(made_of["code"]) == 64


def test_a_broken_installation_of_its_package_is_passed_over(own_folder):
    """As one leaves that was interrupted: names of modules without the package's own."""
    (own_folder / "own_broken.py").write_text(POLICY)
    (own_folder / "own_broken-1.0.dist-info").mkdir()
    (own_folder / "own_broken-1.0.dist-info" / "top_level.txt").write_text("own_broken\n")
    _, made_of = load_with_fingerprint("own_broken:Mine")
    assert made_of["package"] == "" and len(made_of["code"]) == 64


def test_a_class_of_python_s_own_library_does_not_count(own_folder):
    file = own_folder / "own_plain.py"
    file.write_text(
        f"from types import SimpleNamespace\n{POLICY}\n"
        "player = SimpleNamespace(reset=Mine().reset, act=Mine().act)\n"
    )
    name = "own_plain:player"
    alone = sha256(f"{sha256(file.read_bytes()).hexdigest()}  own_plain.py\n".encode()).hexdigest()
    assert code_checksum(name, load_policy(name)) == alone


def test_a_class_in_a_module_that_is_called_as_one_of_python_s_counts(own_folder, monkeypatch):
    monkeypatch.delitem(sys.modules, "sched", raising=False)
    (own_folder / "sched.py").write_text(POLICY)
    (own_folder / "own_choice.py").write_text("import sched\nplayer = sched.Mine()\n")
    name = "own_choice:player"
    try:
        of_both = code_checksum(name, load_policy(name))
        assert len(of_both) == 2 * 64 + 1
    finally:
        sys.modules.pop("sched", None)
