import numpy as np
import pytest

from sudoku_baselines.classical.backtracking import Backtracking
from sudoku_gym import board
from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.puzzles import generator


def random_puzzles(geometry):
    """Puzzles of 4 givens in 10 cells; in half of them one was changed, so that many fail."""
    rng = np.random.default_rng(0)
    grids = generator.generate(40, geometry, rng, givens=geometry.num_cells).solutions
    puzzles = np.where(rng.random(grids.shape) < 0.4, grids, 0).astype(np.int8)
    puzzles[::2, 0, 0] = grids[::2, 0, 0] % geometry.size + 1
    return puzzles[~board.conflicts(puzzles, geometry).any((1, 2))]


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
    puzzles = random_puzzles(geometry)
    algorithm = Backtracking()
    grids = algorithm.solve(puzzles, geometry)
    for i, puzzle in enumerate(puzzles):
        expected, nodes = by_the_book(puzzle, geometry)
        assert algorithm.nodes[i] == nodes
        assert algorithm.status[i] == ("none" if expected is None else "solved")
        assert (grids[i] == (0 if expected is None else expected)).all()
    assert set(algorithm.status) == {"none", "solved"}
