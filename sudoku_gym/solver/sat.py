"""Boards as clauses for any SAT solver; variable `cell * N + digit`: the digit is in the cell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.geometry import Geometry


def clauses_of(geometry: Geometry) -> list[list[int]]:
    """Write the rules of a geometry as clauses in the DIMACS manner (negative: not).

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
