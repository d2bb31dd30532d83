"""The network: a perceptron on a placement's features, the same for all placements.

The features are sums of candidate states that no symmetry of the board changes. The cells are
grouped by what they share with the placement's cell: row, column, region, two of them, none, or
being that cell. For each group there are four sums over its placements: unknown and present ones,
of the same digit and of all others. The transpose exchanges rows and columns; the network is
applied to both orders (`FeatureTable.swap`).

At 9x9 it has 28 features, 16 hidden units and two outputs, absent and present: 498 weights. A state
is set where its logit exceeds a threshold, which no wrong one did in validation (Guissart, section
2, figure 1, section 3 and algorithm 1). Unlike his, the sums are of unknown placements in place of
absent ones, a sum s enters as 4 / (1 + s), and hidden units are leaky, so that none dies.
`as_printed` takes his sums as they are, absent and present.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import chunks

LOWEST = -10.0  # threshold at first: every state is set
HIGHEST = 1e6  # no state is set
MARGIN = 0.1  # of a threshold above the highest wrong logit
_LEAK = 0.1
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


def features(states: Tensor, table: FeatureTable, as_printed: bool = False) -> Tensor:
    """Return the features of each placement, float32 `[B, N**2, N, 4 K]`, of states like these."""
    first = states < 0 if as_printed else states == 0
    kinds = torch.stack([first, states > 0], 3).float()  # [B, C, N, 2]
    count, cells, size, _ = kinds.shape
    spread = kinds.permute(1, 0, 2, 3).reshape(cells, -1)
    same = (table.groups.flatten(0, 1) @ spread).view(-1, cells, count, size, 2)
    others = same.sum(3, keepdim=True) - same
    sums = torch.cat([same, others], 4).permute(2, 1, 3, 0, 4).flatten(3)
    return sums if as_printed else _SCALE / (1 + sums)


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


class SymmetricNetwork(nn.Module):
    """The network of this module, with so many hidden units; features ours or `as_printed`."""

    thresholds: Tensor
    """float32 `[2]`, of absent and present"""

    def __init__(self, geometry: Geometry, hidden: int, as_printed: bool = False) -> None:
        super().__init__()
        self._geometry, self._as_printed = geometry, as_printed
        self.hidden = nn.Linear(4 * len(self.table.groups), hidden)
        self.answers = nn.Linear(hidden, 2)
        self.register_buffer("thresholds", torch.full((2,), LOWEST))

    @property
    def table(self) -> FeatureTable:
        """The groups of cells that features are summed over."""
        return feature_table(self._geometry)

    def features_of(self, states: NDArray[np.int8]) -> Tensor:
        """Return what the network sees of states int8 `[B, N**2, N]`, as `features`."""
        return features(torch.from_numpy(states), self.table, self._as_printed)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the logits of absent and present, float32 `[..., 2]`, of features `[..., 4 K]`."""
        found: Tensor = self.answers(functional.leaky_relu(self.hidden(inputs), _LEAK))
        if self.table.swap is None:
            return found
        swapped = functional.linear(
            inputs, self.hidden.weight[:, self.table.swap], self.hidden.bias
        )
        return (found + self.answers(functional.leaky_relu(swapped, _LEAK))) / 2

    def reset_thresholds(self) -> None:
        """Set every state, until `raise_thresholds` meets wrong logits."""
        self.thresholds = torch.full((2,), LOWEST)

    def close_untested(self) -> None:
        """Set no state of a kind that was never wrong: it has not been tested."""
        is_tested = self.thresholds > LOWEST
        self.thresholds = torch.where(is_tested, self.thresholds, torch.tensor(HIGHEST))

    def raise_thresholds(self, logits: Tensor, states: Tensor, truth: Tensor) -> None:
        """Raise the thresholds above every wrong logit, with a margin (algorithm 1).

        Only unknown states count; `logits` are those of `logits_of`, `truth` `solution_states`.
        """
        for answer, sign in enumerate((-1, 1)):
            wrong = logits[..., answer][(states == 0) & (truth != sign)]
            if len(wrong) and wrong.max() > self.thresholds[answer]:
                self.thresholds[answer] = wrong.max() + MARGIN

    def accept(self, logits: Tensor, states: Tensor) -> Tensor:
        """Return the states with those above their thresholds added, int8 `[B, N**2, N]`."""
        excess = logits - self.thresholds
        sign = torch.where(excess[..., 1] > excess[..., 0], 1, -1).to(torch.int8)
        return torch.where((states == 0) & (excess > 0).any(3), sign, states)

    def logits_of(self, states: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return the logits of unknown placements, float32 `[B, N**2, N, 2]`, -inf for the rest."""
        logits = np.full((*states.shape, 2), -np.inf, np.float32)
        with torch.inference_mode():
            for chunk in chunks(len(states), 128):
                part = states[chunk]
                seen = self.features_of(part)
                unknown = part == 0
                logits[chunk][unknown] = self(seen[torch.from_numpy(unknown)]).numpy()
        return logits

    def step(self, states: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the states after one step, int8 `[B, N**2, N]`."""
        found: NDArray[np.int8] = self.accept(
            torch.from_numpy(self.logits_of(states)), torch.from_numpy(states)
        ).numpy()
        return found
