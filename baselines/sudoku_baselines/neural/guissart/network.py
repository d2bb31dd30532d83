"""The network: a perceptron on a placement's features, the same for all placements.

At 9x9 it has 28 features, 16 hidden units and two outputs, absent and present: 498 weights. A mark
is set where its logit exceeds a threshold, which no wrong one did in validation (Guissart, section
3 and algorithm 1). Hidden units are leaky, so that none dies.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from sudoku_baselines.neural.guissart.features import FeatureTable, feature_table, features
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import chunks

LOWEST = -10.0  # threshold at first: every mark is set
HIGHEST = 1e6  # no mark is set
MARGIN = 0.1  # of a threshold above the highest wrong logit
_LEAK = 0.1


class SymmetricNetwork(nn.Module):
    """The network of this module, with so many hidden units."""

    thresholds: Tensor
    """float32 `[2]`, of absent and present"""

    def __init__(self, geometry: Geometry, hidden: int) -> None:
        super().__init__()
        self._geometry = geometry
        self.hidden = nn.Linear(4 * len(self.table.groups), hidden)
        self.answers = nn.Linear(hidden, 2)
        self.register_buffer("thresholds", torch.full((2,), LOWEST))

    @property
    def table(self) -> FeatureTable:
        """The groups of cells that features are summed over."""
        return feature_table(self._geometry)

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
        """Set every mark, until `raise_thresholds` meets wrong logits."""
        self.thresholds = torch.full((2,), LOWEST)

    def close_untested(self) -> None:
        """Set no mark of a kind that was never wrong: it has not been tested."""
        is_tested = self.thresholds > LOWEST
        self.thresholds = torch.where(is_tested, self.thresholds, torch.tensor(HIGHEST))

    def raise_thresholds(self, logits: Tensor, marks: Tensor, truth: Tensor) -> None:
        """Raise the thresholds above every wrong logit, with a margin (algorithm 1).

        Only unknown marks count; `logits` are those of `logits_of`, `truth` `solution_marks`.
        """
        for answer, sign in enumerate((-1, 1)):
            wrong = logits[..., answer][(marks == 0) & (truth != sign)]
            if len(wrong) and wrong.max() > self.thresholds[answer]:
                self.thresholds[answer] = wrong.max() + MARGIN

    def accept(self, logits: Tensor, marks: Tensor) -> Tensor:
        """Return the marks with those above their thresholds added, int8 `[B, N**2, N]`."""
        excess = logits - self.thresholds
        sign = torch.where(excess[..., 1] > excess[..., 0], 1, -1).to(torch.int8)
        return torch.where((marks == 0) & (excess > 0).any(3), sign, marks)

    def logits_of(self, marks: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return the logits of unknown placements, float32 `[B, N**2, N, 2]`, -inf for the rest."""
        logits = np.full((*marks.shape, 2), -np.inf, np.float32)
        with torch.inference_mode():
            for chunk in chunks(len(marks), 128):
                part = marks[chunk]
                seen = features(torch.from_numpy(part), self.table)
                unknown = part == 0
                logits[chunk][unknown] = self(seen[torch.from_numpy(unknown)]).numpy()
        return logits

    def step(self, marks: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the marks after one step, int8 `[B, N**2, N]`."""
        found: NDArray[np.int8] = self.accept(
            torch.from_numpy(self.logits_of(marks)), torch.from_numpy(marks)
        ).numpy()
        return found
