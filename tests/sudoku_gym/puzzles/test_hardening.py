import numpy as np
import pytest

from sudoku_gym import puzzles, solver
from sudoku_gym.geometry import Geometry, jigsaw, latin_square, sudoku_x, windows
from sudoku_gym.puzzles.difficulty import grade, rate
from sudoku_gym.puzzles.generator import generate
from sudoku_gym.puzzles.hardening import harden

NINE = Geometry.standard(9)
STEPS = {  # fewer where a search takes long
    Geometry.standard(6): 200,
    Geometry.standard(8): 200,
    NINE: 100,
    sudoku_x(9): 60,
    windows(9): 60,
    jigsaw(9): 10,
    latin_square(6): 200,
}


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("geometry", STEPS, ids=lambda geometry: geometry.name)
def test_children_are_minimal_and_no_easier_than_their_parents(geometry):
    parents = generate(8, geometry, rng())
    children = harden(parents, rng(1), steps=STEPS[geometry])
    children.check()
    assert (children.solutions == parents.solutions).all()
    assert (rate(children.puzzles, rng(), geometry) >= rate(parents.puzzles, rng(), geometry)).all()
    assert (children.grades == grade(children.puzzles, geometry)).all()
    assert children.minimal.all()
    for puzzle in children.puzzles.reshape(8, -1):
        givens = np.flatnonzero(puzzle)
        fewer = np.tile(puzzle, (len(givens), 1))
        fewer[np.arange(len(givens)), givens] = 0
        counts = solver.count_solutions(fewer.reshape(-1, *parents.puzzles[0].shape), 2, geometry)
        assert (counts == 2).all()


def test_children_are_much_harder():
    parents = generate(20, NINE, rng(2))
    few, many = (harden(parents, rng(3), steps=steps) for steps in (40, 400))
    ratings = [np.median(rate(made.puzzles, rng())) for made in (parents, few, many)]
    assert ratings[0] <= 2 and ratings[1] >= 5 and ratings[2] >= 10


def test_the_generator_decides_everything():
    parents = generate(3, NINE, rng())
    before = parents.puzzles.copy()
    again = [harden(parents, rng(7), steps=30).puzzles for _ in range(2)]
    assert (again[0] == again[1]).all()
    assert (again[0] != harden(parents, rng(8), steps=30).puzzles).any()
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


def test_progress_is_told():
    told = []
    harden(generate(4, Geometry.standard(6), rng()), rng(), steps=1, on_progress=told.append)
    assert told == [0.25, 0.5, 0.75, 1.0]
    assert len(harden(generate(0, NINE, rng()), rng(), on_progress=told.append)) == 0
    assert len(told) == 4


def test_large_boards():
    parents = puzzles.load("16x16", "train")[:1]
    child = harden(parents, rng(), steps=3, node_limit=300)
    child.check()
    assert (child.solutions == parents.solutions).all() and 80 < 256 - child.blanks[0] < 125


def test_a_small_node_limit_never_makes_a_false_claim():
    children = harden(generate(10, sudoku_x(9), rng()), rng(), steps=10, node_limit=2)
    children.check()
    assert not children.minimal.all()
    for puzzle in children[children.minimal].puzzles:
        for cell in np.argwhere(puzzle):
            fewer = puzzle.copy()
            fewer[tuple(cell)] = 0
            assert solver.count_solutions(fewer[None], 2, sudoku_x(9))[0] == 2


@pytest.mark.parametrize("wrong", [{"steps": -1}, {"node_limit": 0}], ids=str)
def test_wrong_numbers(wrong):
    with pytest.raises(ValueError, match="steps must not be negative"):
        harden(generate(1, NINE, rng()), rng(), **wrong)


def test_parents_that_cannot_be_hardened():
    with pytest.raises(ValueError, match="singles solve every 4x4 puzzle"):
        harden(puzzles.load("4x4", "test")[:2], rng())
    parents = generate(3, NINE, rng())
    parents.puzzles[1] = 0
    with pytest.raises(ValueError, match="generated: puzzle 1 has several solutions"):
        harden(parents, rng())
