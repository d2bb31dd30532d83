"""A body that pools messages on the factor graph of a board; one set of weights, every size.

Sudoku is an exact-cover problem: a placement (cell, digit) fulfils one constraint for its cell and
one for its digit in each unit of the cell, and every constraint must be fulfilled exactly once.
The graph of a board joins the placements that are still legal with the constraints that are still
open. Nothing in it tells one row, digit or board size from another, so a network that only passes
messages along its edges is equivariant under the whole symmetry group and does not know N.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from sudoku_gym.geometry import Geometry
from sudoku_gym.storage.configs import registered
from sudoku_learning.networks.factor_graph.graph import FactorGraph


@registered("pooled")
@dataclass(frozen=True)
class PooledConfig:
    """Rounds of mean and maximum on the factor graph, each with weights of its own."""

    channels: int = 32
    """width of the features"""
    layers: int = 2
    """rounds of messages between placements and constraints"""

    def __post_init__(self) -> None:
        """Check the values."""
        if min(self.channels, self.layers) < 1:
            raise ValueError(
                f"channels and layers must be at least 1, not {self.channels} and {self.layers}"
            )

    def build(self, geometry: Geometry) -> PooledBody:
        """Make the body; it plays boards of any geometry."""
        return PooledBody(self)


@dataclass(frozen=True)
class PooledFeatures:
    """What the body says of B boards; see `Features`.

    Attributes:
        placements: float32 `[P, H]`, of the legal placements.
        constraints: float32 `[C, H]`, of the open constraints.
        index: int64 `[P]`, position of each placement in the flattened masks.
        first_constraint: int64 `[B]`, where the constraints of each board begin.
        shape: `(B, N**3)`.
    """

    placements: Tensor
    constraints: Tensor
    index: Tensor
    first_constraint: Tensor
    shape: tuple[int, int]


class PooledBody(nn.Module):
    """Message passing between legal placements and open constraints.

    Each layer pools the placements of a constraint (mean and maximum, beside one over their
    number), passes the result through a linear map and a ReLU, sums the answers of a placement's
    constraints, and adds the outcome to the placement's features. Linear maps stand before a
    broadcast, never after it. All pooled quantities keep their range on boards of any size; with
    sums in place of means, weights trained on 4x4 solve 56 % where these solve 99 % (9x9, 50
    blanks).

    Because it counts, random weights may already prefer constraints with few placements left, and
    about half of all untrained networks play 4x4 without a fault: hold a trained one against them.
    """

    def __init__(self, config: PooledConfig) -> None:
        super().__init__()
        self.config = config
        self.start = nn.Parameter(torch.randn(config.channels))
        self.layers = nn.ModuleList(_Layer(config.channels) for _ in range(config.layers))

    def forward(
        self, boards: Tensor, masks: Tensor, geometry: Geometry, all_rounds: bool = False
    ) -> PooledFeatures:
        """Return the features of boards and masks, see `Body`; there is one round to show."""
        graph = FactorGraph.of(boards.cpu().numpy(), masks.cpu().numpy(), geometry)
        edges = _Edges.of(graph, self.start.device)
        placements = self.start.expand(len(graph.positions), -1)
        constraints = placements.new_zeros(len(edges.first_edge), self.config.channels)
        for layer in self.layers:
            placements, constraints = layer(placements, constraints, edges)
        return PooledFeatures(
            placements,
            constraints[:-1],
            torch.from_numpy(graph.positions).to(self.start.device),
            torch.from_numpy(graph.first_constraint[:-1]).to(self.start.device),
            (masks.shape[0], masks.shape[1]),
        )

    def placement_readout(self, width: int) -> nn.Module:
        """Make a linear map of each placement's features: `[1, P, width]`."""
        return _PlacementReadout(self.config.channels, width)

    def board_readout(self, width: int, extensive: bool = False) -> nn.Module:
        """Make a small perceptron on mean and maximum of each board's constraints."""
        return _BoardReadout(self.config.channels, width)


@dataclass(frozen=True)
class _Edges:
    """The graph as `embedding_bag` wants it; constraint C, which nobody has, stands for none.

    Attributes:
        constraints_of: int64 `[P, K]`, the constraints of each placement.
        placements_of: int64 `[E]`, the placements of each constraint, one after the other.
        first_edge: int64 `[C + 1]`, where in `placements_of` each constraint's begin.
        inverse_counts: float32 `[C + 1, 1]`, one over the number of placements of each constraint
            (1 where there are none).
    """

    constraints_of: Tensor
    placements_of: Tensor
    first_edge: Tensor
    inverse_counts: Tensor

    @staticmethod
    def of(graph: FactorGraph, device: torch.device) -> _Edges:
        counts = np.append(np.diff(graph.first_seat), 0)
        none = len(counts) - 1
        constraint_of_seat = np.append(np.repeat(np.arange(none + 1), counts), [none, none])
        arrays = (
            constraint_of_seat[graph.seats_of],
            graph.occupants.astype(np.int64),
            graph.first_seat.astype(np.int64),
            (1 / np.maximum(counts, 1)).astype(np.float32)[:, None],
        )
        return _Edges(*(torch.from_numpy(array).to(device) for array in arrays))


class _PlacementReadout(nn.Linear):
    def forward(self, features: PooledFeatures) -> Tensor:  # type: ignore[override]
        return super().forward(features.placements)[None]


class _BoardReadout(nn.Module):
    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.perceptron = nn.Sequential(
            nn.Linear(2 * channels, channels), nn.ReLU(), nn.Linear(channels, width)
        )

    def forward(self, features: PooledFeatures) -> Tensor:
        constraints = features.constraints
        every = torch.arange(len(constraints), device=constraints.device)
        pooled = [
            functional.embedding_bag(every, constraints, features.first_constraint, mode=mode)
            for mode in ("mean", "max")
        ]
        out: Tensor = self.perceptron(torch.cat(pooled, 1))
        return out[None]


class _Layer(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.gather = nn.Linear(3 * channels + 1, channels)
        self.spread = nn.Linear(channels, channels, bias=False)
        self.keep = nn.Linear(channels, channels)

    def forward(
        self, placements: Tensor, constraints: Tensor, edges: _Edges
    ) -> tuple[Tensor, Tensor]:
        pooled = [
            functional.embedding_bag(edges.placements_of, placements, edges.first_edge, mode=mode)
            for mode in ("mean", "max")
        ]
        features = torch.cat([*pooled, constraints, edges.inverse_counts], 1)
        constraints = functional.relu(self.gather(features))
        messages = functional.embedding_bag(
            edges.constraints_of, self.spread(constraints), mode="sum"
        )
        return placements + functional.relu(self.keep(placements) + messages), constraints
