from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_baselines.classical.solvers import clauses_of, literals_of
from sudoku_gym import board, solver
from sudoku_gym.geometry import Geometry, jigsaw, latin_square, sudoku_x, windows
from sudoku_gym.puzzles.generator import generate
from sudoku_gym.solver.chunks import in_chunks

HARD = "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4.."
GEOMETRIES = [
    Geometry.standard(4),
    Geometry.standard(6),
    Geometry.standard(8),
    Geometry.standard(9),
    Geometry.standard(12),
    sudoku_x(9),
    windows(9),
    jigsaw(9),
    latin_square(7),
]


@cache
def grids_of(which):
    geometry = GEOMETRIES[which]
    rng = np.random.default_rng(2)
    return generate(4, geometry, rng, givens=geometry.num_cells).solutions


def sat_count(cells, geometry, limit):
    """Count solutions with a solver that shares no code with ours."""
    found = 0
    with pytest.importorskip("pysat.solvers").Solver(
        "glucose4", bootstrap_with=clauses_of(geometry)
    ) as sat:
        while found < limit and sat.solve(assumptions=literals_of(cells.ravel(), geometry)):
            found += 1
            model = sat.get_model()
            sat.add_clause([-literal for literal in model if literal > 0])
    return found


@pytest.mark.parametrize("which", range(len(GEOMETRIES)))
def test_counts_agree_with_sat(which):
    geometry, grids = GEOMETRIES[which], grids_of(which)
    rng = np.random.default_rng(which)
    seen = set()
    for share in (0.3, 0.42, 0.55, 0.7):
        boards = grids * (rng.random(grids.shape) < share).astype(np.int8)
        broken = boards.copy().reshape(len(boards), -1)
        for cells in broken:  # one more given, most often a wrong one
            cells[rng.choice(np.flatnonzero(cells == 0))] = rng.integers(1, geometry.size + 1)
        boards = np.concatenate([boards, broken.reshape(boards.shape)])
        counts = solver.count_solutions(boards, 2, geometry)
        assert counts.tolist() == [sat_count(cells, geometry, 2) for cells in boards]
        seen |= set(counts.tolist())
    assert seen == {0, 1, 2}


def test_counts_agree_with_every_4x4_grid():
    rows = np.array(list(permutations(range(1, 5))))
    grids = np.array([rows[list(four)] for four in product(range(24), repeat=2)])
    halves = grids[[not (half[0] == half[1]).any() for half in grids]]
    every = np.concatenate(
        [np.concatenate([np.broadcast_to(half, halves.shape), halves], 1) for half in halves]
    )
    every = every[board.is_solved(every)]
    assert len(every) == 288
    rng = np.random.default_rng(0)
    puzzles = every[rng.integers(0, 288, 500)] * (rng.random((500, 4, 4)) < 0.2)
    brute = [((every == cells) | (cells == 0)).all((1, 2)).sum() for cells in puzzles]
    assert solver.count_solutions(puzzles, limit=300).tolist() == brute
    assert solver.count_solutions(puzzles, limit=3).tolist() == np.minimum(brute, 3).tolist()


@given(st.integers(0, len(GEOMETRIES) - 1), st.floats(0, 1), st.integers(0, 2**32))
@settings(deadline=None, max_examples=30)
def test_solutions_keep_the_givens(which, share, seed):
    geometry, grids = GEOMETRIES[which], grids_of(which)
    boards = grids * (np.random.default_rng(seed).random(grids.shape) < share).astype(np.int8)
    result = solver.find_solutions(boards, 1, geometry, node_limit=20_000)
    solved, found = result.solutions, result.found > 0
    assert board.is_solved(solved, geometry).tolist() == found.tolist()
    assert ((boards == 0) | (boards == solved))[found].all()
    assert (result.verdicts(1) != "no solution").all()  # each has at least the grid it came from
    more = boards.copy().reshape(len(boards), -1)
    more[:, : geometry.size] = grids.reshape(more.shape)[:, : geometry.size]
    before = solver.count_solutions(boards, 5, geometry, node_limit=3_000)
    after = solver.count_solutions(more.reshape(boards.shape), 5, geometry, node_limit=3_000)
    decided = (before >= 0) & (after >= 0)
    assert (after[decided] <= before[decided]).all()  # a revealed cell only takes solutions away
    assert (after[decided] >= 1).all()


def test_a_hard_board():
    cells = board.parse(HARD)[None]
    result = solver.find_solutions(cells)
    assert result.found.tolist() == [1]
    assert result.nodes[0] > 0
    assert board.is_solved(result.solutions)[0]
    assert (solver.solve(cells) == result.solutions).all()


def test_contradicting_givens_have_no_solution():
    cells = np.zeros((3, 9, 9), np.int8)
    cells[0, 0, :2] = 1  # twice in a row
    cells[1, 0, :8] = np.arange(1, 9)  # the ninth digit is taken by a peer
    cells[1, 1, 8] = 9
    cells[2] = solver.solve(cells[2:])[0]
    cells[2, 0, 0] = cells[2, 0, 1]  # full, but wrong
    result = solver.find_solutions(cells)
    assert result.verdicts().tolist() == ["no solution"] * 3
    assert not result.solutions.any()
    assert solver.count_solutions(cells).tolist() == [0, 0, 0]


def test_full_and_empty_boards():
    empty = np.zeros((1, 4, 4), np.int8)
    assert solver.count_solutions(empty, limit=1_000).tolist() == [288]
    solved = solver.solve(empty)
    assert solver.count_solutions(solved).tolist() == [1]
    assert (solver.solve(solved) == solved).all()
    assert solver.count_solutions(np.zeros((0, 9, 9), np.int8)).shape == (0,)


@pytest.mark.parametrize("seed", range(3))
def test_an_empty_jigsaw_is_no_trap(seed):
    result = solver.find_solutions(np.zeros((1, 9, 9), int), 3, jigsaw(9, seed), node_limit=20_000)
    assert result.found[0] == 3


def test_node_limit_leaves_it_undecided():
    cells = board.parse(HARD)[None]
    result = solver.find_solutions(cells, node_limit=1)
    assert result.verdicts().tolist() == ["undecided"]
    assert not solver.solve(cells, node_limit=1).any()
    assert solver.count_solutions(cells, node_limit=1).tolist() == [-1]
    result = solver.find_solutions(np.zeros((1, 9, 9), int), limit=10**6, node_limit=500)
    assert not result.decided[0]
    assert result.found[0] > 0
    assert board.is_solved(result.solutions)[0]


def test_threads_change_nothing():
    grids = grids_of(3).repeat(20, 0)
    boards = grids * (np.random.default_rng(3).random(grids.shape) < 0.35).astype(np.int8)
    one, three = solver.find_solutions(boards, 4), solver.find_solutions(boards, 4, threads=3)
    assert (one.solutions == three.solutions).all()
    assert (one.found == three.found).all()
    assert (one.nodes == three.nodes).all()


@pytest.mark.parametrize(
    "wrong", [{"limit": 0}, {"node_limit": -1}, {"threads": 0}], ids=lambda wrong: next(iter(wrong))
)
def test_wrong_limits(wrong):
    with pytest.raises(ValueError, match="limit and threads must be at least 1"):
        solver.find_solutions(np.zeros((1, 4, 4), int), **wrong)


def test_wrong_boards():
    with pytest.raises(ValueError, match=r"boards must be \[B, N, N\]"):
        solver.solve(np.zeros((4, 4), int))
    with pytest.raises(ValueError, match="the geometry is Sudoku-X 9x9"):
        solver.solve(np.zeros((1, 4, 4), int), sudoku_x(9))


def test_chunks_cover_all_boards_in_order():
    chunks = list(in_chunks(1000, 100))
    covered = [i for chunk in chunks for i in range(chunk.start, chunk.stop)]
    assert covered == list(range(1000))
    assert max(chunk.stop - chunk.start for chunk in chunks) <= 100
    assert list(in_chunks(0)) == []
