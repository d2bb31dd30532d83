import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_baselines.belief_propagation.sinkhorn import balance_board
from sudoku_baselines.belief_propagation.solver import Sinkhorn
from sudoku_gym import board, puzzles
from sudoku_gym.geometry import Geometry


def balance(matrix, max_rounds=10_000):
    """Balance one matrix; return it, how far its lines are from summing to 1, and the rounds."""
    balanced = np.array(matrix)
    rounds = balance_board(balanced, np.arange(len(matrix))[None], 1e-8, max_rounds)
    sums = np.concatenate([balanced.sum(0), balanced.sum(1)])
    return balanced, np.abs(sums - 1).max(), rounds


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_a_matrix_with_total_support_becomes_doubly_stochastic(seed, size):
    # A sum of permutation matrices: every entry that is not 0 lies on one of them.
    rng = np.random.default_rng(seed)
    matrix = np.zeros((size, size))
    for _ in range(3):
        matrix[np.arange(size), rng.permutation(size)] += rng.random() + 0.1
    matrix *= rng.random((size, size)) + 0.1
    balanced, residual, rounds = balance(matrix)
    np.testing.assert_allclose(balanced.sum(0), 1, atol=1e-6)
    np.testing.assert_allclose(balanced.sum(1), 1, atol=1e-6)
    assert residual <= 1e-6 and rounds >= 1
    assert ((balanced > 0) == (matrix > 0)).all()


def test_balancing_scales_rows_and_columns_and_nothing_else():
    matrix = np.random.default_rng(0).random((4, 4)) + 0.1
    balanced, _, _ = balance(matrix)
    ratio = np.log(balanced / matrix)
    np.testing.assert_allclose(ratio - ratio[:1] - ratio[:, :1] + ratio[0, 0], 0, atol=1e-9)


def test_the_residual_says_that_no_permutation_fits():
    # Both first rows need the first column.
    matrix = np.array([[1.0, 0, 0], [1, 0, 0], [1, 1, 1]])
    _, residual, _ = balance(matrix)
    assert residual > 0.5


def test_the_last_round_is_the_first_to_change_little_or_the_last_allowed():
    matrix = np.array([[1.0, 2], [3, 4]])
    assert balance(matrix)[2] > 3 and balance(np.eye(2))[2] == 1
    rough, residual, rounds = balance(matrix, max_rounds=2)
    assert rounds == 2 and residual > 1e-6
    once, _, _ = balance(rough, max_rounds=1)
    two_and_one, _, _ = balance(matrix, max_rounds=3)
    assert (once == two_and_one).all()


def test_a_board_is_balanced_in_all_its_units_at_once():
    geometry = Geometry.standard(9)
    beliefs = np.random.default_rng(0).random((81, 9)) + 0.1
    rounds = balance_board(beliefs, geometry.units, 1e-9, 10_000)
    assert 1 < rounds < 10_000
    for unit in geometry.units:
        np.testing.assert_allclose(beliefs[unit].sum(0), 1, atol=1e-6)
        np.testing.assert_allclose(beliefs[unit].sum(1), 1, atol=1e-6)


def test_too_few_iterations_are_named():
    with pytest.raises(ValueError, match="at least 1, not 0"):
        Sinkhorn(0)


def test_sinkhorn_alone_solves_most_minimal_puzzles():
    test = puzzles.load("9x9", "test")[:200]
    solver = Sinkhorn(200)
    grids = solver.solve(test.puzzles, test.geometry)
    solved = (grids == test.solutions).all((1, 2))
    assert 0.8 < solved.mean() < 0.99
    assert ((solver.status == "solved") == solved).all()
    assert (grids[~solved] == 0).all()
    assert (solver.iterations[~solved] == 200).all() and (solver.iterations >= 1).all()


def test_sinkhorn_sees_a_digit_without_a_place():
    puzzle = board.parse("12....3.........")[None]  # 3 has no place in the first row
    puzzle[0, 1, 2] = 4
    solver = Sinkhorn(5)
    assert (solver.solve(puzzle, Geometry.standard(4)) == 0).all()
    assert solver.status == ["contradiction"]
