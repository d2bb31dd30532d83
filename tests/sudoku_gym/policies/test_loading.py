"""Policies are found by name, by path in Python and in the folder of a checkpoint."""

import json
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from sudoku_gym import board, load_policy
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import PredictorPolicy, SolverPolicy, weights_sha256
from sudoku_gym.policies.loading import weights_file

SOURCE = """
from typing import Literal
import numpy as np
class Agent:
    def __init__(self, greed=1): self.greed = greed
    @classmethod
    def load(cls, folder, **kw): return cls(greed=(folder / "greed").read_text(), **kw)
    def reset(self, puzzles, geometry, rng): pass
    def act(self, boards, action_masks): return action_masks.argmax(1)
class Solver:
    def solve(self, puzzles, geometry): return puzzles
class Predictor:
    def predict(self, boards, geometry): return np.zeros((len(boards), 4, 4, 4))
ready = Agent(5)
number = 3
def typed(depth: int, width: float | None = None, mode: Literal["fast"] = "fast"):
    return Agent((depth, width, mode))
def takes_all(**kw): return Agent(kw)
def takes_none(): return Agent()
def load(folder, depth=4): return Agent(depth)
def nothing(): return None
def needs_torch(): raise ModuleNotFoundError("No module named torch", name="torch")
"""


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    """A third-party module, `their_agents`, in the working folder, which is returned."""
    (tmp_path / "their_agents.py").write_text(SOURCE)
    (tmp_path / "their_broken_agents.py").write_text("import a_module_that_is_missing\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("their_agents", None)


def write_config(folder, config):
    folder.mkdir(exist_ok=True)
    if config is not None:
        text = config if isinstance(config, str) else json.dumps(config)
        (folder / "config.json").write_text(text)
    return folder


def test_a_policy_is_loaded_by_name():
    assert type(load_policy("masked-random")).__name__ == "MaskedRandom"
    policy = load_policy("backtracking", node_limit=7)
    assert isinstance(policy, SolverPolicy) and policy.solver.node_limit == 7
    assert load_policy("backtracking?node_limit=7").solver.node_limit == 7
    assert load_policy("dlx?node_limit=1000", item_rule="fewest") is not None


def test_a_policy_is_loaded_by_path():
    assert load_policy("their_agents:Agent", greed=2).greed == 2
    assert load_policy("their_agents:ready").greed == 5
    assert isinstance(load_policy("their_agents:Solver"), SolverPolicy)
    assert isinstance(load_policy("their_agents:Predictor"), PredictorPolicy)


@pytest.mark.parametrize(
    "value, expected",
    [
        ("3", 3),
        ("-0.5", -0.5),
        ("true", True),
        ("null", None),
        ("fewest", "fewest"),
        ('"3"', "3"),
        ("a=b", "a=b"),
    ],
)
def test_a_value_is_a_json_scalar_or_a_word(value, expected):
    greed = load_policy(f"their_agents:Agent?greed={value}").greed
    assert greed == expected and type(greed) is type(expected)


def test_options_reach_the_factory():
    policy = load_policy("their_agents:takes_all?depth=3&mode=fast", width=2)
    assert policy.greed == {"depth": 3, "mode": "fast", "width": 2}
    assert load_policy("their_agents:typed?depth=3&width=null").greed == (3, None, "fast")


@pytest.mark.parametrize(
    "name, kwargs, message",
    [
        ("alphago", {}, "no policy 'alphago': use .*hidden-singles.*naked-singles.* module:attrib"),
        ("alphago?depth=3", {}, "no policy 'alphago'"),
        ("their_agents:Missing", {}, "has no .*'Missing'"),
        ("their_agents:number", {}, "neither a policy nor a class"),
        ("their_agents:nothing", {}, "made a NoneType, which is no policy"),
        ("backtracking?nodes=7", {}, "'backtracking' has no option nodes: use .*node_limit"),
        ("backtracking", {"nodes": 7}, "'backtracking' has no option nodes: use .*node_limit"),
        ("their_agents:ready?greed=3", {}, "is a finished policy and takes no greed"),
        ("their_agents:Agent?greed=3", {"greed": 3}, "greed stands in the name and as an argument"),
        ("their_agents:Agent?greed=3&greed=4", {}, "greed"),
        ("their_agents:Agent?greed", {}, "'greed' is no option; write name"),
        ("their_agents:typed?depth=[1]", {}, r"depth: \[1\] is no int"),
        ('their_agents:typed?depth="7"', {}, "depth: '7' is no int"),
        ("their_agents:typed?depth=1&width=wide", {}, "width: 'wide' is no float"),
        ("their_agents:typed?depth=1&mode=slow", {}, r"mode: 'slow' is no Literal\['fast'\]"),
        ("their_agents:typed", {}, "missing a required argument: 'depth'; write their_ag"),
    ],
)
def test_a_wrong_name_or_option_is_explained(name, kwargs, message):
    with pytest.raises(ValueError, match=message):
        load_policy(name, **kwargs)


@pytest.mark.parametrize(
    "name, message",
    [
        ("their_agents:needs_torch", r"constraints.txt '\.\[agents\]' in a checkout"),
        ("their_broken_agents:Agent", "a_module_that_is_missing"),
        ("no_such_module:Agent", "No module named 'no_such_module'"),
    ],
)
def test_a_missing_package_is_named(name, message):
    with pytest.raises(ModuleNotFoundError, match=message):
        load_policy(name)


def test_a_checkpoint_may_be_trusted_to_name_any_agent(module):
    folder = write_config(module / "run", {"agent": "their_agents:load"})
    with pytest.raises(ValueError, match=r"names the agent 'their_agents:load'.* trust=True"):
        load_policy(folder)
    assert "their_agents" not in sys.modules
    assert load_policy(folder, trust=True, depth=3).greed == 3
    assert load_policy("run?depth=5", trust=True).greed == 5
    with pytest.raises(ValueError, match="run' has no option folder: use depth"):
        load_policy("run?folder=elsewhere", trust=True)
    (folder / "greed").write_text("9")
    write_config(folder, {"agent": "their_agents:Agent"})
    assert load_policy(folder, trust=True).greed == "9"


def test_a_checkpoint_names_an_installed_agent(module):
    pytest.importorskip("torch")
    shipped = weights_file("dqn").parent
    copy = module / "copy"
    copy.mkdir()
    for file in shipped.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    boards, geometry = np.zeros((1, 9, 9), np.int8), Geometry.standard(9)
    policies = [load_policy("dqn", rounds=2), load_policy("copy", rounds=2)]
    for policy in policies:
        policy.reset(boards, geometry, np.random.default_rng(0))
    masks = np.ones((1, 729), bool)
    assert len({int(policy.act(boards, masks)[0]) for policy in policies}) == 1
    digest = sha256((shipped / "weights.safetensors").read_bytes()).hexdigest()
    for name in ("dqn", "copy", "dqn?rounds=8", f"dqn?folder={copy}"):
        assert weights_sha256(name) == digest
    assert weights_sha256("hidden-singles") is weights_sha256("their_agents:load") is None
    for iteration in (999_999, 1_000_000):
        latest = module / "run" / "checkpoints" / str(iteration) / "weights.safetensors"
        latest.parent.mkdir(parents=True)
        latest.write_bytes(b"")
    assert weights_file(f"dqn?folder={module / 'run'}") == latest


@pytest.mark.parametrize(
    "config, message",
    [
        (None, r"config\.json: the file is missing"),
        ("{", "must name its agent"),
        ("[]", "must name its agent"),
        ({}, "must name its agent"),
        ({"agent": 3}, "must name its agent"),
        ({"agent": "none-such"}, "a checkpoint may name installed policies only"),
        ({"agent": "os:system"}, "a checkpoint may name installed policies only"),
    ],
)
def test_a_folder_that_is_no_checkpoint(module, config, message):
    with pytest.raises(ValueError, match=message):
        load_policy(write_config(module / "run", config))


def test_a_folder_hides_no_policy_of_its_name(module):
    write_config(module / "backtracking", {"agent": "their_agents:load"})
    assert load_policy("backtracking").solver
    assert load_policy("./backtracking", trust=True).greed == 4
    assert load_policy(Path("backtracking"), trust=True).greed == 4


@pytest.fixture(scope="module")
def proving():
    """A solver that proves how many solutions boards have."""
    pytest.importorskip("torch")
    return load_policy("expert-iteration?search=best-first&evaluations=300").solver


def test_a_solver_that_proves_is_loaded_by_name(proving):
    boards = np.stack([board.parse(line) for line in ("12343.12.1434321", "1......1.1....1.")])
    boards = np.concatenate([boards, board.parse("1....234........")[None]])
    found = proving.search(boards, Geometry.standard(4), limit=2)
    assert found.decided.all() and found.found.tolist() == [1, 2, 0]
