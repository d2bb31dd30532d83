"""Two further solvers beside the paper's three algorithms: `sudoku_gym.solver`, and SAT."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sudoku_baselines.classical.tree_search import STATUSES, CountingSolver
from sudoku_gym import board, solver
from sudoku_gym.geometry import Geometry

if TYPE_CHECKING:
    from pysat.solvers import Solver as SatSolver


class SuiteSolver(CountingSolver):
    """`sudoku_gym.solver.solve` as a baseline; `nodes` are 0 where it needed no search.

    With more than `node_limit` candidates tried, a puzzle is left undecided.
    """

    def __init__(self, node_limit: int = solver.NODE_LIMIT) -> None:
        self.node_limit = node_limit

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Complete each puzzle; int8 `[B, N, N]`, all zeros where there is no answer."""
        result = solver.find_solutions(puzzles, 1, geometry, node_limit=self.node_limit)
        outcomes = np.where(result.found > 0, 0, np.where(result.decided, 1, 2))
        self.status, self.nodes = np.array(STATUSES)[outcomes], result.nodes
        return result.solutions


class Sat(CountingSolver):
    """python-sat's Glucose: one incremental solver for the rules, the givens as assumptions.

    Nodes are its decisions, backtracks its conflicts, assignments the literals set. Clauses that it
    learns on one puzzle serve the next, so counts and times depend on the order of the puzzles.

    Raises:
        ModuleNotFoundError: if python-sat is not installed.
    """

    def __init__(self) -> None:
        import pysat.solvers

        self._make_solver = partial(pysat.solvers.Solver, "glucose4")
        self._solvers: dict[Geometry, SatSolver] = {}

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Complete each puzzle; int8 `[B, N, N]`, all zeros where there is no answer."""
        if geometry not in self._solvers:
            self._solvers[geometry] = self._make_solver(bootstrap_with=clauses_of(geometry))
        solver = self._solvers[geometry]
        boards = board.as_boards(puzzles, geometry)
        solutions = np.zeros_like(boards)
        is_solved = np.zeros(len(boards), np.bool_)
        counts = np.zeros((3, len(boards)), np.int64)
        for i, puzzle in enumerate(boards):
            before = _counts_of(solver)
            is_solved[i] = solver.solve(assumptions=literals_of(puzzle.ravel(), geometry))
            counts[:, i] = _counts_of(solver) - before
            if is_solved[i]:
                solutions[i] = _board_of(solver.get_model(), geometry)
        self.status = np.array(STATUSES)[np.where(is_solved, 0, 1)]
        self.nodes, self.backtracks, self.assignments = counts
        return solutions


def _counts_of(solver: SatSolver) -> NDArray[np.int64]:
    stats = solver.accum_stats()
    return np.array([stats[key] for key in ("decisions", "conflicts", "propagations")], np.int64)


def _board_of(model: list[int], geometry: Geometry) -> NDArray[np.int8]:
    """Return the board int8 `[N, N]` that a model's true variables stand for."""
    placements = np.array([literal for literal in model if literal > 0]) - 1
    cells, digits = np.divmod(placements, geometry.size)
    grid = np.zeros(geometry.num_cells, np.int8)
    grid[cells] = digits + 1
    return grid.reshape(geometry.size, geometry.size)


def clauses_of(geometry: Geometry) -> list[list[int]]:
    """Write the rules of a geometry as clauses for any SAT solver (DIMACS, negative: not).

    Variable `cell * N + digit` says that the digit is in the cell.

    Each item of the exact cover (a cell, or a digit in a unit) has at least one of its variables
    true, and no two.
    """
    size = geometry.size
    cells = np.arange(geometry.num_cells)[:, None] * size + np.arange(1, size + 1)
    units = geometry.units[:, None, :] * size + np.arange(1, size + 1)[None, :, None]
    items = np.concatenate([cells, units.reshape(-1, size)])
    first, second = np.triu_indices(size, 1)
    pairs = np.sort(np.stack([items[:, first], items[:, second]], -1).reshape(-1, 2), axis=1)
    clauses: list[list[int]] = items.tolist()
    clauses += (-np.unique(pairs, axis=0)).tolist()
    return clauses


def literals_of(cells: NDArray[np.int8], geometry: Geometry) -> list[int]:
    """Return the variables that a flat board int8 `[N**2]` sets to true, one a given."""
    givens = np.flatnonzero(cells)
    literals: list[int] = (givens * geometry.size + cells[givens]).tolist()
    return literals
