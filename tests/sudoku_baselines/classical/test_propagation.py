import pytest

from sudoku_baselines.classical.propagation import HEURISTICS, Propagation
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles import load


@pytest.mark.parametrize("name", ["6x6", "x9x9", "9x9"])
def test_it_agrees_with_the_suites_solver(name):
    puzzles = load(name, split="test")[:25]
    solutions = Propagation().solve(puzzles.puzzles, puzzles.geometry)
    assert (solutions == puzzles.solutions).all()


def test_each_heuristic_prunes_the_tree():
    hard = load("named").puzzles[3:]
    nodes = {}
    for heuristic in HEURISTICS:
        algorithm = Propagation(heuristic=heuristic)
        algorithm.solve(hard, Geometry.standard(9))
        nodes[heuristic] = algorithm.nodes.sum()
    assert nodes["degree"] < nodes["first"] and nodes["mrv"] < nodes["first"]
