"""What a placement sees of a board: sums of marks that no symmetry changes.

Cells differ, seen from one of them, by what they share with it: nothing, its row, its column, its
region, its row and its region, and so on, or they are the cell itself. For each of these classes
there are four linear combinations of marks: how many placements in its cells are known to be absent
and how many to be present, of the same digit, and of all other digits. A symmetry of the board maps
units onto units of the same kind, so it maps a class onto itself, and the sums are unchanged. The
one exception, the transpose, exchanges rows and columns, and with them whole features; the network
is applied to both orders (`FeatureTable.swap`).

At 9x9 there are seven classes, hence 28 features. Source: Guissart, section 2 and figure 1.
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


class FeatureTable(NamedTuple):
    """How features are summed.

    Attributes:
        classes: float32 `[K, N**2, N**2]`, 1 where the second cell belongs to the class as seen
            from the first.
        swap: int64 `[4 K]`, the features after the transpose; None where it is no symmetry.
    """

    classes: Tensor
    swap: Tensor | None


@cache
def feature_table(geometry: Geometry) -> FeatureTable:
    """Return the classes of cells of a geometry."""
    shared = _shared_kinds(geometry)
    itself = int(shared.max()) + 1
    np.fill_diagonal(shared, itself)
    kinds = np.unique(shared)
    classes = torch.from_numpy((shared == kinds[:, None, None]).astype(np.float32))
    if not (geometry.can_transpose or geometry.symmetries[:, -1].any()):
        return FeatureTable(classes, None)
    swapped = [kind if kind == itself else _transposed(kind) for kind in kinds.tolist()]
    order = torch.from_numpy(np.searchsorted(kinds, swapped))
    return FeatureTable(classes, (order[:, None] * 4 + torch.arange(4)).flatten())


def features(marks: Tensor, table: FeatureTable) -> Tensor:
    """Return what each placement sees, float32 `[B, N**2, N, 4 K]`.

    Each sum is divided by the root of the number of placements in it, so that one mark more or less
    stays in sight in all of them.

    Args:
        marks: int8 `[B, N**2, N]`.
        table: of the boards' geometry.
    """
    known = torch.stack([marks < 0, marks > 0], 3).float()  # [B, C, N, 2]
    count, cells, size, _ = known.shape
    spread = known.permute(1, 0, 2, 3).reshape(cells, -1)
    same = (table.classes.flatten(0, 1) @ spread).view(-1, cells, count, size, 2)
    others = (same.sum(3, keepdim=True) - same) / (size - 1) ** 0.5
    roots = table.classes.sum(2).clamp(min=1).sqrt()[:, :, None, None, None]
    return (torch.cat([same, others], 4) / roots).permute(2, 1, 3, 0, 4).flatten(3)


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
