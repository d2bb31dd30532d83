"""Harder puzzles have one solution, are minimal, and stay in their split."""

import numpy as np
import pytest

from lane_hardening import harden_in_lanes
from sudoku_gym import puzzles, solver
from sudoku_gym.geometry import Geometry, jigsaw, latin_square, sudoku_x
from sudoku_gym.puzzles.difficulty import grade, rate
from sudoku_gym.puzzles.generator import generate
from sudoku_gym.puzzles.hardening import harden

NINE = Geometry.standard(9)
STEPS = {  # fewer where a search takes long
    Geometry.standard(6): 200,
    NINE: 100,
    sudoku_x(9): 60,
    jigsaw(9): 10,
    latin_square(6): 200,
}
FIRST = (Geometry.standard(6), NINE)


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


@pytest.mark.parametrize(
    "geometry",
    [
        pytest.param(each, id=each.name, marks=[pytest.mark.nightly] * (each not in FIRST))
        for each in STEPS
    ],
)
def test_children_are_minimal_and_no_easier_than_their_parents(geometry):
    parents = generate(8, geometry, rng())
    children = harden(parents, rng(1), steps=STEPS[geometry])
    assert (children.solutions == parents.solutions).all()
    assert (rate(children.puzzles, rng(), geometry) >= rate(parents.puzzles, rng(), geometry)).all()
    assert (children.grades == grade(children.puzzles, geometry)).all()
    assert children.minimal.all()
    assert_minimal(children.puzzles, geometry)


def test_children_are_much_harder():
    parents = generate(20, NINE, rng(2))
    few, many = (harden(parents, rng(3), steps=steps) for steps in (40, 400))
    ratings = [np.median(rate(made.puzzles, rng())) for made in (parents, few, many)]
    assert ratings[0] <= 2 and ratings[1] >= 5 and ratings[2] >= 10


def test_the_generator_decides_everything():
    parents = generate(3, NINE, rng())
    before, told = parents.puzzles.copy(), []
    again = [harden(parents, rng(7), steps=30, on_progress=told.append) for _ in range(2)]
    assert (again[0].puzzles == again[1].puzzles).all() and told == [1 / 3, 2 / 3, 1.0] * 2
    assert (again[0].puzzles != harden(parents, rng(8), steps=30).puzzles).any()
    assert (parents.puzzles == before).all()


def test_no_steps_only_dig_out():
    parents = generate(10, NINE, rng(), givens=36)
    dug = harden(parents, rng(), steps=0)
    assert dug.minimal.all() and (dug.blanks > parents.blanks).all()
    assert ((dug.puzzles == 0) | (dug.puzzles == parents.puzzles)).all()


def test_from_9x9_up_puzzles_stay_in_their_split():
    parents = puzzles.load("9x9", "validation")[:2]
    children = harden(parents, rng(), steps=20)
    assert (children.name, children.split) == ("9x9", "validation")
    assert (children.orbits == parents.orbits).all()
    assert puzzles.find_in_splits(children.puzzles[0], "9x9") == "validation"
    small = harden(puzzles.load("6x6", "test")[:2], rng(), steps=20)
    assert small.split == "all" and (small.orbits == -1).all()


def test_a_small_node_limit_never_makes_a_false_claim():
    children = harden(generate(10, sudoku_x(9), rng()), rng(), steps=10, node_limit=2)
    children.check()
    assert not children.minimal.all()
    if children.minimal.any():
        assert_minimal(children[children.minimal].puzzles, sudoku_x(9))


def test_what_cannot_be_hardened():
    with pytest.raises(ValueError, match="steps must not be negative"):
        harden(generate(1, NINE, rng()), rng(), steps=-1)
    with pytest.raises(ValueError, match="singles solve every 4x4 puzzle"):
        harden(puzzles.load("4x4", "test")[:2], rng())
    parents = generate(3, NINE, rng())
    parents.puzzles[1] = 0
    with pytest.raises(ValueError, match="generated: puzzle 1 has several solutions"):
        harden(parents, rng())


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
