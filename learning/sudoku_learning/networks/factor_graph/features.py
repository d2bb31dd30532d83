"""What the factor-graph body says of a batch of boards, and small heads that read it."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from sudoku_learning.networks.factor_graph.recurrent_state import RecurrentState


@dataclass(frozen=True)
class FactorGraphFeatures:
    """Features of B boards, packed without padding.

    P is the number of placements and C that of open constraints, over all boards; R is the number
    of rounds kept (1: only the last).

    Attributes:
        placements: `[R, P, H]`, the states of placements, within (-1, 1) but for the learned start.
        constraints: `[R, C, H]`, log of the sum of the messages to each open constraint, within
            about -7 and 10; log 0.001 where no placement is left: a dead end.
        index: int64 `[P]`, each placement's position in the flattened masks `[B * N**3]`.
        first_constraint: int64 `[B]`, where the constraints of each board begin.
        shape: `(B, N**3)`.
        recurrent_states: of each board after the last round; empty if none were given.
    """

    placements: Tensor
    constraints: Tensor
    index: Tensor
    first_constraint: Tensor
    shape: tuple[int, int]
    recurrent_states: list[RecurrentState] = field(default_factory=list)


class PlacementReadout(nn.Module):
    """A linear map of each placement's state, shared by all of them.

    Args:
        channels: width H of the features.
        width: number of results a placement.
    """

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(channels, width)

    def forward(self, features: FactorGraphFeatures) -> Tensor:
        """Return `[R, P, width]`."""
        return self.linear(features.placements)


class BoardReadout(nn.Module):
    """A perceptron with one hidden layer on pooled constraints, for values of whole boards.

    It reads mean, maximum and minimum of each channel over a board's open constraints: all three
    keep their range on boards of any size. The minimum is there for dead ends: one constraint
    without placements settles the matter, and hardly moves a mean over hundreds. A board without
    open constraints reads as zeros.

    Args:
        channels: width H of the features.
        width: number of results a board.
    """

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.layers = nn.Sequential(
            nn.Linear(3 * channels, channels), nn.ReLU(), nn.Linear(channels, width)
        )

    def forward(self, features: FactorGraphFeatures) -> Tensor:
        """Return `[R, B, width]`."""
        rounds, count, channels = features.constraints.shape
        rows = features.constraints.reshape(rounds * count, channels) * _SCALE
        step = torch.arange(rounds, device=rows.device)[:, None] * count
        first = (step + features.first_constraint).flatten()
        every = torch.arange(len(rows), device=rows.device)
        mean, most, least = (
            sign * functional.embedding_bag(every, sign * rows, first, mode=mode)
            for sign, mode in ((1, "mean"), (1, "max"), (-1, "max"))
        )
        pooled = torch.cat([mean, most, least], 1)
        return self.layers(pooled).view(rounds, features.shape[0], self.width)


class ExtensiveReadout(nn.Module):
    """A sum over the open constraints and the placements of a board, for logs of counts.

    Each constraint and each placement adds what a perceptron with one hidden layer reads of it,
    one perceptron for all constraints, one for all placements; at first they read 0. On boards
    whose graph has no loops, the log of the number of completions is such a sum exactly.

    Source: the form of the Bethe free energy; Yedidia, Freeman and Weiss, "Constructing free-energy
    approximations and generalized belief propagation algorithms" (2005).

    Args:
        channels: width H of the features.
        width: number of results a board.
    """

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.of_constraints = _perceptron(channels, width)
        self.of_placements = _perceptron(channels, width)

    def forward(self, features: FactorGraphFeatures) -> Tensor:
        """Return `[R, B, width]`."""
        boards, placements = features.shape
        from_constraints = self.of_constraints(_SCALE * features.constraints)
        from_placements = self.of_placements(features.placements)
        ends = features.first_constraint.new_tensor([from_constraints.shape[1]])
        counts = torch.cat([features.first_constraint, ends]).diff()
        every = torch.arange(boards, device=counts.device)
        owners = every.repeat_interleave(counts)
        sums = from_constraints.new_zeros(len(from_constraints), boards, from_constraints.shape[2])
        sums = sums.index_add(1, owners, from_constraints)
        return _SHARE * sums.index_add(1, features.index // placements, from_placements)


def _perceptron(channels: int, width: int) -> nn.Sequential:
    last = nn.Linear(channels, width)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(nn.Linear(channels, channels), nn.ReLU(), last)


_SHARE = 0.02  # there are about a hundred parts, and a step of Adam moves them all
_SCALE = 0.15  # brings logs of messages to about (-1, 1)
