import json
import logging
import sys
from pathlib import Path

import numpy as np
import pytest

from sudoku_gym import board, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import (
    Convergence,
    PredictorPolicy,
    SolverPolicy,
    load_policy,
    load_solver,
)
from sudoku_gym.policies.loading import find_policy

GEOMETRY = Geometry.standard(4)
GRID = board.parse("1234341221434321")
PUZZLE = board.parse("12343.12.1434321")  # one blank with the digit 4, one with the digit 2


class OneGrid:
    """Knows one grid and answers it to every puzzle."""

    def __init__(self, grid=GRID):
        self.grid = grid

    def solve(self, puzzles, geometry):
        return np.repeat(self.grid[None], len(puzzles), axis=0)

    def predict(self, boards, geometry):
        scores = np.full((len(boards), 4, 4, 4), 0.1)
        np.put_along_axis(scores, self.grid[None, :, :, None].astype(int) - 1, 0.7, 3)
        return scores


def play(policy, puzzles):
    """Fill boards until no answer is legal; return them, and whether an answer was illegal."""
    boards, illegal = np.array(puzzles), np.zeros(len(puzzles), bool)
    policy.reset(boards.copy(), GEOMETRY, np.random.default_rng(0))
    while (masks := board.candidates(boards).reshape(len(boards), -1) & ~illegal[:, None]).any():
        actions = policy.act(boards.copy(), masks)
        for i in np.flatnonzero(masks.any(1)):
            illegal[i] = not masks[i, actions[i]]
            if not illegal[i]:
                boards[i].flat[actions[i] // 4] = actions[i] % 4 + 1
    return boards, illegal


def test_a_solver_policy_plays_the_solution():
    policy = SolverPolicy(OneGrid())
    boards, illegal = play(policy, [PUZZLE, GRID, np.where(GRID < 3, 0, GRID)])
    assert (boards == GRID).all()
    assert not illegal.any() and not policy.unsolved.any()


@pytest.mark.parametrize(
    "answer", [np.zeros((4, 4), np.int8), GRID[::-1], np.where(GRID == 2, 3, GRID)]
)
def test_a_solver_policy_says_where_it_has_no_solution(answer, caplog):
    policy = SolverPolicy(OneGrid(answer))
    with caplog.at_level(logging.WARNING):
        boards, illegal = play(policy, [PUZZLE, PUZZLE])
    assert policy.unsolved.all()
    assert "OneGrid found no solution for 2 of 2 puzzles" in caplog.text
    assert not illegal.any() and (boards == GRID).all()  # the only legal moves are the right ones


def test_a_solver_policy_erases_nothing_and_needs_no_blank():
    policy = SolverPolicy(OneGrid())
    policy.reset(PUZZLE[None], GEOMETRY, np.random.default_rng(0))
    masks = np.zeros((1, 80), bool)
    masks[0, 64 + 3] = True
    assert policy.act(GRID[None], masks) == [67]  # nothing else is legal


def test_the_surest_legal_placement_is_played():
    class Surest:
        def predict(self, boards, geometry):
            scores = np.zeros((len(boards), 4, 4, 4))
            scores[:, 0, 0, 2] = 1.0  # not legal: row 1 holds the digit already
            scores[:, 1, 1, 3] = 0.5
            scores[:, 2, 0, 1] = 0.4
            return scores

    policy = PredictorPolicy(Surest())
    masks = board.candidates(PUZZLE[None]).reshape(1, -1)
    policy.reset(PUZZLE[None], GEOMETRY, np.random.default_rng(0))
    assert policy.act(PUZZLE[None], masks) == [5 * 4 + 3]


@pytest.mark.parametrize("mode", ["surest", "one-shot"])
def test_a_right_prediction_solves_in_both_modes(mode):
    boards, illegal = play(PredictorPolicy(OneGrid(), mode), [PUZZLE, np.zeros_like(PUZZLE)])
    assert (boards == GRID).all() and not illegal.any()


def test_a_wrong_one_shot_answer_stands_where_surest_repairs_it():
    wrong = GRID.copy()
    wrong[1, 1] = 3  # the cell is a naked 4
    repaired, illegal = play(PredictorPolicy(OneGrid(wrong), "surest"), [PUZZLE])
    assert (repaired == GRID).all() and not illegal.any()
    _, illegal = play(PredictorPolicy(OneGrid(wrong), "one-shot"), [PUZZLE])
    assert illegal.all()


def test_a_predictor_may_rule_everything_out():
    class Hopeless:
        def predict(self, boards, geometry):
            return np.full((len(boards), 4, 4, 4), -np.inf)

    boards, illegal = play(PredictorPolicy(Hopeless()), [PUZZLE])
    assert (boards == GRID).all() and not illegal.any()


def test_bad_predictors_are_named():
    with pytest.raises(ValueError, match="mode 'best' is unknown"):
        PredictorPolicy(OneGrid(), "best")
    with pytest.raises(RuntimeError, match="call reset"):
        PredictorPolicy(OneGrid()).act(PUZZLE[None], np.ones((1, 64), bool))

    class Wrong:
        def __init__(self, scores):
            self.scores = scores

        def predict(self, boards, geometry):
            return self.scores

    for scores, message in ((np.zeros((1, 64)), r"not \[1, 64\]"), (np.nan, "not NaN")):
        scores = scores * np.ones((1, 4, 4, 4)) if np.isnan(scores).all() else scores
        policy = PredictorPolicy(Wrong(scores), "one-shot")
        with pytest.raises(ValueError, match=rf"Wrong.predict must return .*{message}"):
            policy.reset(PUZZLE[None], GEOMETRY, np.random.default_rng(0))


class InRounds(OneGrid):
    """Takes three rounds for a board; those with many blanks do not converge."""

    def predict(self, boards, geometry):
        self.convergence = Convergence(
            np.full(len(boards), 3), np.count_nonzero(boards, (1, 2)) > 12
        )
        return super().predict(boards, geometry)


@pytest.mark.parametrize("mode, calls", [("one-shot", 1), ("surest", 8)])
def test_predictions_tell_whether_they_converged(mode, calls):
    policy = PredictorPolicy(InRounds(), mode)
    for _ in range(2):  # each reset counts anew
        boards, _ = play(policy, [PUZZLE, np.where(GRID < 3, 0, GRID)])  # 2 and 8 blanks
        assert (boards == GRID).all()
        assert policy.convergence.converged.tolist() == [True, False]
        assert policy.convergence.rounds.tolist() == [3 * calls] * 2
    other = PredictorPolicy(OneGrid(), mode)
    play(other, [PUZZLE])
    assert other.convergence is None


def test_a_solver_that_proves_is_loaded_by_name():
    pytest.importorskip("torch")
    solver = load_solver("calphazero?search=retry&evaluations=300")
    boards = np.stack([PUZZLE, np.where(GRID == 1, GRID, 0), np.where(GRID == 1, 1, 0)])
    boards[2, 1] = [0, 2, 3, 4]  # row 2 needs a second 1 in its box
    found = solver.search(boards.astype(np.int8), GEOMETRY, limit=2)
    assert found.decided.all() and found.found.tolist() == [1, 2, 0]
    for name in ("calphazero", "hidden-singles", "dlx"):
        with pytest.raises(ValueError, match=f"'{name}' proves nothing"):
            load_solver(name)


def test_a_policy_tells_what_is_proven_from_what_was_given_up(caplog):
    pytest.importorskip("torch")
    caplog.set_level(logging.WARNING)
    boards = np.stack([PUZZLE, GRID * 0, board.parse("123....4........")])
    policy = load_policy("calphazero?search=retry")
    policy.reset(boards, GEOMETRY, np.random.default_rng(0))
    assert policy.unsolved.tolist() == policy.impossible.tolist() == [False, False, True]
    assert "1 of 3 puzzles (1 of them are proven to have none)" in caplog.text
    nine = puzzles.load("9x9-hard", "test")[:1]
    policy = load_policy("calphazero?search=retry&evaluations=1&rounds=1")
    policy.reset(nine.puzzles, nine.geometry, np.random.default_rng(0))
    assert policy.unsolved.all() and not policy.impossible.any()
    assert "1 of 1 puzzles (0 of them are proven to have none)" in caplog.text


def test_a_policy_is_loaded_by_name():
    assert type(load_policy("masked-random")).__name__ == "MaskedRandom"
    policy = load_policy("backtracking", node_limit=7)
    assert isinstance(policy, SolverPolicy) and policy.solver.node_limit == 7


def test_options_may_stand_in_the_name():
    policy = load_policy("backtracking?node_limit=7")
    assert policy.solver.node_limit == 7
    assert load_policy("dlx?node_limit=1000&time_limit=0.5", item_rule="fewest") is not None


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """A module of somebody else's, importable as `their_agents`."""
    source = tmp_path / "their_agents.py"
    source.write_text(
        "from typing import Literal\n"
        "import numpy as np\n"
        "class Agent:\n"
        "    def __init__(self, greed=1): self.greed = greed\n"
        "    @classmethod\n"
        "    def load(cls, folder, **kw): return cls(greed=(folder / 'greed').read_text(), **kw)\n"
        "    def reset(self, puzzles, geometry, rng): pass\n"
        "    def act(self, boards, action_masks): return action_masks.argmax(1)\n"
        "class Solver:\n"
        "    def solve(self, puzzles, geometry): return puzzles\n"
        "class Predictor:\n"
        "    def predict(self, boards, geometry): return np.zeros((len(boards), 4, 4, 4))\n"
        "ready = Agent(5)\n"
        "number = 3\n"
        "def typed(depth: int, width: float | None = None, mode: Literal['fast'] = 'fast'):\n"
        "    return Agent((depth, width, mode))\n"
        "def takes_all(**kw): return Agent(kw)\n"
        "def needs_depth(depth): return Agent(depth)\n"
        "def takes_none(): return Agent()\n"
        "def load(folder, depth): return Agent(depth)\n"
        "def nothing(): return None\n"
        "def needs_torch(): raise ModuleNotFoundError('No module named torch', name='torch')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("their_agents", None)


def test_a_policy_is_loaded_by_path(plugin):
    assert load_policy("their_agents:Agent", greed=2).greed == 2
    assert load_policy("their_agents:ready").greed == 5
    assert isinstance(load_policy("their_agents:Solver"), SolverPolicy)
    assert isinstance(load_policy("their_agents:Predictor"), PredictorPolicy)


@pytest.mark.parametrize(
    "value, expected",
    [
        ("3", 3),
        ("-0.5", -0.5),
        ("1e-3", 1e-3),
        ("true", True),
        ("null", None),
        ("fewest", "fewest"),
        ('"3"', "3"),
        ("a=b", "a=b"),
        ("what?", "what?"),
    ],
)
def test_a_value_is_a_json_scalar_or_a_word(plugin, value, expected):
    greed = load_policy(f"their_agents:Agent?greed={value}").greed
    assert greed == expected and type(greed) is type(expected)


def test_options_of_a_factory_that_takes_all(plugin):
    policy = load_policy("their_agents:takes_all?depth=3&mode=fast", width=2)
    assert policy.greed == {"depth": 3, "mode": "fast", "width": 2}


def test_values_of_the_types_that_the_factory_says(plugin):
    policy = load_policy("their_agents:typed?depth=3&width=2&mode=fast")
    assert policy.greed == (3, 2, "fast")
    assert load_policy("their_agents:typed?depth=3&width=null").greed == (3, None, "fast")


@pytest.mark.parametrize(
    "name, kwargs, message",
    [
        ("backtracking?nodes=7", {}, "'backtracking' has no option nodes: use .*node_limit"),
        ("backtracking", {"nodes": 7}, "'backtracking' has no option nodes: use .*node_limit"),
        ("their_agents:takes_none?depth=7", {}, "has no option depth: it takes none"),
        ("their_agents:ready?greed=3", {}, "is a finished policy and takes no greed"),
        ("their_agents:Agent?greed=3", {"greed": 3}, "greed stands in the name and as an argument"),
        ("their_agents:Agent?greed=3&greed=4", {}, "gives greed twice"),
        ("their_agents:Agent?", {}, "'' is no option; write name"),
        ("their_agents:Agent?greed", {}, "'greed' is no option; write name"),
        ("their_agents:Agent?greed=", {}, "'greed=' is no option; write name"),
        ("their_agents:Agent?=3", {}, "'=3' is no option; write name"),
        ("their_agents:Agent?greed=3&", {}, "'' is no option; write name"),
        ("their_agents:Agent?greed=[1]", {}, r"\[1\] is a list, no single value"),
        ("their_agents:Agent?greed=NaN", {}, "NaN is no number of 64 bits"),
        ("their_agents:Agent?greed=-1e999", {}, "-1e999 is no number of 64 bits"),
        (f"their_agents:Agent?greed={2**63}", {}, "is no number of 64 bits"),
        ('their_agents:typed?depth="7"', {}, "depth='7' is no int"),
        ("their_agents:typed?depth=true", {}, "depth=True is no int"),
        ("their_agents:typed?depth=7.0", {}, "depth=7.0 is no int"),
        ("their_agents:typed?depth=1&width=wide", {}, r"width='wide' is no float \| None"),
        ("their_agents:typed?depth=1&mode=slow", {}, r"mode='slow' is no Literal\['fast'\]"),
        ("their_agents:needs_depth", {}, "missing a required argument: 'depth'; write their_ag"),
        ("alphago?depth=3", {}, "no policy 'alphago'"),
    ],
)
def test_options_that_make_no_sense_are_explained(plugin, name, kwargs, message):
    with pytest.raises(ValueError, match=message):
        load_policy(name, **kwargs)


@pytest.mark.parametrize("name", ["run", "run?greed=1"])
def test_a_folder_takes_options_and_may_have_a_question_mark_of_its_own(plugin, name):
    folder = plugin / name
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"agent": "their_agents:load"}))
    assert load_policy(folder, trust=True, depth=3).greed == 3
    if name == "run":
        assert load_policy(f"{folder}?depth=4", trust=True).greed == 4
        with pytest.raises(ValueError, match="run' has no option folder: use depth"):
            load_policy(f"{folder}?folder=elsewhere&depth=1", trust=True)


@pytest.mark.parametrize(
    "name", ["backtracking", "backtracking?node_limit=9", "their_agents:Agent", "hf:me/net?a=1"]
)
def test_a_folder_hides_no_policy_that_is_called_like_it(plugin, monkeypatch, name):
    monkeypatch.chdir(plugin)
    Path(name).mkdir(parents=True)
    (Path(name) / "config.json").write_text(json.dumps({"agent": "their_agents:load"}))
    if name.startswith("hf:"):
        monkeypatch.setattr("sudoku_gym.policies.loading.fetch_checkpoint", lambda name: name)
    assert find_policy(name)[1] != Path(name)
    assert load_policy(Path(name), trust=True, depth=3).greed == 3
    assert load_policy(f"./{name}", trust=True, depth=3).greed == 3


def test_an_agent_that_loads_nothing_is_named(plugin):
    (plugin / "config.json").write_text(json.dumps({"agent": "their_agents:number"}))
    with pytest.raises(ValueError, match="'their_agents:number' is none that loads a folder"):
        load_policy(plugin, trust=True)


@pytest.mark.parametrize("agent, greed", [("their_agents:Agent", "9"), ("their_agents:load", 4)])
def test_a_policy_is_loaded_from_a_checkpoint(plugin, agent, greed):
    folder = plugin / "checkpoint"
    folder.mkdir()
    (folder / "greed").write_text("9")
    (folder / "config.json").write_text(json.dumps({"agent": agent, "lr": 0.1}))
    kwargs = {"depth": 4} if agent.endswith("load") else {}
    assert load_policy(folder, trust=True, **kwargs).greed == greed


@pytest.mark.parametrize(
    "config, message",
    [
        (None, "has no config.json"),
        ("{", "is no JSON"),
        ("[]", "must name its agent"),
        ("{}", "must name its agent"),
        ('{"agent": "nobody"}', "no policy 'nobody'"),
    ],
)
def test_a_folder_that_is_no_checkpoint(tmp_path, config, message):
    if config is not None:
        (tmp_path / "config.json").write_text(config)
    with pytest.raises(ValueError, match=message):
        load_policy(tmp_path)


@pytest.mark.parametrize(
    "name, message",
    [
        ("alphago", "no policy 'alphago': use .*hidden-singles.*naked-singles.* module:attribute"),
        ("no_such_module:Agent", "there is no module 'no_such_module'"),
        (
            "their_agents:Missing",
            r"the module their_agents \(.*their_agents\.py\) has no 'Missing'",
        ),
        (":Agent", "write module:attribute"),
        ("their_agents:number", "neither a policy nor a class"),
        ("their_agents:nothing", "made a NoneType, which is no policy"),
    ],
)
def test_an_unknown_policy_is_explained(plugin, name, message):
    with pytest.raises(ValueError, match=message):
        load_policy(name)


def test_a_finished_policy_takes_no_arguments(plugin):
    with pytest.raises(ValueError, match="takes no greed"):
        load_policy("their_agents:ready", greed=3)


def test_a_missing_extra_is_named(plugin):
    with pytest.raises(ModuleNotFoundError, match=r"constraints.txt '\.\[agents\]' in a checkout"):
        load_policy("their_agents:needs_torch")


def test_a_module_that_misses_something_else_says_so(plugin):
    (plugin / "their_broken_agents.py").write_text("import a_module_nobody_has\n")
    with pytest.raises(ModuleNotFoundError, match="a_module_nobody_has"):
        load_policy("their_broken_agents:Agent")
