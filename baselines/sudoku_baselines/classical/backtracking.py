"""Plain backtracking: blank cells in reading order, digits in ascending order, no look-ahead.

Paper: Panchal, "Sudoku solving AI agents", Algorithm 1.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any

import numpy as np

from sudoku_baselines.classical.tree_search import FOUND, LIMIT_REACHED, NO_SOLUTION, TreeSearch
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry


@njit(cache=True, nogil=True)
def _search_all(grids, outcomes, counts, node_limit, peers, size):
    for b in range(len(grids)):
        blanks = np.flatnonzero(grids[b] == 0)
        outcomes[b] = _search(grids[b], blanks, peers, size, counts[b], node_limit)


@njit(cache=True)
def _search(grid, blanks, peers, size, counts, node_limit):
    """Fill the cells `blanks` of a grid in place; return the outcome.

    Cells beyond the present depth are 0. Where the cell at the present depth holds a digit, the
    search has backtracked to it: the next digit is tried.
    """
    nodes, depth = counts.nodes, counts.depth
    outcome = FOUND
    while depth < len(blanks):  # lines 1-3: the grid is complete once every blank is filled
        cell = blanks[depth]  # line 4
        digit, grid[cell] = grid[cell] + 1, 0
        taken = np.uint32(0)
        for k in range(peers.shape[1]):
            taken |= np.uint32(1) << np.uint32(grid[peers[cell, k]])
        while digit <= size and (taken >> np.uint32(digit)) & np.uint32(1):  # lines 5-6
            digit += 1
        if digit > size:  # line 11: no digit fits, backtrack
            depth -= 1
            if depth < 0:
                outcome, depth = NO_SOLUTION, 0  # line 14
                break
        elif nodes == node_limit:
            outcome = LIMIT_REACHED
            break
        else:
            nodes += 1
            grid[cell] = digit  # line 7
            depth += 1
    counts.nodes, counts.depth, counts.assignments = nodes, depth, nodes
    return outcome


class Backtracking(TreeSearch):
    """Algorithm 1 as a solver; every digit it tries is an assignment. See `TreeSearch`."""

    _kernel = staticmethod(_search_all)

    def _prepare(self, geometry: Geometry) -> tuple[Any, Any]:
        return geometry.peers, geometry.size
