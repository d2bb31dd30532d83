"""A body that pools messages on the factor graph of a board; one set of weights, every size."""

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
        if min(self.channels, self.layers) < 1:
            raise ValueError(
                f"channels and layers must be at least 1, not {self.channels} and {self.layers}"
            )

    def build(self, geometry: Geometry) -> PooledBody:
        """Make the body; it plays boards of any geometry."""
        return PooledBody(self)


@dataclass(frozen=True)
class PooledFeatures:
    """Features of B boards; see `Features`."""

    variables: Tensor  # float32 [V, H], of the legal placements
    factors: Tensor  # float32 [F, H], of the open constraints
    index: Tensor  # int64 [V], position of each variable in the flattened masks
    factor_offsets: Tensor  # int64 [B], where the factors of each board begin
    shape: tuple[int, int]  # (B, N**3)


class PooledBody(nn.Module):
    """Message passing between variables (legal placements) and factors (open constraints).

    Each layer pools the variables of a factor and adds what its factors make of that to each
    variable; see docs/networks.md.
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
        variables = self.start.expand(len(graph.positions), -1)
        factors = variables.new_zeros(len(edges.factor_offsets), self.config.channels)
        for layer in self.layers:
            variables, factors = layer(variables, factors, edges)
        return PooledFeatures(
            variables,
            factors[:-1],
            torch.from_numpy(graph.positions).to(self.start.device),
            torch.from_numpy(graph.board_factor_ptr[:-1]).to(self.start.device),
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
    """The graph as `embedding_bag` wants it; factor F, which has no edges, stands for none."""

    variable_factors: Tensor  # int64 [V, K], the factors of each variable
    edge_variable: Tensor  # int64 [E], the variable of each edge, in the order of the factors
    factor_offsets: Tensor  # int64 [F + 1], where in `edge_variable` each factor's edges begin
    inverse_degrees: Tensor  # float32 [F + 1, 1], one over the edges of each factor, 1 for none

    @staticmethod
    def of(graph: FactorGraph, device: torch.device) -> _Edges:
        degrees = np.append(np.diff(graph.factor_ptr), 0)
        none = len(degrees) - 1
        edge_factor = np.append(np.repeat(np.arange(none + 1), degrees), [none, none])
        arrays = (
            edge_factor[graph.variable_edges],
            graph.edge_variable.astype(np.int64),
            graph.factor_ptr.astype(np.int64),
            (1 / np.maximum(degrees, 1)).astype(np.float32)[:, None],
        )
        return _Edges(*(torch.from_numpy(array).to(device) for array in arrays))


class _PlacementReadout(nn.Linear):
    def forward(self, features: PooledFeatures) -> Tensor:  # type: ignore[override]
        return super().forward(features.variables)[None]


class _BoardReadout(nn.Module):
    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.perceptron = nn.Sequential(
            nn.Linear(2 * channels, channels), nn.ReLU(), nn.Linear(channels, width)
        )

    def forward(self, features: PooledFeatures) -> Tensor:
        factors = features.factors
        every = torch.arange(len(factors), device=factors.device)
        return self.perceptron(_mean_and_max(every, factors, features.factor_offsets))[None]


class _Layer(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.gather = nn.Linear(3 * channels + 1, channels)
        self.spread = nn.Linear(channels, channels, bias=False)
        self.keep = nn.Linear(channels, channels)

    def forward(self, variables: Tensor, factors: Tensor, edges: _Edges) -> tuple[Tensor, Tensor]:
        pooled = _mean_and_max(edges.edge_variable, variables, edges.factor_offsets)
        features = torch.cat([pooled, factors, edges.inverse_degrees], 1)
        factors = functional.relu(self.gather(features))
        sent = self.spread(factors)
        messages = functional.embedding_bag(edges.variable_factors, sent, mode="sum")
        return variables + functional.relu(self.keep(variables) + messages), factors


def _mean_and_max(rows: Tensor, numbers: Tensor, offsets: Tensor) -> Tensor:
    bags = [functional.embedding_bag(rows, numbers, offsets, mode=mode) for mode in ("mean", "max")]
    return torch.cat(bags, 1)
