"""Sudoku as an exact cover: tables of which placement lies in which constraint.

A placement (cell, digit) satisfies one constraint for its cell and one for its digit in each unit
of the cell; every constraint must be satisfied exactly once.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.geometry.units import Geometry


@cache
def constraint_table(geometry: Geometry) -> NDArray[np.int32]:
    """The constraints of each placement, int32 `[N**3, 1 + K]`: its cell's, then its units'.

    Constraint `cell`, then constraint `N**2 + unit * N + digit - 1`; padding units share the
    number after the last.
    """
    size, num_units = geometry.size, len(geometry.units)
    cell, digit = np.divmod(np.arange(geometry.num_placements), size)
    units = geometry.cell_units[cell].astype(np.int64)
    in_units = np.where(
        units < num_units,
        geometry.num_cells + units * size + digit[:, None],
        geometry.num_cells + num_units * size,
    )
    return np.concatenate([cell[:, None], in_units], axis=1).astype(np.int32)


@cache
def constraint_members(geometry: Geometry) -> NDArray[np.int32]:
    """The placements in each constraint, int32 `[C, N]`, numbered as in `constraint_table`."""
    table = constraint_table(geometry)
    num_constraints = geometry.num_cells + len(geometry.units) * geometry.size
    placements = np.repeat(np.arange(len(table), dtype=np.int32), table.shape[1])
    order = np.argsort(table.ravel(), kind="stable")
    real = order[: num_constraints * geometry.size]  # those of the padding come last
    return placements[real].reshape(num_constraints, geometry.size)


@cache
def intersection_table(geometry: Geometry) -> NDArray[np.int32]:
    """The intersections of units in which each cell lies: int32 `[N**2, J, 3]`.

    An entry holds a number for the pair of units, and their columns in `constraint_table`; short
    rows are padded with -1. Two units that share one cell, or all, have no intersection.
    """
    num_units = len(geometry.units)
    members = np.zeros((num_units, geometry.num_cells), np.int64)
    np.put_along_axis(members, geometry.units.astype(np.int64), 1, axis=1)
    shared = members @ members.T
    rows = [
        [
            (a * num_units + b, 1 + i, 1 + j)
            for (i, a), (j, b) in combinations(enumerate(units[units < num_units].tolist()), 2)
            if 1 < shared[a, b] < geometry.size
        ]
        for units in geometry.cell_units
    ]
    table = np.full((geometry.num_cells, max(map(len, rows)), 3), -1, np.int32)
    for cell, row in enumerate(rows):
        table[cell, : len(row)] = np.array(row, np.int32).reshape(-1, 3)
    return table
