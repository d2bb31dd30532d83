"""The solution check: a grid from beliefs, the most probable placement first.

Paper: Khan et al., section 5. Counting cells among the constraints is an addition of ours.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from sudoku_gym.compiler.jit import njit


@njit(cache=True)
def decode_grid(beliefs, tables, count_cells, grid):
    """Fill a grid greedily; return True if it satisfies every unit.

    The relative probability of a placement is its probability divided by that of its digit in a
    whole unit, in the unit where this is highest. The placement with the highest is made, its digit
    is removed from all peers, and what a peer loses is divided equally among its other digits. The
    check fails if a peer has none. A filled grid is valid, since peers never share a digit.

    `beliefs` float64 `[C, N]`, whose rows sum to 1, are spent as work space. With `count_cells` a
    cell is one more constraint, in which its digits sum to 1.
    """
    units, cell_units, peers = tables.units, tables.cell_units, tables.peers
    size = units.shape[1]
    # The most likely cell of each digit in each unit, kept until a belief in the unit changes.
    highest = np.zeros((len(units), size))
    where = np.zeros((len(units), size), np.int64)
    stale = np.ones(len(units) + 1, np.bool_)  # the last stands for the padding of cell_units
    cell_maxima = np.zeros(len(beliefs))  # the highest probability in each blank cell
    grid[:] = 0
    if not _fill_known(beliefs, peers, grid):
        return False
    blanks = np.flatnonzero(grid == 0)
    if count_cells:
        for blank in blanks:
            cell_maxima[blank] = np.max(beliefs[blank])
    for _ in range(len(blanks)):
        for unit in range(len(units)):
            if stale[unit]:
                _rank(beliefs, units[unit], grid, highest[unit], where[unit])
                stale[unit] = False
        best = np.argmax(highest)
        if highest.ravel()[best] == 0.0:
            return False
        cell, digit = where.ravel()[best], best % size
        likeliest = np.argmax(cell_maxima)
        if cell_maxima[likeliest] > highest.ravel()[best]:
            cell, digit = likeliest, np.argmax(beliefs[likeliest])
        grid[cell] = digit + 1
        cell_maxima[cell] = 0.0
        for unit in cell_units[cell]:
            stale[unit] = True
        for peer in peers[cell]:
            if grid[peer] == 0 and beliefs[peer, digit] > 0:
                for unit in cell_units[peer]:
                    stale[unit] = True
                if not _remove_digit(beliefs[peer], digit):
                    return False
                if count_cells:
                    cell_maxima[peer] = np.max(beliefs[peer])
    return True


@njit(cache=True)
def _fill_known(beliefs, peers, grid):
    """Fill cells with one possible digit, which come first; return False if two are in conflict."""
    for cell in range(len(grid)):
        if np.count_nonzero(beliefs[cell]) == 1:
            digit = np.argmax(beliefs[cell])
            grid[cell] = digit + 1
            for peer in peers[cell]:
                if peer != cell and beliefs[peer, digit] > 0:
                    if not _remove_digit(beliefs[peer], digit):
                        return False
    return True


@njit(cache=True)
def _rank(beliefs, unit, grid, highest, where):
    """Find the highest relative probability of each digit in one unit, and its cell."""
    for digit in range(len(unit)):
        total, most = 0.0, 0.0
        for cell in unit:
            if grid[cell] == 0:
                total += beliefs[cell, digit]
                if beliefs[cell, digit] > most:
                    most = beliefs[cell, digit]
                    where[digit] = cell
        highest[digit] = most / total if most > 0 else 0.0


@njit(cache=True)
def _remove_digit(belief, digit):
    """Move the probability of `digit` to the cell's other digits; return False if it has none."""
    left = np.count_nonzero(belief) - 1
    if left == 0:
        return False
    share = belief[digit] / left
    belief[digit] = 0.0
    for other in range(len(belief)):
        if belief[other] > 0:
            belief[other] += share
    return True
