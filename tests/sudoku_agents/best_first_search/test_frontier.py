"""The order of a best-first search's open cases, and the bound on how many it keeps."""

import numpy as np
import pytest

from sudoku_agents.best_first_search import BestFirstConfig, best_first_search
from sudoku_agents.best_first_search import search as frontier
from sudoku_agents.best_first_search.search import Assumption, Frontier
from sudoku_gym import solver
from sudoku_gym.geometry import Geometry

FOUR = Geometry.standard(4)


def assumption(*log_probabilities, num_blanks=10):
    count = len(log_probabilities)
    return Assumption(
        np.zeros(16, np.int8),
        np.zeros(8, np.uint8),
        np.arange(count - 1, dtype=np.int16),
        np.arange(count, dtype=np.int16),
        np.array(log_probabilities, float),
        num_blanks,
    )


def test_the_likeliest_case_comes_first_and_of_equals_the_latest():
    cases = Frontier()
    first, second, third = assumption(-1, -4), assumption(-1, -3), assumption(-2, -3)
    for each in (first, second, third):
        cases.add(each)
    order = [cases.pop(1) for _ in range(6)]
    assert [each for each, _ in order] == [second, first, third, third, second, first]
    assert [rank for _, rank in order] == [0, 0, 0, 1, 1, 1]
    assert len(cases) == 0


def test_after_every_fourth_evaluation_the_fullest_board_comes_next():
    cases = Frontier()
    likely, full = assumption(-1, -1.5, num_blanks=9), assumption(-2, -3, num_blanks=8)
    cases.add(likely)
    cases.add(full)
    assert [cases.pop(count)[0] for count in (3, 4, 5)] == [likely, full, likely]


@pytest.mark.parametrize("most", [1, 3])
def test_the_search_stays_complete_and_the_frontier_bounded(monkeypatch, most):
    lengths, add = [], Frontier.add

    def watched(cases, assumption):
        add(cases, assumption)
        lengths.append(len(cases))

    monkeypatch.setattr(frontier, "MAX_ASSUMPTIONS", most)
    monkeypatch.setattr(Frontier, "add", watched)
    rng = np.random.default_rng(0)
    boards = rng.integers(1, 5, (60, 4, 4)) * (rng.random((60, 4, 4)) < 0.2)

    def evaluate(boards, masks):
        return rng.normal(size=masks.shape).astype(np.float32)

    found = best_first_search(
        boards.astype(np.int8), FOUR, evaluate, BestFirstConfig(threshold=1), 300
    )
    exact = solver.find_solutions(boards.astype(np.int8), 300, FOUR)
    assert found.decided.all()
    np.testing.assert_array_equal(found.found, exact.found)
    assert most < max(lengths) < most + FOUR.num_placements
