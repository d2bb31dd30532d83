"""The network: a perceptron on a placement's features, the same for all placements.

At 9x9 it has 28 features, 16 hidden units and two answers, absent and present: 498 weights. An
answer is believed where it exceeds its threshold, which no wrong answer did in validation
(Guissart, algorithm 1).
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from sudoku_baselines.neural.guissart.features import FeatureTable, feature_table, features
from sudoku_gym.geometry import Geometry

LOWEST = -10.0  # where thresholds begin: everything is believed
MARGIN = 0.1  # by which a threshold clears the highest wrong answer
BOARDS_AT_ONCE = 128


class SymmetricNetwork(nn.Module):
    """See the module.

    Args:
        geometry: of the boards.
        hidden: hidden units.

    Attributes:
        thresholds: float32 `[2]`, of absent and present.
    """

    thresholds: Tensor

    def __init__(self, geometry: Geometry, hidden: int) -> None:
        super().__init__()
        self._geometry = geometry
        self.hidden = nn.Linear(4 * len(self.table.classes), hidden)
        self.answers = nn.Linear(hidden, 2)
        self.register_buffer("thresholds", torch.full((2,), LOWEST))

    @property
    def table(self) -> FeatureTable:
        """How the features are summed."""
        return feature_table(self._geometry)

    def forward(self, marks: Tensor) -> Tensor:
        """Return the logits of absent and present, float32 `[B, N**2, N, 2]`.

        Args:
            marks: int8 `[B, N**2, N]`.
        """
        seen = features(marks, self.table)
        found: Tensor = self.answers(functional.relu(self.hidden(seen)))
        if self.table.swap is None:
            return found
        swapped = functional.linear(seen, self.hidden.weight[:, self.table.swap], self.hidden.bias)
        return (found + self.answers(functional.relu(swapped))) / 2

    def raise_thresholds(self, logits: Tensor, marks: Tensor, truth: Tensor) -> None:
        """Lift the thresholds above every wrong answer, with a margin (algorithm 1).

        Args:
            logits: float32 `[B, N**2, N, 2]`, without a gradient.
            marks: int8 `[B, N**2, N]`; only what is unknown counts.
            truth: int8 `[B, N**2, N]`, -1 or 1.
        """
        for answer, sign in enumerate((-1, 1)):
            wrong = logits[..., answer][(marks == 0) & (truth != sign)]
            if len(wrong) and wrong.max() > self.thresholds[answer]:
                self.thresholds[answer] = wrong.max() + MARGIN

    def believe(self, logits: Tensor, marks: Tensor) -> Tensor:
        """Return the marks with all answers above their thresholds, int8 `[B, N**2, N]`."""
        excess = logits - self.thresholds
        sign = torch.where(excess[..., 1] > excess[..., 0], 1, -1).to(torch.int8)
        return torch.where((marks == 0) & (excess > 0).any(3), sign, marks)

    def answer(self, marks: NDArray[np.int8]) -> NDArray[np.float32]:
        """Return the logits for marks in numpy, without gradients."""
        with torch.inference_mode():
            parts = [
                self(torch.from_numpy(marks[start : start + BOARDS_AT_ONCE])).numpy()
                for start in range(0, len(marks), BOARDS_AT_ONCE)
            ]
        return np.concatenate(parts) if parts else np.empty((*marks.shape, 2), np.float32)

    def step(self, marks: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the marks after one step, int8 `[B, N**2, N]`."""
        found = [
            self.believe(torch.from_numpy(logits), torch.from_numpy(part)).numpy()
            for start in range(0, len(marks), BOARDS_AT_ONCE)
            for part in (marks[start : start + BOARDS_AT_ONCE],)
            for logits in (self.answer(part),)
        ]
        return np.concatenate(found) if found else marks
