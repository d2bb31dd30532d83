"""GFlowNets as a whole: they learn, resume to the bit, and play by the rules."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gflownet_exact import StateGraph, total_variation
from sudoku_agents.gflownet.config import BalanceConfig, GFlowNetConfig
from sudoku_agents.gflownet.learner import (
    BALANCE_LOSS,
    LOG_Z,
    PLACEMENT_LOSS,
    SAMPLE_SUCCESS,
    GFlowNetLearner,
)
from sudoku_curricula.curves import BLANKS_LEVEL, COMPLETION_RATE, TRAINING_COMPLETION, read_curves
from sudoku_curricula.schedules import ConstantConfig, SuccessRateConfig
from sudoku_gym import board, evaluate, load_policy, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.testing import check_policy
from sudoku_learning.networks import FactorGraphConfig, MLPConfig
from sudoku_learning.recurrent import RecurrentConfig
from sudoku_learning.training import OptimizerConfig, Progress, RunGenerators, Training

FOUR = Geometry.standard(4)
EMPTY = np.zeros((4, 4), np.int8)


class OneBoard:
    geometry = FOUR

    def __init__(self, puzzle=EMPTY):
        self.puzzle, self.max_blanks = puzzle, int((puzzle == 0).sum())

    def sample(self, count, blanks, rng):
        boards = self.puzzle[None].repeat(count, 0)
        return boards, boards


def small(run, **changes):
    config = GFlowNetConfig(
        run=run,
        iterations=4,
        updates=3,
        puzzles=12,
        validation_games=8,
        checkpoint_every=2,
        network=FactorGraphConfig(8, 4),
        curriculum=SuccessRateConfig(start=2, stop=4, threshold=0.1, window=8, min_count=8),
    )
    return replace(config, **changes)


def train(config):
    return Training(config, GFlowNetLearner)


def weights_of(training):
    return torch.nn.utils.parameters_to_vector(training.learner.network.parameters())


def one_first(boards):
    """Reward 5 for a solution that begins with 1, and 1 for another one."""
    return (boards > 0).all((1, 2)) * np.where(boards[:, 0, 0] == 1, 5.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("reward", ["sparse", f"{__name__}:one_first"])
def test_it_learns_to_draw_each_solution_of_the_empty_board_by_its_reward(tmp_path, reward):
    """Untrained: a total variation of about 0.2 from even draws, and log Z near 0."""
    config = GFlowNetConfig(
        run=tmp_path,
        order="constrained",
        iterations=8,
        updates=25,
        puzzles=48,
        replayed=0.0,
        reward=reward,
        network=MLPConfig((128, 128)),
    )
    random = RunGenerators(0)
    learner = GFlowNetLearner(config, random, OneBoard())
    for done in range(config.iterations):
        report = learner.learn(None, random, Progress(done, done / config.iterations))
    graph = StateGraph(EMPTY, FOUR, "constrained")
    reached = graph.terminating_distribution(graph.log_policies(learner.network))
    wanted = np.ones(288) if reward == "sparse" else one_first(graph.terminal_boards())
    assert total_variation(reached, wanted / wanted.sum()) < 0.03
    assert report.curves[LOG_Z] == pytest.approx(np.log(wanted.sum()), abs=0.05)


def test_a_reward_takes_boards_alone():
    with pytest.raises(ValueError, match="test_learner:_of_moves takes the final boards alone"):
        GFlowNetLearner(GFlowNetConfig(reward=f"{__name__}:_of_moves"), RunGenerators(0))


def _of_moves(boards, actions):
    raise AssertionError("never called")


@pytest.mark.parametrize(
    ("puzzle", "is_equal"), [("12.. .... ..2. ....", False), (".23. 3.1. 21.. ....", True)]
)
def test_losses_differ_where_the_tree_leaves_a_choice(tmp_path, puzzle, is_equal):
    """At the most constrained cell a 4x4 puzzle with one solution leaves none: P_F = Z = 1."""

    def weights(kind):
        config = small(tmp_path, order="constrained", loss=BalanceConfig(kind))
        random = RunGenerators(0)
        learner = GFlowNetLearner(config, random, OneBoard(board.parse(puzzle)))
        before = torch.nn.utils.parameters_to_vector(learner.network.parameters()).clone()
        loss = learner.learn(None, random, Progress()).curves[BALANCE_LOSS]
        after = torch.nn.utils.parameters_to_vector(learner.network.parameters())
        assert (loss == 0) == torch.equal(before, after) == is_equal
        return after

    assert torch.equal(*map(weights, ("trajectory-balance", "sub-trajectory-balance"))) == is_equal


def first_moves(policy, some, seed):
    policy.reset(some.puzzles, some.geometry, np.random.default_rng(seed))
    masks = board.candidates(some.puzzles, some.geometry)
    return policy.choose(some.puzzles, masks.reshape(len(some), -1), np.arange(len(some)))


@pytest.mark.slow
def test_a_short_run_learns_what_chance_does_not(tmp_path):
    config = small(
        tmp_path / "run",
        seed=2,
        iterations=4,
        updates=20,
        puzzles=24,
        network=FactorGraphConfig(16, 8),
        curriculum=ConstantConfig(blanks=9),
    )
    training = train(config)
    test = puzzles.load("4x4", "test")
    part = test[np.random.default_rng(0).permutation(len(test))[:300]]
    before = evaluate(training.learner.policy(), part).completion_rate
    training.run()
    policy = load_policy(tmp_path / "run", temperature=1.0)
    check_policy(policy)
    drawn = evaluate(policy, part, seed=1)
    assert drawn.completion_rate > max(0.5, before) and drawn.illegal == 0
    assert (evaluate(policy, part, seed=1).solved == drawn.solved).all()
    colder = evaluate(load_policy(tmp_path / "run", temperature=0.2), part, seed=1)
    assert colder.completion_rate > drawn.completion_rate
    with pytest.raises(ValueError, match="temperature must be at least 0, not -1"):
        load_policy(tmp_path / "run", temperature=-1)
    assert (first_moves(policy, part, seed=1) == first_moves(policy, part, seed=1)).all()
    assert (first_moves(policy, part, seed=1) != first_moves(policy, part, seed=2)).any()
    greedy = load_policy(tmp_path / "run")
    check_policy(greedy)
    assert (
        greedy.threshold is None and load_policy(f"{tmp_path / 'run'}?threshold=9").threshold == 9
    )
    with pytest.raises(
        ValueError, match=r"threshold=9\.0: placements that are drawn are drawn one by one"
    ):
        load_policy(f"{tmp_path / 'run'}?threshold=9&temperature=1")
    assert evaluate(greedy, part).completion_rate > drawn.completion_rate
    found = read_curves(tmp_path / "run")
    assert {BALANCE_LOSS, LOG_Z, SAMPLE_SUCCESS, COMPLETION_RATE, BLANKS_LEVEL} <= found.keys()
    assert found[SAMPLE_SUCCESS][1][-1] > found[SAMPLE_SUCCESS][1][0]


@pytest.mark.parametrize(
    "kind", ["sub-trajectory-balance", "log-partition-variance", "maximum-likelihood"]
)
def test_an_interrupted_run_continues_to_the_bit(tmp_path, kind):
    recurrent = RecurrentConfig(updates=5)
    settings = {"loss": BalanceConfig(kind=kind), "repeats": 2, "recurrent": recurrent}
    whole = train(small(tmp_path / "whole", **settings))
    whole.run()
    assert whole.curriculum.schedule.level > 2
    done, interrupted = [], train(small(tmp_path / "parts", **settings))
    step = interrupted.step

    def step_or_stop():
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(1)
        return step()

    interrupted.step = step_or_stop
    with pytest.raises(KeyboardInterrupt):
        interrupted.run()
    resumed = train(small(tmp_path / "parts", **settings, resume=True))
    assert resumed.iteration == 2
    resumed.run()
    assert torch.equal(weights_of(resumed), weights_of(whole))
    assert resumed.random.numbers() == whole.random.numbers()
    found, wanted = resumed.learner.state(), whole.learner.state()
    assert found.numbers == wanted.numbers and len(whole.learner.replay) > 0
    for name, array in wanted.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)


@pytest.mark.slow
def test_likelihood_makes_the_solutions_that_were_found_likely(tmp_path):
    part = puzzles.load("4x4", "test")[::200]
    config = small(
        tmp_path / "run",
        iterations=5,
        seed=3,  # its untrained network solves nothing
        loss=BalanceConfig(kind="maximum-likelihood"),
        optimizer=OptimizerConfig(4e-3, 24, constant_share=0.4),
        recurrent=RecurrentConfig(updates=40, segments=4, revealed=0.25, policy_weight=0.0),
        network=FactorGraphConfig(8, 8, intersections=True, test_rounds=32, convergence_margin=1.0),
        curriculum=SuccessRateConfig(start=4, stop=12, threshold=0.5, window=8, min_count=8),
    )
    training = train(config)
    before = evaluate(training.learner.policy(), part).completion_rate
    training.run()
    assert before < 0.2 and evaluate(training.learner.policy(), part).completion_rate > 0.9
    drawn = evaluate(load_policy(tmp_path / "run", temperature=1.0), part, seed=1)
    assert drawn.completion_rate > 0.5
    greedy = load_policy(tmp_path / "run")
    assert greedy.threshold == 1 and evaluate(greedy, part).completion_rate > 0.9
    found = read_curves(tmp_path / "run")
    assert found[PLACEMENT_LOSS][1][-1] < found[PLACEMENT_LOSS][1][0]
    assert found[TRAINING_COMPLETION][1][-1] > found[TRAINING_COMPLETION][1][0]
    assert BALANCE_LOSS not in found
