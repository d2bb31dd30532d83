import numpy as np
import pytest

from sudoku_gym import board, solver
from sudoku_gym.geometry import Geometry, jigsaw, latin_square, sudoku_x, windows
from sudoku_gym.puzzles.difficulty import grade
from sudoku_gym.puzzles.generator import generate
from sudoku_gym.solver import chunks

GEOMETRIES = [
    Geometry.standard(4),
    Geometry.standard(6),
    Geometry.standard(8),
    Geometry.standard(9),
    sudoku_x(9),
    windows(9),
    jigsaw(9),
    latin_square(5),
]


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=lambda geometry: geometry.name)
def test_puzzles_are_minimal(geometry):
    made = generate(12, geometry, rng())
    made.check()
    assert made.minimal.all()
    for puzzle in made.puzzles.reshape(12, -1):
        givens = np.flatnonzero(puzzle)
        fewer = np.tile(puzzle, (len(givens), 1))
        fewer[np.arange(len(givens)), givens] = 0
        counts = solver.count_solutions(fewer.reshape(-1, *made.puzzles[0].shape), 2, geometry)
        assert (counts == 2).all()
    assert (made.grades == grade(made.puzzles, geometry)).all()


def test_the_generator_decides_everything():
    geometry = Geometry.standard(9)
    again = [generate(3, geometry, rng(7)).puzzles for _ in range(2)]
    assert (again[0] == again[1]).all()
    assert (again[0] != generate(3, geometry, rng(8)).puzzles).any()


@pytest.mark.parametrize("geometry", [Geometry.standard(6), Geometry.standard(9)], ids=str)
def test_parts_make_the_same_puzzles_and_tell_how_far_they_are(geometry, monkeypatch):
    made, told = [], []
    for seconds in (0, 1e9):  # parts stay as small as the first, or double
        monkeypatch.setattr(chunks, "_SECONDS", seconds)
        made.append(generate(80, geometry, rng(7), on_progress=told.append))
        assert told == sorted(told) and told.pop() == 1 and len(told) > 1
        told.clear()
    assert (made[0].puzzles == made[1].puzzles).all()
    assert (made[0].solutions == made[1].solutions).all()


def test_givens_stop_the_digging():
    made = generate(20, Geometry.standard(9), rng(), givens=32)
    assert (made.blanks == 81 - 32).all()
    assert not made.minimal.any()
    made.check()


def test_a_small_node_limit_never_makes_a_false_claim():
    made = generate(10, sudoku_x(9), rng(), node_limit=2)
    made.check()
    assert not made.minimal.all()
    for puzzle in made[made.minimal].puzzles:
        for cell in np.argwhere(puzzle):
            fewer = puzzle.copy()
            fewer[tuple(cell)] = 0
            assert solver.count_solutions(fewer[None], 2, sudoku_x(9))[0] == 2


def test_grids_are_solved_and_varied():
    grids = generate(300, Geometry.standard(4), rng(), givens=16).solutions
    assert board.is_solved(grids).all()
    assert len(np.unique(grids.reshape(300, -1), axis=0)) > 150
    assert generate(0, Geometry.standard(9), rng()).solutions.shape == (0, 9, 9)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"count": -1}, "givens be 0 to 81"),
        ({"givens": 82}, "givens be 0 to 81"),
        ({"node_limit": 0}, "givens be 0 to 81"),
    ],
)
def test_wrong_arguments(wrong, message):
    arguments = {"count": 1, "geometry": Geometry.standard(9), "rng": rng()} | wrong
    with pytest.raises(ValueError, match=message):
        generate(**arguments)


def test_units_that_allow_no_grid():
    columns = np.array([[0, 1, 2, 7], [0, 1, 2, 11], [0, 1, 2, 15], [3, 4, 8, 12]])
    impossible = Geometry("no grid", Geometry.standard(4).regions, columns)
    assert solver.count_solutions(np.zeros((1, 4, 4), int), 1, impossible)[0] == 0
    with pytest.raises(RuntimeError, match="no grid: found no solved grid"):
        generate(1, impossible, rng())
