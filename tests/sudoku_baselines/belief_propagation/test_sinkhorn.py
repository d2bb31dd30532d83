import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_baselines.belief_propagation.passing import balance_board
from sudoku_baselines.belief_propagation.solver import Sinkhorn
from sudoku_gym import puzzles
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


def test_a_board_is_balanced_in_all_its_units_at_once():
    geometry = Geometry.standard(9)
    beliefs = np.random.default_rng(0).random((81, 9)) + 0.1
    rounds = balance_board(beliefs, geometry.units, 1e-9, 10_000)
    assert 1 < rounds < 10_000
    for unit in geometry.units:
        np.testing.assert_allclose(beliefs[unit].sum(0), 1, atol=1e-6)
        np.testing.assert_allclose(beliefs[unit].sum(1), 1, atol=1e-6)


def test_sinkhorn_alone_solves_most_minimal_puzzles():
    test = puzzles.load("9x9", "test")[:200]
    solver = Sinkhorn(200)
    grids = solver.solve(test.puzzles, test.geometry)
    solved = (grids == test.solutions).all((1, 2))
    assert 0.8 < solved.mean() < 0.99
    assert ((solver.status == "solved") == solved).all()
    assert (grids[~solved] == 0).all()
    assert (solver.iterations[~solved] == 200).all() and (solver.iterations >= 1).all()
