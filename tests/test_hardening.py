"""The programs that make hard puzzles: one solution each, minimal, and in the split of before."""

from dataclasses import replace

import numpy as np
import pytest

from hardening import harden
from lane_hardening import harden_in_lanes
from sudoku_gym import solver
from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.puzzles.difficulty import grade, rate
from sudoku_gym.puzzles.generator import generate

NINE = Geometry.standard(9)


def rng(seed=0):
    return np.random.default_rng(seed)


def assert_minimal(boards, geometry):
    """Each board has one solution, and several without any of its givens."""
    assert (solver.count_solutions(boards, 2, geometry) == 1).all()
    for puzzle in boards.reshape(len(boards), -1):
        givens = np.flatnonzero(puzzle)
        fewer = np.tile(puzzle, (len(givens), 1))
        fewer[np.arange(len(givens)), givens] = 0
        counts = solver.count_solutions(fewer.reshape(-1, *boards[0].shape), 2, geometry)
        assert (counts == 2).all()


def test_children_are_minimal_and_much_harder_in_the_split_of_their_parents():
    parents = generate(20, NINE, rng(2))
    parents = replace(parents, name="9x9", split="validation", orbits=np.arange(20))
    before = parents.puzzles.copy()
    few, many = (harden(parents, rng(3), steps=steps) for steps in (40, 400))
    assert (parents.puzzles == before).all()
    ratings = [np.median(rate(made.puzzles, rng())) for made in (parents, few, many)]
    assert ratings[0] <= 2 and ratings[1] >= 5 and ratings[2] >= 10
    assert (many.solutions == parents.solutions).all() and (many.orbits == parents.orbits).all()
    assert (many.name, many.split) == ("9x9", "validation")
    assert (many.grades == grade(many.puzzles, NINE)).all()
    assert many.minimal.all()
    assert_minimal(many.puzzles, NINE)


def test_the_generator_decides_everything():
    parents = generate(3, NINE, rng())
    first, again, other = (harden(parents, rng(seed), steps=30).puzzles for seed in (7, 7, 8))
    assert (first == again).all() and (first != other).any()


def test_no_steps_only_dig_out():
    parents = generate(10, NINE, rng(), givens=36)
    dug = harden(parents, rng(), steps=0)
    assert dug.minimal.all() and (dug.blanks > parents.blanks).all()
    assert ((dug.puzzles == 0) | (dug.puzzles == parents.puzzles)).all()


def test_a_small_node_limit_never_makes_a_false_claim():
    children = harden(generate(10, sudoku_x(9), rng()), rng(), steps=10, node_limit=2)
    children.check()
    assert not children.minimal.all()
    if children.minimal.any():
        assert_minimal(children[children.minimal].puzzles, sudoku_x(9))


def test_puzzles_with_several_solutions_are_not_hardened():
    parents = generate(3, NINE, rng())
    parents.puzzles[1] = 0
    with pytest.raises(ValueError, match="generated: puzzle 1 has several solutions"):
        harden(parents, rng(), steps=1)


def in_lanes(parents, seed=0, **options):
    """Return puzzles and solutions, int8 `[B, 81]`, scores and what is proven minimal."""
    boards = [array.reshape(-1, 81).copy() for array in (parents.puzzles, parents.solutions)]
    return *boards, *harden_in_lanes(*boards, rng(seed), **options)


def test_what_lanes_make_is_minimal_has_one_solution_and_is_harder():
    parents = generate(24, NINE, rng())
    found, solutions, scores, minimal = in_lanes(parents, steps=400)
    boards = found.reshape(-1, 9, 9)
    assert (solver.solve(boards) == solutions.reshape(boards.shape)).all()
    assert minimal.all()
    assert_minimal(boards, NINE)
    before, after = (rate(boards, rng(1)) for boards in (parents.puzzles, boards))
    assert np.median(before) <= 2 and np.median(after) >= 8
    assert 1 < scores.mean() / after.mean() < 1.3
    assert (boards_differ := (solutions != parents.solutions.reshape(solutions.shape)).any(1)).any()
    assert not boards_differ.all()


def test_a_result_of_a_lane_does_not_depend_on_the_other_puzzles():
    parents = generate(20, NINE, rng(2))
    whole, again = (in_lanes(parents, seed=3, steps=60) for _ in range(2))
    first = in_lanes(parents[:5], seed=3, steps=60)
    for all_of_it, repeated, part in zip(whole, again, first, strict=True):
        assert (all_of_it == repeated).all()
        assert (all_of_it[:5] == part).all()
