"""Sinkhorn balancing alone as a solver, after Moon and Gunther (2006); no messages are passed."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudoku_baselines.belief_propagation import passing
from sudoku_baselines.belief_propagation.engine import initial_support
from sudoku_baselines.belief_propagation.passing import CONTRADICTION, SOLVED, UNSOLVED, Tables
from sudoku_baselines.belief_propagation.sinkhorn import balance_board
from sudoku_baselines.belief_propagation.solution_check import read_grid
from sudoku_baselines.belief_propagation.solver import STATUSES
from sudoku_gym import board
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry


class Sinkhorn:
    """Balances all constraints in turn and reads a grid by the solution check after every round.

    Args:
        iterations: rounds at most, at least 1.

    Attributes:
        iterations_limit: as given.
        status: `[B]`, one of `solver.STATUSES` for each puzzle of the last batch; a contradiction
            is a cell or a digit of a unit without any probability.
        iterations: int64 `[B]`, the rounds made.

    Raises:
        ValueError: if `iterations` is below 1.
    """

    def __init__(self, iterations: int = 200) -> None:
        if iterations < 1:
            raise ValueError(f"iterations must be at least 1, not {iterations}")
        self.iterations_limit = iterations
        self.status: NDArray[np.str_] = np.zeros(0, "U13")
        self.iterations: NDArray[np.int64] = np.zeros(0, np.int64)

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Balance each puzzle.

        Args:
            puzzles: int8 `[B, N, N]`.
            geometry: the shape of the boards.

        Returns:
            int8 `[B, N, N]`, all zeros where no valid grid was read.
        """
        boards = board.as_boards(puzzles, geometry)
        grids = np.zeros((len(boards), geometry.num_cells), np.int8)
        outcomes = np.zeros(len(boards), np.int64)
        self.iterations = np.zeros(len(boards), np.int64)
        _run_batch(
            initial_support(boards, geometry),
            passing.tables_of(geometry, False),
            self.iterations_limit,
            grids,
            outcomes,
            self.iterations,
        )
        self.status = np.array(STATUSES)[outcomes]
        grids[outcomes != SOLVED] = 0
        return grids.reshape(boards.shape)


@njit(cache=True)
def _run_batch(supports, tables: Tables, limit, grids, outcomes, iterations):
    size = tables.units.shape[1]
    for b in range(len(supports)):
        beliefs = supports[b].astype(np.float64)
        for cell in range(len(beliefs)):
            beliefs[cell] /= max(np.count_nonzero(supports[b, cell]), 1)
        outcomes[b], iterations[b] = UNSOLVED, limit
        for iteration in range(1, limit + 1):
            balance_board(beliefs, tables.units, 0.0, 1)
            if not _is_possible(beliefs, tables.units, size):
                outcomes[b], iterations[b] = CONTRADICTION, iteration
                break
            if read_grid(
                beliefs.copy(), tables.units, tables.cell_units, tables.peers, False, grids[b]
            ):
                outcomes[b], iterations[b] = SOLVED, iteration
                break


@njit(cache=True)
def _is_possible(beliefs, units, size):
    """Return whether each cell, and each digit in each unit, has some probability left."""
    for unit in units:
        totals = np.zeros(size)
        for cell in unit:
            totals += beliefs[cell]
            if np.max(beliefs[cell]) == 0.0:
                return False
        if np.min(totals) == 0.0:
            return False
    return True
