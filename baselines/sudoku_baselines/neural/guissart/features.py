"""Features of a placement: sums of marks that no symmetry of the board changes.

The cells are grouped by what they share with the placement's cell: row, column, region, two of
them, none, or being that cell. For each group there are four sums over its placements: unknown and
present ones, of the same digit and of all others; 28 features at 9x9. The transpose exchanges rows
and columns; the network is applied to both orders (`FeatureTable.swap`).

Source: Guissart, section 2 and figure 1, with two changes. Unknown placements are summed in place
of absent ones. A sum s enters as 4 / (1 + s), whose greatest step is between 0 and 1; with the sums
themselves some hidden units ended up never active.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sudoku_gym.geometry import Geometry

_ROWS, _COLUMNS = 1, 2  # bits of the kinds of units that two cells share
_SCALE = 4.0


class FeatureTable(NamedTuple):
    """The groups of cells of a geometry."""

    groups: Tensor
    """float32 `[K, N**2, N**2]`, 1 where the second cell belongs to the group of the first"""
    swap: Tensor | None
    """int64 `[4 K]`, the features after the transpose; None where it is no symmetry"""


@cache
def feature_table(geometry: Geometry) -> FeatureTable:
    """Return the groups of cells of a geometry."""
    shared = _shared_kinds(geometry)
    itself = int(shared.max()) + 1
    np.fill_diagonal(shared, itself)
    kinds = np.unique(shared)
    every = kinds[:, None, None]
    is_in = np.where((every == 0) | (every == itself), shared == every, (shared & every) == every)
    is_in &= (shared == itself) == (every == itself)
    groups = torch.from_numpy(is_in.astype(np.float32))
    if not (geometry.can_transpose or geometry.symmetries[:, -1].any()):
        return FeatureTable(groups, None)
    swapped = [kind if kind == itself else _transposed(kind) for kind in kinds.tolist()]
    order = np.searchsorted(kinds, swapped)
    return FeatureTable(groups, torch.from_numpy((order[:, None] * 4 + np.arange(4)).ravel()))


def features(marks: Tensor, table: FeatureTable) -> Tensor:
    """Return the features of each placement, float32 `[B, N**2, N, 4 K]`, of marks like these."""
    kinds = torch.stack([marks == 0, marks > 0], 3).float()  # [B, C, N, 2]
    count, cells, size, _ = kinds.shape
    spread = kinds.permute(1, 0, 2, 3).reshape(cells, -1)
    same = (table.groups.flatten(0, 1) @ spread).view(-1, cells, count, size, 2)
    others = same.sum(3, keepdim=True) - same
    return (_SCALE / (1 + torch.cat([same, others], 4))).permute(2, 1, 3, 0, 4).flatten(3)


def _shared_kinds(geometry: Geometry) -> NDArray[np.int64]:
    """Return the kinds of units (row, column, region, other) two cells share, as bits `[C, C]`."""
    size, cells = geometry.size, geometry.num_cells
    has_regions = len(geometry.units) >= 3 * size and geometry.regions.any()
    starts = [0, size, 2 * size, 3 * size] if has_regions else [0, size, 2 * size]
    shared = np.zeros((cells, cells), np.int64)
    for number, unit in enumerate(geometry.units):
        kind = sum(number >= start for start in starts) - 1
        shared[np.ix_(unit, unit)] |= 1 << kind
    return shared


def _transposed(kind: int) -> int:
    rest = kind & ~(_ROWS | _COLUMNS)
    return rest | (_COLUMNS if kind & _ROWS else 0) | (_ROWS if kind & _COLUMNS else 0)
