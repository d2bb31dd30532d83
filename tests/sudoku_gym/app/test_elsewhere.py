"""Policies of other packages on the page: each plays in a process of its own."""

import gc
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sudoku_gym import load_policy, puzzles
from sudoku_gym.app.choices import OfferedPolicies
from sudoku_gym.app.game import Game
from sudoku_gym.app.limits import VisitorBudgets
from sudoku_gym.evaluation import evaluate

AGENT = """
import os, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from brain import NAME
from sudoku_gym import load_policy
def P(): return load_policy(NAME)
"""
ODD = """
import os, signal, subprocess, sys, threading, time
from types import SimpleNamespace
import numpy as np
from sudoku_gym.policies import Convergence
class First:
    def reset(self, *args): ...
    def act(self, boards, action_masks): return action_masks.argmax(1)
class Shows(First):
    last_search = last_convergence = None
    def probabilities(self, boards, action_masks):
        return action_masks / action_masks.sum(1, keepdims=True)
    def act(self, boards, action_masks):
        counts = np.zeros(action_masks.shape, int)
        counts[:, :2] = 3, 1
        self.last_search = SimpleNamespace(visit_counts=counts, values=np.array([0.5]))
        self.last_convergence = Convergence(np.array([48]), np.array([True]))
        return super().act(boards, action_masks)
class Dies(First):
    def act(self, boards, action_masks): os.kill(os.getpid(), signal.SIGKILL)
class Leaves(First):
    def act(self, boards, action_masks):
        threading.Thread(target=time.sleep, args=(60,)).start()
        sys.exit(3)
class Closes(First):
    def act(self, boards, action_masks):
        threading.Thread(target=time.sleep, args=(60,)).start()
        os.closerange(3, 100)
        return super().act(boards, action_masks)
class Raises(First):
    def act(self, boards, action_masks): raise ValueError("no move")
class Sleeps(First):
    def act(self, boards, action_masks): time.sleep(60)
class Thinks(First):
    def act(self, boards, action_masks):
        end = time.process_time() + 0.3
        while time.process_time() < end: ...
        return super().act(boards, action_masks)
class Engine(First):
    def act(self, boards, action_masks):
        burn = "import time\\nwhile time.process_time() < 0.4: ..."
        subprocess.run([sys.executable, "-c", burn])
        return super().act(boards, action_masks)
class Ponders(First):
    def reset(self, *args):
        if not hasattr(Ponders, "engine"):
            burn = "import time\\nwhile time.process_time() < 1.0: ..."
            Ponders.engine = subprocess.Popen([sys.executable, "-c", burn])
class DiesLater(First):
    def reset(self, *args):
        pid = subprocess.Popen(["sleep", "600"]).pid
        with open("pid.txt", "w") as file: print(pid, file=file)
        threading.Timer(0.2, os._exit, (3,)).start()
class Heavy(First):
    def __del__(self): open("let_go.txt", "a").close()
"""
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="what is started is seen on Linux only")
FEW = puzzles.load("4x4", "test")[:20]


@pytest.fixture
def offer(tmp_path, monkeypatch):
    """Offer policies of others; their processes end with the test."""
    for repo, name in (("one", "hidden-singles"), ("other", "naked-singles")):
        (tmp_path / repo).mkdir()
        (tmp_path / repo / f"agent_{repo}.py").write_text(AGENT)
        (tmp_path / repo / "brain.py").write_text(f"NAME = {name!r}\n")
        monkeypatch.syspath_prepend(tmp_path / repo)
    (tmp_path / "odd_ones.py").write_text(ODD)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    opened = []

    def offer(*names, **options):
        opened.append(OfferedPolicies(names, **options))
        return opened[-1]

    yield offer
    for each in opened:
        each.close()
    assert not {"brain", "agent_one", "odd_ones"} & sys.modules.keys()


def play(policy):
    game = Game("mine", policy, FEW.puzzles[0].copy(), FEW.geometry)
    game.step()
    return game


def test_two_that_import_their_own_by_one_name_play_as_themselves(offer):
    offers, few = offer("agent_one:P", "agent_other:P"), puzzles.load("9x9", "test")[:40]
    for name, same in (("agent_other:P", "naked-singles"), ("agent_one:P", "hidden-singles")):
        solved = evaluate(offers.policy(name), few).solved
        assert (solved == evaluate(load_policy(same), few).solved).all()


def test_what_it_thinks_and_looked_at_is_shown(offer):
    game = play(offer("odd_ones:Shows").policy("odd_ones:Shows"))
    shares, value = game.latest.search
    assert [each.text for each in shares] == ["75%", "25%"] and value == 0.5
    assert game.latest.likely and game.latest.reading == "Converged after 48 rounds."
    plain = play(offer("odd_ones:First").policy("odd_ones:First"))
    assert (plain.latest.search, plain.latest.likely, plain.latest.reading) == (None, [], "")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Dies", "odd_ones:Dies: its process has ended, by signal 9"),
        ("Leaves", "odd_ones:Leaves: its process has ended, with exit code 3"),
        ("Closes", "odd_ones:Closes: its process has ended, by signal 9"),
        ("Raises", "no move"),
        ("Sleeps", "odd_ones:Sleeps: it took more than 1 s, and was ended"),
    ],
)
def test_what_befalls_it_ends_its_game_alone(offer, name, said):
    offers = offer(f"odd_ones:{name}", longest=1.0 if name == "Sleeps" else None)
    for _ in range(2):  # the next visitor finds it as it was
        assert play(offers.policy(f"odd_ones:{name}")).failure == (
            f"The policy failed. ValueError: {said}"
        )


@pytest.mark.parametrize("name", ["Thinks", pytest.param("Engine", marks=LINUX)])
def test_its_processor_time_is_charged(offer, name):
    policy, budgets = offer(f"odd_ones:{name}").policy(f"odd_ones:{name}"), VisitorBudgets(0.25)
    with budgets.charged("somebody"):
        play(policy)
    assert budgets.are_spent("somebody")


@LINUX
def test_what_it_works_between_calls_is_charged_to_nobody(offer):
    offers, budgets = offer("odd_ones:Ponders"), VisitorBudgets(0.5)
    policy = offers.policy("odd_ones:Ponders")
    game = Game("mine", policy, FEW.puzzles[0].copy(), FEW.geometry)
    time.sleep(2.0)
    with budgets.charged("somebody"):
        game.step()
    assert not budgets.are_spent("somebody")


def test_the_time_of_a_process_that_is_ended_is_charged(offer):
    policy = offer("odd_ones:Sleeps", longest=1.0).policy("odd_ones:Sleeps")
    budgets = VisitorBudgets(0.9)
    with budgets.charged("somebody"):
        play(policy)
    assert budgets.are_spent("somebody")


@LINUX
def test_one_that_has_ended_leaves_nothing(offer, tmp_path):
    offers = offer("odd_ones:DiesLater")
    policy = offers.policy("odd_ones:DiesLater")
    policy.reset(FEW.puzzles, FEW.geometry, np.random.default_rng(0))
    ended = offers._processes["odd_ones:DiesLater"]
    while ended.is_alive:
        time.sleep(0.05)
    engine = Path(f"/proc/{(tmp_path / 'pid.txt').read_text().strip()}/status")
    assert "sleeping" in engine.read_text()
    offers.policy("odd_ones:DiesLater")
    assert ended._pipe.closed
    for _ in range(100):
        if not engine.exists() or "zombie" in engine.read_text():
            return
        time.sleep(0.05)
    pytest.fail("its engine is still there")


def test_it_is_let_go_with_its_game(offer, tmp_path):
    offers = offer("odd_ones:Heavy")  # makes one to try
    policies = [offers.policy("odd_ones:Heavy") for _ in range(3)]
    del policies
    gc.collect()
    policy = offers.policy("odd_ones:Heavy")
    assert (tmp_path / "let_go.txt").exists() and play(policy).moment.caption


def test_one_that_can_not_be_made_is_refused(offer):
    with pytest.raises(ValueError, match="odd_ones"):
        offer("odd_ones:Nobody")


def test_games_of_several_threads_take_turns(offer):
    from concurrent.futures import ThreadPoolExecutor

    policies = [offer("odd_ones:First").policy("odd_ones:First") for _ in range(2)]
    policies += [offer("odd_ones:Shows").policy("odd_ones:Shows")]
    with ThreadPoolExecutor(3) as pool:
        found = [*pool.map(lambda policy: evaluate(policy, FEW).solved, policies * 4)]
    assert all(np.array_equal(each, found[0]) for each in found)
