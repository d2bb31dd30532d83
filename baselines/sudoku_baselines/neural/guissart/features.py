"""What a placement sees of a board: sums of marks that no symmetry changes.

Seen from one cell, others lie in its row, its column, its region, in two of them, or in none; and
there is the cell itself. For each of these groups of cells there are four sums over the placements
in them: how many are unknown and how many are present, of the same digit, and of all other digits.
A symmetry of the board maps units onto units of the same kind, so it maps a group onto itself, and
the sums are unchanged. The one exception, the transpose, exchanges rows and columns, and with them
whole features; the network is applied to both orders (`FeatureTable.swap`).

At 9x9 there are seven groups, hence 28 features. Source: Guissart, section 2 and figure 1. It
differs in two points. The source sums absent placements, and here it is the unknown ones: as known
ones are absent or present, the combinations are the same. And a sum s is not shown as it is, but as
4 / (1 + s): where nothing is unknown, or present, something follows, and between 0 and 1 lies the
greatest step. With the sums themselves, training ended with hidden units that are never active.
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
_SCALE = 4.0  # of what is seen


class FeatureTable(NamedTuple):
    """How features are summed.

    Attributes:
        groups: float32 `[K, N**2, N**2]`, 1 where the second cell belongs to the group as seen
            from the first.
        swap: int64 `[4 K]`, the features after the transpose; None where it is no symmetry.
    """

    groups: Tensor
    swap: Tensor | None


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
    """Return what each placement sees, float32 `[B, N**2, N, 4 K]`.

    Args:
        marks: int8 `[B, N**2, N]`.
        table: of the boards' geometry.
    """
    kinds = torch.stack([marks == 0, marks > 0], 3).float()  # [B, C, N, 2]
    count, cells, size, _ = kinds.shape
    spread = kinds.permute(1, 0, 2, 3).reshape(cells, -1)
    same = (table.groups.flatten(0, 1) @ spread).view(-1, cells, count, size, 2)
    others = same.sum(3, keepdim=True) - same
    return (_SCALE / (1 + torch.cat([same, others], 4))).permute(2, 1, 3, 0, 4).flatten(3)


def _shared_kinds(geometry: Geometry) -> NDArray[np.int64]:
    """Return which kinds of units each two cells share, as bits, int64 `[N**2, N**2]`.

    The kinds are rows, columns, regions, and all further units together.
    """
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
