import logging

import numpy as np
import pytest

from sudoku_baselines.classical.backtracking import Backtracking
from sudoku_gym import board, solver
from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.puzzles import generator, load

AI_ESCARGOT = "1....7.9..3..2...8..96..5....53..9...1..8...26....4...3......1..4......7..7...3.."


def by_the_book(puzzle, geometry):
    """Algorithm 1 as a recursive function: the grid or None, and the digits filled in."""
    grid, nodes = puzzle.ravel().copy(), 0

    def complete():
        nonlocal nodes
        blanks = np.flatnonzero(grid == 0)
        if len(blanks) == 0:
            return True
        for digit in range(1, geometry.size + 1):
            if digit not in grid[geometry.peers[blanks[0]]]:
                grid[blanks[0]] = digit
                nodes += 1
                if complete():
                    return True
                grid[blanks[0]] = 0
        return False

    return (grid.reshape(puzzle.shape) if complete() else None), nodes


@pytest.mark.parametrize(
    "geometry", [Geometry.boxes(2, 2), Geometry.boxes(2, 3), sudoku_x(4), sudoku_x(6)]
)
def test_it_walks_the_tree_of_algorithm_1(geometry):
    rng = np.random.default_rng(0)
    grids = generator.random_grids(20, geometry, rng)
    puzzles = np.where(rng.random(grids.shape) < 0.3, grids, 0).astype(np.int8)
    puzzles[::2, 0, 0] = puzzles[::2, 0, 0] % geometry.size + 1  # half of them: often no solution
    puzzles = puzzles[~board.conflicts(puzzles, geometry).any((1, 2))]
    algorithm = Backtracking()
    grids = algorithm.solve(puzzles, geometry)
    for i, puzzle in enumerate(puzzles):
        expected, nodes = by_the_book(puzzle, geometry)
        assert algorithm.nodes[i] == nodes
        assert algorithm.status[i] == ("none" if expected is None else "solved")
        assert (grids[i] == (0 if expected is None else expected)).all()
    assert set(algorithm.status) == {"none", "solved"}


def test_what_is_not_taken_back_stays():
    puzzles = load("6x6").puzzles[:50]
    algorithm = Backtracking()
    assert (algorithm.solve(puzzles, Geometry.boxes(2, 3)) == solver.solve(puzzles)).all()
    assert (algorithm.nodes - algorithm.backtracks == (puzzles == 0).sum((1, 2))).all()


def test_the_node_limit_says_so(caplog):
    puzzle = board.parse(AI_ESCARGOT)[None]
    algorithm = Backtracking()
    solution = algorithm.solve(puzzle, Geometry.standard(9))
    assert algorithm.status == ["solved"] and (solution == solver.solve(puzzle)).all()
    needed = int(algorithm.nodes[0])
    with caplog.at_level(logging.WARNING):
        enough = Backtracking(needed)
        assert enough.solve(puzzle, Geometry.standard(9)).all() and not caplog.text
        short = Backtracking(needed - 1)
        assert not short.solve(puzzle, Geometry.standard(9)).any()
    assert short.status == ["undecided"] and short.nodes == [needed - 1]
    assert f"stopped at its limit of {needed - 1} nodes on 1 of 1 puzzles" in caplog.text


def test_boards_without_a_solution():
    contradiction = board.parse("11..............")
    dead_end = board.parse("123............4")
    full = board.parse("1234341221434321")
    algorithm = Backtracking()
    solutions = algorithm.solve(np.stack([contradiction, dead_end, full]), Geometry.standard(4))
    assert algorithm.status.tolist() == ["none", "none", "solved"]
    assert not solutions[:2].any() and (solutions[2] == full).all()


def test_a_limit_below_one_is_refused():
    with pytest.raises(ValueError, match="node_limit must be at least 1, not 0"):
        Backtracking(0)
