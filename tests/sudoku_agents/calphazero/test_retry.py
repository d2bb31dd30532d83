"""Section 6 of cAlphaZero: runs from the root until one of them ends at a solution."""

import numpy as np
import pytest

from sudoku_agents.calphazero.policy import load
from sudoku_agents.calphazero.retry import RetrySolver, _Scores
from sudoku_agents.calphazero.search import SearchConfig
from sudoku_gym import board, puzzles
from sudoku_gym.testing import check_solver
from sudoku_learning.networks import POLICY_AND_VALUE, MLPConfig, Network
from sudoku_learning.networks.network import seeded

TEST = puzzles.load("4x4", "test")[:30]


@pytest.fixture(scope="module")
def network():
    return seeded(0, lambda: Network(MLPConfig((16,)), POLICY_AND_VALUE, TEST.geometry))


def test_runs_go_on_until_a_puzzle_is_solved(network):
    once = RetrySolver(network, 1).search(TEST.puzzles, TEST.geometry)
    many = RetrySolver(network, 500).search(TEST.puzzles, TEST.geometry)
    assert 0 < once.found.sum() < len(TEST) == many.found.sum()
    assert (many.solutions == TEST.solutions).all() and many.decided.all()
    assert (once.solutions[once.found == 0] == 0).all() and not once.decided[once.found == 0].any()
    assert (many.nodes >= once.nodes).all() and (many.nodes == once.nodes)[once.found == 1].all()


def test_boards_without_a_solution_are_given_up_once_all_scores_are_zero(network):
    wrong = TEST.puzzles.copy()
    legal = board.candidates(wrong) & (np.arange(1, 5) != TEST.solutions[..., None])
    for one, choices in zip(wrong, legal, strict=True):
        row, column, digit = np.argwhere(choices)[-1]
        one[row, column] = digit + 1
    found = RetrySolver(network, 10**6).search(wrong, TEST.geometry)
    assert found.decided.all() and not found.found.any() and not found.solutions.any()
    assert found.nodes.max() > 1


def test_scores_are_those_of_equation_1_until_they_are_set_to_zero():
    scores = _Scores(np.array([True, False, True, True]), np.array([0.7, 0, 0.2, 0.1], np.float32))
    config, played = SearchConfig(unvisited_bonus=0.0), []
    for _ in range(6):
        played.append(scores.best(config))
        scores.visits[played[-1]] += 1
    assert scores.actions.tolist() == [0, 2, 3]
    assert played == [0, 0, 0, 1, 0, 0]  # 0.7 / 4 < 0.2, then 0.7 / 4 and 0.7 / 5 > 0.2 / 2
    scores.is_zero[:2] = True
    assert scores.best(config) == 2
    tried = _Scores(np.ones(2, np.bool_), np.array([0.9, 0.1], np.float32))
    tried.visits[0] = 1
    assert tried.best(SearchConfig()) == 1  # 0.1 + 0.5 > 0.9 / 2


def test_it_is_an_option_of_the_policy():
    loaded = load(search="retry-paper", runs=2)
    assert isinstance(loaded, RetrySolver) and loaded.runs == 2
    for wrong in ({"search": "best-first"}, {"search": "retry-paper", "simulations": 8}):
        with pytest.raises(ValueError, match="use 'retry-paper', without simulations"):
            load(**wrong)


def test_it_is_a_solver(network):
    check_solver(RetrySolver(network, 500), geometry=TEST.geometry)
