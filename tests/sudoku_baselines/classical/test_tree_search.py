import logging

import numpy as np
import pytest

from sudoku_baselines.classical.backtracking import Backtracking
from sudoku_baselines.classical.dlx import DancingLinks
from sudoku_baselines.classical.propagation import Propagation
from sudoku_gym import board, evaluate, load_policy
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles import load

ALGORITHMS = [Backtracking, DancingLinks, Propagation]
GEOMETRY = Geometry.standard(9)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_node_limit_is_exact(algorithm, caplog):
    puzzle = load("named").puzzles[3:4]
    solver = algorithm()
    solution = solver.solve(puzzle, GEOMETRY)
    needed = int(solver.nodes[0])
    with caplog.at_level(logging.WARNING):
        assert (algorithm(needed).solve(puzzle, GEOMETRY) == solution).all()
        assert not caplog.text
        short = algorithm(needed - 1)
        assert not short.solve(puzzle, GEOMETRY).any()
    assert short.status == ["undecided"] and short.nodes == [needed - 1]
    assert f"stopped at its limit of {needed - 1} nodes" in caplog.text
    assert "on 1 of 1 puzzles" in caplog.text


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_boards_without_a_solution(algorithm):
    contradiction = board.parse("11..............")
    dead_end = board.parse("123............4")
    full = board.parse("1234341221434321")
    empty = np.zeros((4, 4), np.int8)
    solver = algorithm()
    boards = np.stack([contradiction, dead_end, full, empty])
    solutions = solver.solve(boards, Geometry.standard(4))
    assert solver.status.tolist() == ["none", "none", "solved", "solved"]
    assert not solutions[:2].any() and (solutions[2] == full).all()
    assert board.is_solved(solutions).tolist() == [False, False, True, True]
    assert (solver.nodes[:3] == solver.backtracks[:3]).all() and solver.nodes[0] == 0


def test_the_limit_is_checked():
    with pytest.raises(ValueError, match="node_limit must be at least 1, not 0"):
        DancingLinks(0)


@pytest.mark.parametrize("name", ["backtracking", "dlx", "propagation", "sat", "solver"])
def test_all_of_them_play(name):
    puzzles = load("6x6", split="test")[:20]
    assert evaluate(load_policy(name), puzzles).completion_rate == 1
