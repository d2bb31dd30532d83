"""Plain backtracking: blank cells in reading order, digits in ascending order, no look-ahead.

Paper: Panchal, "Solving Sudoku: a comparison of classical agents", Algorithm 1. The paper stops
its search after a time; a limit on nodes does the same and is repeatable on any machine.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import logging

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.kernels import used_digits

NODE_LIMIT = 10_000_000
STATUSES = ("solved", "none", "undecided")

_log = logging.getLogger(__name__)


class Backtracking:
    """Algorithm 1 as a solver.

    A puzzle whose search reaches the node limit is left undecided: its answer is all zeros, a
    warning is logged, and `status` tells it from a puzzle without a solution.

    Args:
        node_limit: how many digits may be filled in for one puzzle, at least 1.

    Attributes:
        node_limit: as given.
        status: `[B]`, one of `STATUSES` for each puzzle of the last batch.
        nodes: int64 `[B]`, how many digits were filled in.
        backtracks: int64 `[B]`, how many of these were taken back.

    Raises:
        ValueError: if the limit is below 1.
    """

    def __init__(self, node_limit: int = NODE_LIMIT) -> None:
        if node_limit < 1:
            raise ValueError(f"node_limit must be at least 1, not {node_limit}")
        self.node_limit = node_limit
        self.status: NDArray[np.str_] = np.zeros(0, "U9")
        self.nodes: NDArray[np.int64] = np.zeros(0, np.int64)
        self.backtracks: NDArray[np.int64] = np.zeros(0, np.int64)

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Complete each puzzle with the first solution in reading order.

        Args:
            puzzles: int8 `[B, N, N]`.
            geometry: the shape of the boards.

        Returns:
            int8 `[B, N, N]`, all zeros where there is no solution or the limit was reached.
        """
        grids = board.as_boards(puzzles, geometry).reshape(len(puzzles), -1).copy()
        consistent = ~board.conflicts(puzzles, geometry).any((1, 2))
        outcomes, self.nodes, self.backtracks = _backtrack(
            grids, consistent, geometry.units, geometry.cell_units, self.node_limit
        )
        self.status = np.array(STATUSES)[outcomes]
        grids[outcomes != 0] = 0
        undecided = np.count_nonzero(outcomes == 2)
        if undecided:
            _log.warning(
                "backtracking stopped at its limit of %d nodes on %d of %d puzzles",
                self.node_limit,
                undecided,
                len(puzzles),
            )
        return grids.reshape(puzzles.shape)


@njit(cache=True)
def _backtrack(grids, consistent, units, cell_units, node_limit):
    """Complete `grids [B, N**2]` in place; rows that are not `consistent [B]` have no solution."""
    outcomes = np.ones(len(grids), np.int64)
    nodes = np.zeros(len(grids), np.int64)
    backtracks = np.zeros(len(grids), np.int64)
    used = np.empty(len(units) + 1, np.uint32)
    for b in range(len(grids)):
        if consistent[b]:
            used_digits(grids[b], units, used)
            outcomes[b], nodes[b], backtracks[b] = _search(grids[b], cell_units, used, node_limit)
    return outcomes, nodes, backtracks


@njit(cache=True)
def _search(grid, cell_units, used, node_limit):
    """Walk the search tree; return the outcome (an index into STATUSES), nodes and backtracks."""
    size = int(np.sqrt(len(grid)))
    padding = len(used) - 1
    blanks = np.flatnonzero(grid == 0)
    nodes = 0
    backtracks = 0
    depth = 0
    while depth < len(blanks):  # lines 1-3: the grid is complete once every blank is filled
        cell = blanks[depth]  # line 4
        own_units = cell_units[cell]
        if grid[cell] > 0:  # we came back: take the digit out and go on with the next one
            bit = np.uint32(1) << np.uint32(grid[cell] - 1)
            for unit in own_units:
                used[unit] &= ~bit
            backtracks += 1
        taken = np.uint32(0)
        for unit in own_units:
            taken |= used[unit]
        digit = grid[cell] + 1
        while digit <= size and (taken >> np.uint32(digit - 1)) & np.uint32(1):  # lines 5-6
            digit += 1
        if digit > size:  # line 11: no digit fits, backtrack
            grid[cell] = 0
            depth -= 1
            if depth < 0:
                return 1, nodes, backtracks  # line 14
            continue
        if nodes == node_limit:
            return 2, nodes, backtracks
        nodes += 1
        grid[cell] = digit  # line 7
        bit = np.uint32(1) << np.uint32(digit - 1)
        for unit in own_units:
            used[unit] |= bit
        used[padding] = 0
        depth += 1
    return 0, nodes, backtracks
