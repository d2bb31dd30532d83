"""Two further solvers beside the paper's three algorithms: `sudoku_gym.solver`, and SAT."""

from __future__ import annotations

from threading import current_thread, main_thread
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sudoku_baselines.classical.tree_search import STATUSES, CountingSolver
from sudoku_gym import board, solver
from sudoku_gym.geometry import Geometry
from sudoku_gym.solver import sat

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
    """python-sat: one incremental solver for the rules, the givens of a puzzle as assumptions.

    Nodes are its decisions, backtracks its conflicts, assignments the literals set. Clauses that it
    learns on one puzzle serve the next, so counts and times depend on the order of the puzzles.

    Args:
        conflict_limit: conflicts after which a puzzle is left undecided, noticed when the solver
            next restarts; None for no limit.
        name: which solver of python-sat, e.g. `"glucose4"`, `"cadical153"` (knows no limit).

    Raises:
        ModuleNotFoundError: if python-sat is not installed.
        ValueError: if the limit is below 1.
    """

    def __init__(self, conflict_limit: int | None = None, name: str = "glucose4") -> None:
        import pysat.solvers  # noqa: F401  # a missing package is an error here

        if conflict_limit is not None and conflict_limit < 1:
            raise ValueError(f"conflict_limit must be at least 1, or None, not {conflict_limit}")
        self.conflict_limit = conflict_limit
        self.name = name
        self._solvers: dict[Geometry, SatSolver] = {}

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Complete each puzzle; int8 `[B, N, N]`, all zeros where there is no answer."""
        solver = self._solver_of(geometry)
        boards = board.as_boards(puzzles, geometry)
        solutions = np.zeros_like(boards)
        outcomes = np.zeros(len(boards), np.int64)
        counts = np.zeros((3, len(boards)), np.int64)
        for i, puzzle in enumerate(boards):
            before = _counts_of(solver)
            answer = self._ask(solver, sat.literals_of(puzzle.ravel(), geometry))
            counts[:, i] = _counts_of(solver) - before
            outcomes[i] = {True: 0, False: 1, None: 2}[answer]
            if answer:
                solutions[i] = _board_of(solver.get_model(), geometry)
        self.status = np.array(STATUSES)[outcomes]
        self.nodes, self.backtracks, self.assignments = counts
        return solutions

    def _solver_of(self, geometry: Geometry) -> SatSolver:
        from pysat.solvers import Solver as SatSolver

        if geometry not in self._solvers:
            clauses = sat.clauses_of(geometry)
            self._solvers[geometry] = SatSolver(self.name, bootstrap_with=clauses)
        return self._solvers[geometry]

    def _ask(self, solver: SatSolver, givens: list[int]) -> bool | None:
        if self.conflict_limit is None:
            return bool(solver.solve(assumptions=givens))
        solver.conf_budget(self.conflict_limit)
        # So python-sat lets other threads run meanwhile; in the main thread it must hear Ctrl+C.
        is_beside = current_thread() is not main_thread()
        answer: bool | None = solver.solve_limited(assumptions=givens, expect_interrupt=is_beside)
        return answer


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
