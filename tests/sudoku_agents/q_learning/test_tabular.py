"""Tabular Q-learning and SARSA: exact values of a small puzzle, and runs as a whole."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
import torch

from sudoku_agents.q_learning.tabular.agent import QTable
from sudoku_agents.q_learning.tabular.config import QLearningConfig
from sudoku_agents.q_learning.tabular.learner import (
    STATES,
    FixedPuzzles,
    QLearningLearner,
    play_and_learn,
)
from sudoku_curricula.curves import BLANKS_LEVEL, TRAINING_COMPLETION, read_curves
from sudoku_curricula.schedules import ConstantConfig, SuccessRateConfig
from sudoku_gym import board, evaluate, load_policy, puzzles, solver
from sudoku_gym.puzzles.sources import BankSource
from sudoku_gym.testing import check_policy
from sudoku_learning.training import Training

# Six blanks, one solution; the first legal placement may be wrong.
PUZZLE = board.parse("1.3. 34.. 2.4. 43.1".replace(" ", ""))


def small(run, **changes):
    config = QLearningConfig(
        run=run,
        iterations=4,
        puzzles=3,
        games=32,
        validation_games=16,
        checkpoint_every=2,
        curriculum=ConstantConfig(blanks=4),
    )
    return replace(config, **changes)


def train(config):
    return Training(config, QLearningLearner)


def place(cells, action):
    after = cells.copy()
    after.ravel()[action // 4] = action % 4 + 1
    return after


def exact_values(puzzle, value_of_actions, reward="sparse", discount=1.0):
    """Return Q of every board that can be reached, by enumeration: {bytes: {action: value}}.

    A game ends when nothing is legal, on a full board or where every blank cell is dead. The state
    value is what `value_of_actions` makes of the values of the legal actions.
    """
    found = {}

    def value(cells):
        legal = np.flatnonzero(board.candidates(cells[None])[0].ravel())
        if not len(legal):
            return 0.0
        if cells.tobytes() not in found:
            found[cells.tobytes()] = {action: after(cells, action) for action in legal}
        return value_of_actions(list(found[cells.tobytes()].values()))

    def after(cells, action):
        following = place(cells, action)
        ends = not board.candidates(following[None]).any()
        fraction = board.constraint_fraction(following[None])[0]
        if reward == "dense":
            paid = fraction - board.constraint_fraction(cells[None])[0]
        else:
            paid = ends * (float(fraction == 1) if reward == "sparse" else fraction)
        return paid + discount * value(following)

    value(puzzle)
    return found


def learned(config, games, iterations, table=None, seed=0):
    envs = gym.make_vec(
        "Sudoku4x4-v0",
        num_envs=games,
        reward=config.reward,
        end_at_dead_end=config.end_at_dead_end,
    )
    table, rng = table or QTable(4), np.random.default_rng(seed)
    for _ in range(iterations):
        play_and_learn(table, envs, np.repeat(PUZZLE[None], games, 0), config, rng)
    return table


def assert_close(table, wanted, tolerance):
    assert len(table) == len(wanted)
    for cells, values in zip(table.boards, table.values, strict=True):
        for action, value in wanted[cells.tobytes()].items():
            assert values[action] == pytest.approx(value, abs=tolerance)


@pytest.mark.parametrize("reward", ["sparse", "terminal", "dense"])
def test_q_learning_finds_the_optimal_values(tmp_path, reward):
    assert solver.count_solutions(PUZZLE[None])[0] == 1
    config = small(
        tmp_path, epsilon=1.0, learning_rate=1.0, reward=reward, discount=0.9, end_at_dead_end=False
    )
    wanted = exact_values(PUZZLE, max, reward, 0.9)
    assert 64 < len(wanted) < 400  # wrong placements are among them
    assert_close(learned(config, 64, 120), wanted, 1e-5)


def test_fixed_puzzles_of_a_lower_level_lie_on_the_way():
    source = BankSource(puzzles.load("4x4", "train"))
    fixed = FixedPuzzles.sample(source, 20, np.random.default_rng(0))
    every = np.arange(20)
    above = fixed.with_blanks(every, np.full(20, 16))
    assert (solver.count_solutions(above) == 1).all()
    most = (above == 0).sum((1, 2))
    for blanks in range(12, 0, -1):
        boards = fixed.with_blanks(every, np.full(20, blanks))
        np.testing.assert_array_equal((boards == 0).sum((1, 2)), np.minimum(blanks, most))
        assert ((boards == above) | (above == 0)).all()
        assert ((boards == 0) | (boards == fixed.solutions)).all()
        above = boards


@pytest.mark.parametrize("algorithm", ["q-learning", "sarsa"])
def test_a_run_learns_its_puzzles_and_no_others(tmp_path, algorithm):
    config = small(tmp_path / "run", algorithm=algorithm, iterations=30, games=128, epsilon=0.2)
    training = train(replace(config, curriculum=ConstantConfig(blanks=7)))
    training.run()
    own = training.learner.puzzles.with_blanks(np.arange(3), np.full(3, 7))
    policy = load_policy(tmp_path / "run")
    check_policy(policy)
    check_policy(policy, erase=True)
    assert evaluate(policy, own).completion_rate == 1
    assert evaluate(load_policy("masked-random"), np.repeat(own, 100, 0)).completion_rate < 0.9
    test = puzzles.load("4x4", "test")[:1000]
    assert evaluate(policy, test).completion_rate < 0.2  # it knows none of these boards
    found = read_curves(tmp_path / "run")
    assert found[TRAINING_COMPLETION][1][-1] == 1 and found[BLANKS_LEVEL][1][-1] == 7
    assert found[STATES][1] == sorted(found[STATES][1])
    assert found[STATES][0][-1] == training.steps


def test_the_shipped_table_solves_its_eight_puzzles():
    policy = load_policy("q-table")
    check_policy(policy)
    boards = policy.table.boards.reshape(-1, 4, 4)
    blanks = (boards == 0).sum((1, 2))
    own = boards[blanks == blanks.max()]  # whatever was met on the way has fewer blanks
    assert len(own) == 8 and blanks.max() == 6
    assert (solver.count_solutions(own) == 1).all()
    assert evaluate(policy, own).completion_rate == 1
    random = evaluate(load_policy("masked-random"), np.repeat(own, 50, 0))
    assert 0.5 < random.completion_rate < 0.9
    assert evaluate(policy, np.zeros((1, 9, 9), np.int8)).illegal == 0  # it knows no such board


def test_an_interrupted_run_continues_to_the_bit(tmp_path):
    whole = train(small(tmp_path / "whole"))
    whole.run()
    train(small(tmp_path / "parts", iterations=2)).run()
    resumed = train(small(tmp_path / "parts", resume=True))
    resumed.run()
    assert resumed.iteration == 4 and resumed.random.numbers() == whole.random.numbers()
    for name, tensor in whole.learner.state().weights.items():
        assert torch.equal(resumed.learner.state().weights[name], tensor)
    for name, array in whole.learner.state().arrays.items():
        np.testing.assert_array_equal(resumed.learner.state().arrays[name], array)


def test_a_schedule_that_waits_for_held_out_games_is_refused():
    with pytest.raises(ValueError, match="no table knows held-out puzzles"):
        QLearningConfig(curriculum=SuccessRateConfig())
