"""Features of boards by the factor-graph body, and the readouts that heads are made of."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional

from sudoku_learning.networks.factor_graph.forward import RoundsOutcome
from sudoku_learning.networks.factor_graph.graph import FactorGraph
from sudoku_learning.networks.factor_graph.recurrent_state import RecurrentState


@dataclass(frozen=True)
class FactorGraphFeatures:
    """Features of B boards, packed without padding.

    There are V variables (legal placements) and F factors (open constraints) over all boards, and
    R rounds are kept (1: only the last).
    """

    variables: Tensor
    """`[R, V, H]`, their states, within (-1, 1) but for the learned start"""
    factors: Tensor
    """`[R, F, H]`, log of the sum of the messages to each, within about -7 and 10; log 0.001 where
    no placement is left: a dead end"""
    index: Tensor
    """int64 `[V]`, each variable's position in the flattened masks `[B * N**3]`"""
    factor_offsets: Tensor
    """int64 `[B]`, where the factors of each board begin"""
    shape: tuple[int, int]
    """`(B, N**3)`"""
    graph: FactorGraph
    """of the boards and masks"""
    recurrent_states: list[RecurrentState] = field(default_factory=list)
    """of each board after the last round; empty if none were given"""
    outcome: RoundsOutcome | None = None
    """of each board, where each stopped once it had converged"""


class PlacementReadout(nn.Module):
    """A linear map of the state of each variable, from `channels` to `width` numbers."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(channels, width)

    def forward(self, features: FactorGraphFeatures) -> Tensor:
        """Return `[R, P, width]`."""
        return self.linear(features.variables)


class BoardReadout(nn.Module):
    """A perceptron with one hidden layer on pooled factors, for values of whole boards.

    It reads mean, maximum and minimum of each channel over a board's factors: all three keep their
    range on boards of any size. The minimum shows dead ends: one constraint without placements
    hardly moves a mean over hundreds. A board without factors reads as zeros.
    """

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.width = width
        self.layers = nn.Sequential(
            nn.Linear(3 * channels, channels), nn.ReLU(), nn.Linear(channels, width)
        )

    def forward(self, features: FactorGraphFeatures) -> Tensor:
        """Return `[R, B, width]`."""
        rounds, count, channels = features.factors.shape
        rows = features.factors.reshape(rounds * count, channels) * _SCALE
        step = torch.arange(rounds, device=rows.device)[:, None] * count
        first = (step + features.factor_offsets).flatten()
        every = torch.arange(len(rows), device=rows.device)
        mean, most, least = (
            sign * functional.embedding_bag(every, sign * rows, first, mode=mode)
            for sign, mode in ((1, "mean"), (1, "max"), (-1, "max"))
        )
        pooled = torch.cat([mean, most, least], 1)
        return self.layers(pooled).view(rounds, features.shape[0], self.width)


class ExtensiveReadout(nn.Module):
    """A sum over the factors and the variables of a board, for logs of counts.

    A perceptron with one hidden layer, one for factors and one for variables, gives what each of
    them adds, at first 0. On boards whose graph has no loops, the log of the number of completions
    is such a sum exactly.

    Source: the form of the Bethe free energy; Yedidia, Freeman and Weiss, "Constructing free-energy
    approximations and generalized belief propagation algorithms" (2005).
    """

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.of_constraints = _perceptron(channels, width)
        self.of_placements = _perceptron(channels, width)

    def forward(self, features: FactorGraphFeatures) -> Tensor:
        """Return `[R, B, width]`."""
        boards, placements = features.shape
        from_factors = self.of_constraints(_SCALE * features.factors)
        from_variables = self.of_placements(features.variables)
        ends = features.factor_offsets.new_tensor([from_factors.shape[1]])
        counts = torch.cat([features.factor_offsets, ends]).diff()
        every = torch.arange(boards, device=counts.device)
        owners = every.repeat_interleave(counts)
        sums = from_factors.new_zeros(len(from_factors), boards, from_factors.shape[2])
        sums = sums.index_add(1, owners, from_factors)
        return _SHARE * sums.index_add(1, features.index // placements, from_variables)


def _perceptron(channels: int, width: int) -> nn.Sequential:
    last = nn.Linear(channels, width)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(nn.Linear(channels, channels), nn.ReLU(), last)


_SHARE = 0.02  # there are about a hundred parts, and a step of Adam moves them all
_SCALE = 0.15  # brings logs of messages to about (-1, 1)
