import numpy as np
import pytest

from sudoku_baselines.classical.solvers import Sat, SuiteSolver
from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles import load


@pytest.mark.parametrize("reference", [Sat, SuiteSolver])
@pytest.mark.parametrize("name", ["6x6", "x9x9", "16x16"])
def test_they_find_the_stored_solutions(reference, name):
    puzzles = load(name, split="test")[:10]
    solver = reference()
    assert (solver.solve(puzzles.puzzles, puzzles.geometry) == puzzles.solutions).all()
    assert solver.status.tolist() == ["solved"] * len(puzzles)


@pytest.mark.parametrize("reference", [Sat, SuiteSolver])
def test_boards_without_a_solution(reference):
    boards = np.stack([board.parse("11.............."), board.parse("123............4")])
    solver = reference()
    assert not solver.solve(boards, Geometry.standard(4)).any()
    assert solver.status.tolist() == ["none", "none"]


def test_the_suites_solver_stops_at_its_limit():
    hard = load("named")[3:4]
    solver = SuiteSolver(node_limit=1)
    assert not solver.solve(hard.puzzles, hard.geometry).any()
    assert solver.status == ["undecided"] and solver.nodes == [1]


def test_sat_counts_each_puzzle_for_itself():
    named = load("named")
    solver = Sat()
    solver.solve(named.puzzles, named.geometry)
    easy, hard = solver.nodes[0], solver.nodes[3]
    assert 0 < easy < hard and solver.backtracks[0] < solver.backtracks[3]
    assert (solver.assignments >= named.blanks).all()
