"""The 9x9 engine, against the one of all geometries, and against itself in other company."""

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("pysat")

from sudoku_gym import board, puzzles, solver
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles import banks
from sudoku_gym.puzzles.generator import generate
from sudoku_gym.solver import FoundSolutions
from sudoku_gym.solver.cover_bits import cover_tables
from sudoku_gym.solver.depth_first import search_boards
from sudoku_gym.solver.lane_search import FIRST_LIMIT

NINE = Geometry.standard(9)
# An early choice leaves no solution here, and it takes the lanes 6,000 candidates to see it.
TRAP = "...7.......8..3.....28..7.......8......3..9.6.7.............4......4............."
SAVE_RESULTS = """
import sys, numpy as np
from test_lane_search import results_of
np.savez(sys.argv[1] + "/results.npz", **results_of(np.load(sys.argv[1] + "/boards.npy")))
"""


def boards_of_all_kinds(count, seed):
    """Return standard 9x9 boards of six kinds in one array: no, one and several solutions."""
    rng = np.random.default_rng(seed)
    made = generate(count, NINE, rng)
    minimal, solutions = made.puzzles.reshape(count, 81), made.solutions.reshape(count, 81)
    fewer, more, changed = minimal.copy(), minimal.copy(), minimal.copy()
    for index in range(count):
        fewer[index, rng.choice(np.flatnonzero(minimal[index]))] = 0
        more[index, rng.choice(np.flatnonzero(minimal[index] == 0))] = rng.integers(1, 10)
        changed[index, rng.choice(np.flatnonzero(minimal[index]))] = rng.integers(1, 10)
    shown = rng.random(solutions.shape) < 0.6 * rng.random((count, 1))
    partly = np.where(shown, solutions, 0).astype(np.int8)
    wrong = partly.copy()
    wrong[np.arange(count), rng.integers(0, 81, count)] = rng.integers(1, 10, count)
    kinds = minimal, fewer, more, changed, partly, wrong
    return np.concatenate([boards.reshape(count, 9, 9) for boards in kinds])


def by_exact_cover(boards, limit):
    """Search standard 9x9 boards with the engine for all geometries."""
    flat = boards.reshape(-1, 81)
    solutions, decided = np.empty_like(flat), np.empty(len(flat), np.bool_)
    found, nodes = np.empty((2, len(flat)), np.int64)
    tables = cover_tables(NINE)
    results = solutions, found, decided, nodes
    search_boards(flat, limit, 10**6, tables, *results)
    return FoundSolutions(solutions.reshape(boards.shape), found, decided, nodes)


def same(one, other):
    """Whether two results are the same, nodes and all."""
    fields = ("solutions", "found", "decided", "nodes")
    return all((getattr(one, field) == getattr(other, field)).all() for field in fields)


def results_of(boards):
    """Return all that is found on some boards, with four pairs of limits."""
    found = {}
    for limits in ((1, 10**6), (2, 10**6), (2, 5), (30, 100)):
        result = solver.find_solutions(boards, limits[0], node_limit=limits[1])
        found |= {f"{limits} {name}": values for name, values in vars(result).items()}
    return found


@pytest.mark.parametrize("limit", [1, 2, 3, 40])
def test_it_finds_what_the_engine_of_all_geometries_finds(limit):
    boards = boards_of_all_kinds(400, limit)
    result = solver.find_solutions(boards, limit)
    other = by_exact_cover(boards, limit)
    found = other.found
    assert other.decided.all()
    assert result.decided.all()
    assert (result.found == found).all()
    assert set(np.minimum(found, 2)) == set(range(min(limit, 2) + 1))
    is_found = found > 0
    assert (board.is_solved(result.solutions) == is_found).all()
    assert ((boards == 0) | (boards == result.solutions))[is_found].all()
    assert not result.solutions[~is_found].any()
    if limit > 1:
        assert (result.solutions == other.solutions)[found == 1].all()


@pytest.mark.parametrize(("limit", "node_limit"), [(1, 10**6), (2, 10**6), (2, 6), (1, 4), (9, 50)])
def test_a_result_does_not_depend_on_the_other_boards(limit, node_limit):
    boards = boards_of_all_kinds(25, 3)
    boards = np.concatenate([boards, puzzles.load("named").puzzles, np.zeros((1, 9, 9), np.int8)])
    whole = solver.find_solutions(boards, limit, node_limit=node_limit)
    assert (~whole.decided).any() == (node_limit < 1_000)
    assert whole.nodes.max() <= node_limit
    for count in (1, 3, 20):  # few enough for lanes to share a board, or for some of them
        for start in range(0, len(boards), count):
            part = slice(start, start + count)
            alone = solver.find_solutions(boards[part], limit, node_limit=node_limit)
            for field in ("solutions", "found", "decided", "nodes"):
                assert (getattr(alone, field) == getattr(whole, field)[part]).all()
    assert same(whole, solver.find_solutions(boards, limit, node_limit=node_limit, threads=3))


def test_a_limit_of_nodes_that_is_just_enough():
    boards = banks.load("9x9-hard", "all").puzzles[:20]
    for one in boards:
        nodes = solver.find_solutions(one[None]).nodes[0]
        enough = solver.find_solutions(one[None], node_limit=nodes)
        assert enough.decided[0] and enough.nodes[0] == nodes > 0
        short = solver.find_solutions(one[None], node_limit=nodes - 1)
        assert not short.decided[0] and short.nodes[0] == nodes - 1


def test_a_digit_twice_in_a_unit_is_seen_at_once():
    for unit in NINE.units:
        for first in range(9):
            for second in range(first):
                cells = np.zeros(81, np.int8)
                cells[unit[[first, second]]] = 5
                result = solver.find_solutions(cells.reshape(1, 9, 9))
                assert (result.found[0], result.nodes[0]) == (0, 0)


def test_many_solutions_are_counted():
    puzzle = puzzles.load("9x9", "test").puzzles[:40].reshape(-1, 81).copy()
    rng = np.random.default_rng(5)
    for cells in puzzle:
        cells[rng.choice(np.flatnonzero(cells), 3, replace=False)] = 0
    boards = puzzle.reshape(-1, 9, 9)
    counts = solver.count_solutions(boards, 20_000)
    assert (counts == by_exact_cover(boards, 20_000).found).all()
    assert counts.max() > 500


def test_a_trap_is_left_to_the_search_with_restarts():
    trap = board.parse(TRAP)[None]
    result, other = solver.find_solutions(trap), by_exact_cover(trap, 2)
    assert same(result, other) and result.found[0] == 2 and result.nodes[0] < FIRST_LIMIT
    others = puzzles.load("named").puzzles
    boards = np.concatenate([others, trap, others[:3]])
    whole = solver.find_solutions(boards)
    assert (whole.nodes[len(others)], whole.found[len(others)]) == (other.nodes[0], 2)
    assert same(whole, solver.find_solutions(boards, threads=2))
    for limit in (50, FIRST_LIMIT - 1, FIRST_LIMIT):
        short = solver.find_solutions(trap, node_limit=limit)
        assert (short.decided[0], short.found[0], short.nodes[0]) == (False, 0, limit)
    assert solver.find_solutions(trap, node_limit=FIRST_LIMIT + 1).decided[0]


@pytest.mark.nightly
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="another architecture")
@pytest.mark.parametrize(("cpu", "features"), [("generic", ""), ("haswell", "+avx2")])
def test_other_processors_find_the_same(cpu, features, tmp_path):
    """Machine code without AVX2, or without AVX-512, where this processor has them."""
    boards = boards_of_all_kinds(30, 1)
    np.save(tmp_path / "boards.npy", boards)
    settings = {"NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": features}
    folders = os.pathsep.join([os.path.dirname(__file__), *sys.path])
    environment = os.environ | settings
    environment |= {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": folders}
    command = [sys.executable, "-c", SAVE_RESULTS, str(tmp_path)]
    subprocess.run(command, env=environment, check=True)
    with np.load(tmp_path / "results.npz") as saved:
        for name, expected in results_of(boards).items():
            assert (saved[name] == expected).all()
