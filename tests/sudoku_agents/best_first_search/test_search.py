"""The best-first search against the exact solver: complete, whatever the network says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_agents.best_first_search import BestFirstConfig, best_first_search
from sudoku_agents.best_first_search.assumptions import (
    DEAD,
    FULL,
    OPEN,
    assume,
    board_status,
    fail_first,
    propagate_singles,
)
from sudoku_gym import board, puzzles, solver
from sudoku_gym.geometry import Geometry, latin_square, sudoku_x
from sudoku_gym.geometry.exact_cover import constraint_members, constraint_table
from sudoku_gym.puzzles.difficulty import GRADES

FOUR = Geometry.standard(4)


def random_boards(geometry, count, seed, filled=0.25):
    rng = np.random.default_rng(seed)
    boards = rng.integers(1, geometry.size + 1, (count, geometry.size, geometry.size))
    return np.where(rng.random(boards.shape) < filled, boards, 0).astype(np.int8)


def at_random(seed, scale=2.0):
    rng = np.random.default_rng(seed)
    return lambda boards, masks: (scale * rng.normal(size=masks.shape)).astype(np.float32)


def knowing(solution, logit=9.0):
    """Logits of somebody who knows the solution, int8 `[N, N]`."""
    size = len(solution)
    right = (solution.ravel()[:, None] == np.arange(1, size + 1)).ravel()
    return lambda boards, masks: np.tile(np.where(right, logit, -logit), (len(boards), 1))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    limit=st.integers(1, 3),
    threshold=st.sampled_from([-9.0, 0.0, 1.0, 9.0]),
    filled=st.sampled_from([0.15, 0.3, 0.5]),
    propagates=st.booleans(),
)
def test_it_agrees_with_the_exact_solver_whatever_the_logits(
    seed, limit, threshold, filled, propagates
):
    boards = random_boards(FOUR, 30, seed, filled)
    config = BestFirstConfig(threshold=threshold, propagate=propagates)
    found = best_first_search(boards, FOUR, at_random(seed), config, limit)
    exact = solver.find_solutions(boards, limit, FOUR)
    assert found.decided.all()
    np.testing.assert_array_equal(found.found, exact.found)
    solved = found.found > 0
    assert board.is_solved(found.solutions[solved], FOUR).all()
    assert ((boards == 0) | (boards == found.solutions))[solved].all()
    assert not found.solutions[~solved].any()


@pytest.mark.parametrize("propagates", [False, True])
@pytest.mark.parametrize("geometry", [Geometry.standard(6), sudoku_x(4), latin_square(4)])
def test_other_boards(geometry, propagates):
    boards = random_boards(geometry, 60, seed=1, filled=0.3)
    found = best_first_search(
        boards, geometry, at_random(1), BestFirstConfig(propagate=propagates), 2
    )
    exact = solver.find_solutions(boards, 2, geometry)
    np.testing.assert_array_equal(found.found[found.decided], exact.found[found.decided])
    assert found.decided.mean() > 0.9
    assert len(set(exact.found.tolist())) > 1  # some have solutions, some have none


def test_perfect_logits_take_one_evaluation():
    puzzle = puzzles.load("9x9", "test")[:1]
    evaluate = knowing(puzzle.solutions[0])
    found = best_first_search(puzzle.puzzles, puzzle.geometry, evaluate, BestFirstConfig())
    assert found.nodes.tolist() == [1] and found.decided.all()
    np.testing.assert_array_equal(found.solutions, puzzle.solutions)


def test_the_budget():
    boards = np.zeros((2, 4, 4), np.int8)
    boards[1] = puzzles.load("4x4", "test")[:1].solutions[0]
    found = best_first_search(boards, FOUR, at_random(0), BestFirstConfig(evaluations=3), limit=100)
    assert found.nodes.tolist() == [3, 0]
    assert found.decided.tolist() == [False, True]


@pytest.mark.parametrize("geometry", [FOUR, Geometry.standard(6), sudoku_x(9), latin_square(5)])
def test_masks_after_placements_are_the_candidates(geometry):
    rng = np.random.default_rng(0)
    tables = constraint_table(geometry), constraint_members(geometry)
    states = set()
    for _ in range(100):
        cells = np.zeros(geometry.num_cells, np.int8)
        mask = np.ones(geometry.num_placements, np.bool_)
        wanted = rng.permutation(geometry.num_placements)[: rng.integers(len(mask))]
        made = assume(cells, mask, wanted, *tables)
        now = cells.reshape(1, geometry.size, geometry.size)
        assert not board.conflicts(now, geometry).any()
        np.testing.assert_array_equal(mask, board.candidates(now, geometry).ravel())
        assert len(made) == (cells > 0).sum()
        states.add(board_status(cells, mask, *tables))
        is_stuck = (~mask.reshape(-1, geometry.size).any(1) & (cells == 0)).any()
        assert not is_stuck or board_status(cells, mask, *tables) == DEAD
    assert states >= {OPEN, DEAD}
    full = np.array(solver.solve(np.zeros((1, geometry.size, geometry.size), np.int8), geometry))
    assert board_status(full.ravel(), np.zeros(geometry.num_placements, np.bool_), *tables) == FULL


@pytest.mark.parametrize("name", ["9x9", "x9x9", "jigsaw9x9", "latin9x9"])
def test_propagation_solves_what_singles_solve(name):
    test = puzzles.load(name, "test")[:60]
    tables = constraint_table(test.geometry), constraint_members(test.geometry)
    hidden_singles = GRADES.index("hidden singles")
    for puzzle, solution, grade in zip(test.puzzles, test.solutions, test.grades, strict=True):
        cells, mask = puzzle.ravel().copy(), board.candidates(puzzle[None], test.geometry).ravel()
        status = propagate_singles(cells, mask, *tables)
        assert (status == FULL) == (grade <= hidden_singles)
        np.testing.assert_array_equal(cells[cells > 0], solution.ravel()[cells > 0])
        left = board.candidates(cells.reshape(1, *puzzle.shape), test.geometry)
        np.testing.assert_array_equal(mask, left.ravel())


def test_a_search_that_propagates_asks_about_fewer_boards():
    test = puzzles.load("9x9-hard", "test")[:8]
    searched = {
        propagates: best_first_search(
            test.puzzles,
            test.geometry,
            lambda boards, masks: np.zeros(masks.shape, np.float32),
            BestFirstConfig(evaluations=3000, propagate=propagates),
            2,
        )
        for propagates in (False, True)
    }
    assert (searched[True].found == 1).all() and searched[True].decided.all()
    assert searched[True].nodes.sum() < searched[False].nodes.sum() / 10


@pytest.mark.parametrize("geometry", [Geometry.standard(9), sudoku_x(9)])
def test_it_fails_first_where_the_network_sees_no_way(geometry):
    """The fewest placements left come first, then the lowest sum of their logits."""
    members = constraint_members(geometry)
    puzzle = puzzles.load("9x9-hard" if geometry == Geometry.standard(9) else "x9x9", "test")[:20]
    rng = np.random.default_rng(0)
    for mask in board.candidates(puzzle.puzzles, geometry).reshape(20, -1):
        logits = rng.normal(size=len(mask)).astype(np.float32)
        logits[~mask] = -np.inf
        counts = mask[members].sum(1)
        tightest = members[counts == counts[counts > 0].min()]
        sums = np.where(mask[tightest], logits[tightest], 0).sum(1)
        hardest = tightest[sums.argmin()]
        assert fail_first(mask, logits, members) == hardest[logits[hardest].argmax()]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_logits_that_are_not_finite_end_it(bad):
    with pytest.raises(ValueError, match="not finite"):
        best_first_search(
            np.zeros((1, 4, 4), np.int8),
            FOUR,
            lambda boards, masks: np.where(masks, np.float32(bad), np.float32(0)),
            BestFirstConfig(),
        )
