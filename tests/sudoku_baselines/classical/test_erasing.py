import numpy as np
import pytest

from sudoku_baselines.classical.erasing import ErasingSearch
from sudoku_gym import board, evaluate, puzzles
from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.puzzles import generator
from sudoku_gym.testing import check_policy

GEOMETRIES = [Geometry.standard(4), Geometry.boxes(2, 3), Geometry.standard(9), sudoku_x(9)]


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=repr)
@pytest.mark.parametrize("erase", [False, True])
def test_it_keeps_the_contract(erase, geometry):
    check_policy(ErasingSearch(), geometry, erase=erase)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=repr)
def test_what_it_takes_back_it_plays_otherwise_until_the_board_is_full(geometry):
    made, policy = generator.generate(20, geometry, np.random.default_rng(0)), ErasingSearch()
    assert evaluate(policy, made, erase=True, max_steps=10_000).solved.all()
    np.testing.assert_array_equal(policy.placed - policy.erased, made.blanks)


def test_erasures_are_what_solves_hard_puzzles():
    hard, policy = puzzles.load("9x9-hard", "test")[:30], ErasingSearch()
    assert evaluate(policy, hard).completion_rate < 0.2
    assert not policy.erased.any()
    assert evaluate(policy, hard, erase=True, max_steps=10_000).solved.all()
    assert (policy.erased > 0).mean() > 0.8


def test_where_nothing_is_left_to_try_its_moves_stay_legal():
    given = board.parse("12..34....1...2.")[None]  # no digit fits r2c3
    played = evaluate(ErasingSearch(), given, erase=True, max_steps=1000)
    assert not played.solved.any() and not played.illegal
