import numpy as np
import pytest

from sudoku_baselines.classical.trivial import MaskedRandom, Singles
from sudoku_gym import board, evaluate, puzzles, solver
from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.puzzles import generator
from sudoku_gym.testing import check_policy

GEOMETRIES = [Geometry.standard(4), Geometry.boxes(2, 3), Geometry.standard(9), sudoku_x(9)]


def first_answers(policy, boards, geometry, seed=0):
    masks = board.candidates(boards, geometry).reshape(len(boards), -1)
    policy.reset(boards, geometry, np.random.default_rng(seed))
    return policy.act(boards, masks)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=repr)
@pytest.mark.parametrize("policy", [MaskedRandom(), Singles(False), Singles(True)])
def test_the_floors_keep_the_contract(policy, geometry):
    check_policy(policy, geometry)
    check_policy(policy, geometry, erase=True)


def test_masked_random_is_uniform_over_legal_actions():
    boards = np.repeat(board.parse("1...............")[None], 40_000, axis=0)
    legal = np.flatnonzero(board.candidates(boards[:1]))
    answers, counts = np.unique(
        first_answers(MaskedRandom(), boards, GEOMETRIES[0]), return_counts=True
    )
    assert (answers == legal).all()
    expected = len(boards) / len(legal)
    assert (np.abs(counts - expected) < 5 * np.sqrt(expected)).all()


def singles_by_definition(puzzle, geometry, hidden):
    """Return the actions that are naked, or else hidden, singles."""
    candidates = board.candidates(puzzle[None], geometry).reshape(-1, geometry.size)
    found = candidates & (candidates.sum(1) == 1)[:, None]
    if hidden and not found.any():
        for unit in geometry.units:
            found[unit] |= candidates[unit] & (candidates[unit].sum(0) == 1)
    return np.flatnonzero(found)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=repr)
@pytest.mark.parametrize("hidden", [False, True])
def test_singles_are_what_their_definition_says(hidden, geometry):
    rng = np.random.default_rng(1)
    made = generator.generate(40, geometry, rng)
    revealed = rng.random(made.puzzles.shape) < np.linspace(0, 0.6, 40)[:, None, None]
    boards = np.where(revealed, made.solutions, made.puzzles)
    answers = first_answers(Singles(hidden), boards, geometry)
    masks = board.candidates(boards, geometry).reshape(len(boards), -1)
    guesses = 0
    for puzzle, answer, mask in zip(boards, answers, masks, strict=True):
        singles = singles_by_definition(puzzle, geometry, hidden)
        assert answer in singles if len(singles) else mask[answer] or not mask.any()
        guesses += len(singles) == 0
    assert guesses < 40


def test_naked_singles_solve_every_minimal_4x4_puzzle():
    assert evaluate(Singles(hidden=False), puzzles.load("4x4")).solved.all()


def test_hidden_singles_solve_about_half_of_the_minimal_9x9_puzzles():
    test = puzzles.load("9x9", "test")[:400]
    assert evaluate(Singles(hidden=False), test).completion_rate < 0.06
    assert 0.4 < evaluate(Singles(hidden=True), test).completion_rate < 0.65
    assert (solver.count_solutions(test.puzzles) == 1).all()
