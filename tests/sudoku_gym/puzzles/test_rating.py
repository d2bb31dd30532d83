import numpy as np
import pytest

from sudoku_gym import puzzles, solver
from sudoku_gym.geometry import Geometry, jigsaw, sudoku_x, symmetry
from sudoku_gym.puzzles import named
from sudoku_gym.puzzles.difficulty import grade, rate
from sudoku_gym.puzzles.generator import generate
from sudoku_gym.solver import depth_first
from sudoku_gym.solver.cover_bits import cover_tables

NINE = Geometry.standard(9)


@pytest.fixture(scope="module")
def escargot():
    return puzzles.load("named").puzzles[banks.NAMED_BOARDS.index("AI Escargot")][None]


def nodes_of(boards, geometry):
    """Count the candidates that the search for all geometries tries on each board."""
    flat = boards.reshape(len(boards), -1)
    found, nodes = np.zeros((2, len(flat)), np.int64)
    outputs = np.zeros_like(flat), found, np.ones(len(flat), np.bool_), nodes
    depth_first.search_boards(flat, 2, 10**6, cover_tables(geometry), *outputs)
    assert (found == 1).all()
    return nodes


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    "geometry",
    [Geometry.standard(6), NINE, sudoku_x(9), jigsaw(9)],
    ids=lambda geometry: geometry.name,
)
def test_a_rating_is_the_median_of_searches(geometry):
    made = generate(8, geometry, rng())
    moves = symmetry.sample(geometry, 15, rng(1))
    ratings = rate(made.puzzles, rng(1), geometry, symmetries=15)
    for puzzle, rating in zip(made.puzzles, ratings, strict=True):
        moved = moves.apply(np.repeat(puzzle[None], 15, axis=0))
        assert rating == np.median(nodes_of(moved, geometry))


def test_the_generator_decides_everything_and_no_neighbour_anything():
    made = generate(40, NINE, rng(2)).puzzles
    ratings = rate(made, rng(3))
    assert (rate(made, rng(3)) == ratings).all()
    assert (rate(made[::-1], rng(3)) == ratings[::-1]).all()
    assert (rate(made[7:8], rng(3)) == ratings[7]).all()
    assert (rate(made, rng(4)) != ratings).any()


def test_a_rating_belongs_to_the_orbit(escargot):
    """Single searches of a board, and of the boards it is turned into, have one distribution."""
    of_one = [rate(escargot, rng(seed), symmetries=1)[0] for seed in range(400)]
    moved = symmetry.sample(NINE, 400, rng(5)).apply(np.repeat(escargot, 400, axis=0))
    of_moved = rate(moved, rng(6), symmetries=1)
    error = np.sqrt((np.var(of_one) + np.var(of_moved)) / 400)
    assert abs(np.mean(of_one) - np.mean(of_moved)) < 4 * error
    assert error < 1 < 5 < np.std(of_one)


def test_zero_is_what_singles_solve():
    made = generate(200, NINE, rng(7))
    assert ((rate(made.puzzles, rng()) == 0) == (grade(made.puzzles) <= 1)).all()
    assert (rate(made.solutions, rng()) == 0).all()


def test_named_boards():
    ratings = dict(zip(banks.NAMED_BOARDS, rate(puzzles.load("named").puzzles, rng()), strict=True))
    assert ratings["easy"] == ratings["medium"] == 0
    assert 40 < ratings["AI Escargot"] < 75


def test_a_search_ends_at_the_node_limit(escargot):
    assert rate(escargot, rng(), node_limit=10).tolist() == [10]
    assert solver.find_solutions(escargot, node_limit=10).decided.tolist() == [False]


def test_no_boards():
    assert rate(puzzles.load("9x9")[:0].puzzles, rng()).shape == (0,)


@pytest.mark.parametrize("wrong", [{"symmetries": 0}, {"symmetries": 4}, {"node_limit": 0}])
def test_wrong_numbers(escargot, wrong):
    with pytest.raises(ValueError, match="symmetries must be odd"):
        rate(escargot, rng(), **wrong)
