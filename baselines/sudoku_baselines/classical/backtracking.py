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
from sudoku_gym.kernels.rules import used_digits


@njit(cache=True, nogil=True)
def _search_all(grids, outcomes, counts, node_limit, tables, space):
    units, cell_units = tables
    used, blanks = space
    for b in range(len(grids)):
        used_digits(grids[b], units, used)
        blanks[:] = grids[b] == 0
        blank_cells = np.flatnonzero(blanks)
        outcomes[b] = _search(grids[b], blank_cells, cell_units, used, counts[b], node_limit)


@njit(cache=True)
def _search(grid, blanks, cell_units, used, counts, node_limit):
    """Fill the cells `blanks` of a grid in place; return the outcome.

    Cells beyond the present depth are 0. Where the cell at the present depth holds a digit, the
    search has backtracked to it: the next digit is tried.
    """
    size = int(np.sqrt(len(grid)))
    nodes, depth = counts.nodes, counts.depth
    outcome = FOUND
    while depth < len(blanks):  # lines 1-3: the grid is complete once every blank is filled
        cell = blanks[depth]  # line 4
        own_units = cell_units[cell]
        if grid[cell] > 0:
            _free(used, own_units, grid[cell])
        digit = _next_digit(used, own_units, grid[cell], size)
        if digit > size:  # line 11: no digit fits, backtrack
            grid[cell] = 0
            depth -= 1
            if depth < 0:
                outcome, depth = NO_SOLUTION, 0  # line 14
                break
            continue
        if nodes == node_limit:
            outcome = LIMIT_REACHED
            break
        nodes += 1
        grid[cell] = digit  # line 7
        _take(used, own_units, digit)
        depth += 1
    counts.nodes, counts.depth, counts.assignments = nodes, depth, nodes
    return outcome


@njit(cache=True)
def _next_digit(used, own_units, digit, size):
    """Return the smallest digit above `digit` that no unit of the cell holds (lines 5-6)."""
    taken = np.uint32(0)
    for unit in own_units:
        taken |= used[unit]
    digit += 1
    while digit <= size and (taken >> np.uint32(digit - 1)) & np.uint32(1):
        digit += 1
    return digit


@njit(cache=True)
def _take(used, own_units, digit):
    for unit in own_units:
        used[unit] |= np.uint32(1) << np.uint32(digit - 1)
    used[-1] = 0  # the unit that pads short rows stays empty


@njit(cache=True)
def _free(used, own_units, digit):
    for unit in own_units:
        used[unit] &= ~(np.uint32(1) << np.uint32(digit - 1))


class Backtracking(TreeSearch):
    """Algorithm 1 as a solver; every digit it tries is an assignment. See `TreeSearch`."""

    _kernel = staticmethod(_search_all)

    def _prepare(self, geometry: Geometry) -> tuple[Any, Any]:
        used = np.zeros(len(geometry.units) + 1, np.uint32)
        blanks = np.zeros(geometry.num_cells, np.bool_)
        return (geometry.units, geometry.cell_units), (used, blanks)
