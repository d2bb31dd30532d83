import numpy as np
import pytest

from sudoku_baselines.classical.propagation import HEURISTICS, Propagation
from sudoku_gym import board
from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.puzzles import generator, load


def random_puzzles(geometry):
    """Puzzles of 4 givens in 10 cells; in half of them one was changed, so that many fail."""
    rng = np.random.default_rng(0)
    grids = generator.random_grids(40, geometry, rng)
    puzzles = np.where(rng.random(grids.shape) < 0.4, grids, 0).astype(np.int8)
    puzzles[::2, 0, 0] = grids[::2, 0, 0] % geometry.size + 1
    return puzzles[~board.conflicts(puzzles, geometry).any((1, 2))]


def by_the_book(puzzle, geometry, heuristic):
    """Algorithm 3 on sets: the grid or None, the digits tried, and the cells settled."""
    peers = [sorted(set(row) - {cell}) for cell, row in enumerate(geometry.peers.tolist())]
    tried = settled = 0

    def propagate(domains, queue):
        """Settle the queued cells and all that follow; return how many, or 0 if it fails."""
        count = 0
        while queue:
            cell = queue.pop(0)
            count += 1
            for peer in peers[cell]:
                if domains[cell] <= domains[peer]:
                    domains[peer] = domains[peer] - domains[cell]
                    if not domains[peer]:
                        return 0
                    if len(domains[peer]) == 1:
                        queue.append(peer)
        return count

    def rank(domains, cell):
        degree = sum(len(domains[peer]) > 1 for peer in peers[cell])
        return {"first": (), "mrv": (len(domains[cell]),)}.get(
            heuristic, (len(domains[cell]), -degree)
        )

    def solve(domains):
        nonlocal tried, settled
        open_cells = [cell for cell, digits in enumerate(domains) if len(digits) > 1]
        if not open_cells:
            return domains
        cell = min(open_cells, key=lambda cell: rank(domains, cell))
        for digit in sorted(domains[cell]):
            tried += 1
            attempt = list(domains)
            attempt[cell] = {digit}
            count = propagate(attempt, [cell])
            settled += max(count, 1)
            solution = solve(attempt) if count else None
            if solution:
                return solution
        return None

    everything = set(range(1, geometry.size + 1))
    domains = [{int(digit)} if digit else everything for digit in puzzle.ravel()]
    givens = np.flatnonzero(puzzle).tolist()
    count = propagate(domains, list(givens))
    if givens and not count:
        return None, 0, 0
    settled = count - len(givens)
    solution = solve(domains)
    grid = solution and np.array([min(digits) for digits in solution]).reshape(puzzle.shape)
    return grid, tried, settled


@pytest.mark.parametrize("heuristic", HEURISTICS)
@pytest.mark.parametrize(
    "geometry", [Geometry.boxes(2, 2), Geometry.boxes(2, 3), sudoku_x(6), Geometry.boxes(3, 3)]
)
def test_it_walks_the_tree_of_algorithm_3(geometry, heuristic):
    puzzles = random_puzzles(geometry)
    algorithm = Propagation(heuristic=heuristic)
    grids = algorithm.solve(puzzles, geometry)
    for i, puzzle in enumerate(puzzles):
        expected, tried, settled = by_the_book(puzzle, geometry, heuristic)
        assert (algorithm.nodes[i], algorithm.assignments[i]) == (tried, settled)
        assert algorithm.status[i] == ("none" if expected is None else "solved")
        assert (grids[i] == (0 if expected is None else expected)).all()
    assert set(algorithm.status) == {"none", "solved"}


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


def test_the_heuristic_is_checked():
    with pytest.raises(ValueError, match="heuristic 'best' is unknown: use one of"):
        Propagation(heuristic="best")
