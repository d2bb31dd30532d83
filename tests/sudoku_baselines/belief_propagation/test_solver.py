import logging

import numpy as np
import pytest

from sudoku_baselines.belief_propagation.solver import (
    BeliefPropagation,
    bp_sinkhorn,
    fractional_bp,
    marginal,
    max_product,
    sum_product,
)
from sudoku_gym import board, evaluate, load_policy, puzzles
from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.testing import check_policy

NAMES = ["sum-product", "max-product", "bp-sinkhorn", "sinkhorn", "fractional-bp"]
TEST = puzzles.load("9x9", "test")[:150]


def solved_by(solver, puzzle_set):
    """Solve, check that the solver says the truth about each puzzle, return which it solved."""
    grids = solver.solve(puzzle_set.puzzles, puzzle_set.geometry)
    solved = (grids == puzzle_set.solutions).all((1, 2))
    assert ((solver.status == "solved") == solved).all()
    assert (grids[~solved] == 0).all()
    assert (solver.iterations <= solver.config.iterations).all()
    return solved


@pytest.mark.parametrize(
    ("make", "least"), [(sum_product, 0.8), (max_product, 0.65), (bp_sinkhorn, 0.8)]
)
def test_the_papers_solvers_fall_short_of_all_minimal_puzzles(make, least):
    assert least < solved_by(make(iterations=40), TEST).mean() < 0.99


def test_fractional_weights_solve_what_the_paper_leaves():
    solver = fractional_bp()
    assert solved_by(solver, TEST).mean() > 0.98
    assert np.median(solver.iterations) < 10


@pytest.mark.parametrize("geometry", [Geometry.boxes(2, 3), sudoku_x(9), Geometry.standard(16)])
def test_any_geometry_is_solved(geometry):
    name = {6: "6x6", 9: "x9x9", 16: "16x16"}[geometry.size]
    bank = puzzles.load(name, "test")[:10]
    rng = np.random.default_rng(0)
    easier = np.where(rng.random(bank.puzzles.shape) < 0.3, bank.solutions, bank.puzzles)
    for solver in (fractional_bp(iterations=60), bp_sinkhorn(iterations=60)):
        grids = solver.solve(easier, geometry)
        assert (grids == bank.solutions).all((1, 2)).mean() > 0.7


def test_a_wrong_digit_is_a_contradiction_and_never_a_solution():
    rng = np.random.default_rng(0)
    spoilt = TEST.puzzles.copy()
    wrong = board.candidates(spoilt, TEST.geometry)
    index = np.arange(len(spoilt))[:, None, None]
    rows, columns = np.ogrid[:9, :9]
    wrong[index, rows, columns, TEST.solutions - 1] = False
    for b in range(len(spoilt)):
        row, column, digit = rng.choice(np.argwhere(wrong[b]))
        spoilt[b, row, column] = digit + 1
    for solver in (sum_product(iterations=40), fractional_bp(iterations=40)):
        assert (solver.solve(spoilt, TEST.geometry) == 0).all()
        assert (solver.status == "contradiction").mean() > 0.5
        assert (solver.status != "solved").all()


@pytest.mark.parametrize("make", [sum_product, fractional_bp, bp_sinkhorn])
def test_marginals_are_probabilities_and_rule_out_no_truth(make):
    beliefs = make(iterations=30).predict(TEST.puzzles, TEST.geometry)
    np.testing.assert_allclose(beliefs.sum(3), 1)
    given = np.take_along_axis(beliefs, np.maximum(TEST.puzzles, 1)[..., None] - 1, 3)[..., 0]
    assert (given[TEST.puzzles > 0] == 1).all()
    truth = np.take_along_axis(beliefs, TEST.solutions[..., None] - 1, 3)[..., 0]
    assert (truth > 0).all()  # zeros are proofs


@pytest.mark.parametrize("name", NAMES)
def test_each_is_a_policy_by_name(name, caplog):
    caplog.set_level(logging.ERROR)
    check_policy(load_policy(name), Geometry.standard(4))
    result = evaluate(load_policy(name), puzzles.load("4x4", "test")[:300])
    assert result.completion_rate > 0.9


def test_marginals_play():
    policy = marginal(iterations=15)
    check_policy(policy, Geometry.standard(4))
    assert evaluate(policy, TEST[:20]).completion_rate > 0.6


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"iterations": 0}, "iterations must be at least 1"),
        ({"damping": 1.0}, "damping must be at least 0 and below 1"),
        ({"check_every": -1}, "must not be negative"),
        ({"weight": 0.0}, "weight must be positive"),
        ({"schedule": "random"}, "schedule: 'random' is no Literal"),
        ({"rule": "min"}, "rule: 'min' is no Literal"),
    ],
)
def test_wrong_settings_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        BeliefPropagation(**changes)
