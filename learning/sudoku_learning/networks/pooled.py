"""A body that pools messages on the exact-cover graph of a board; one set of weights, every size.

Sudoku is an exact-cover problem: a placement (cell, digit) fulfils one constraint for its cell and
one for its digit in each unit of the cell, and every constraint must be fulfilled exactly once.
The graph of a board joins the placements that are still legal with the constraints that are still
open. Nothing in it tells one row, digit or board size from another, so a network that only passes
messages along its edges is equivariant under the whole symmetry group and does not know N.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from sudoku_gym.geometry import Geometry
from sudoku_learning.configs import registered


@dataclass(frozen=True)
class ExactCoverGraph:
    """The open part of the exact-cover problems of B boards, packed without padding.

    P is the number of legal placements and C that of open constraints, over all boards.

    Attributes:
        placements: int64 `[P]`, position of each in the flattened masks `[B * N**3]`.
        constraints_of: int64 `[P, K]`, the constraints of each placement; C stands for none.
        placements_of: int64 `[E]`, the placements of each constraint, one after the other.
        first_edge: int64 `[C + 1]`, where in `placements_of` each constraint's begin; C has none.
        first_constraint: int64 `[B]`, where the constraints of each board begin.
        inverse_counts: float32 `[C + 1, 1]`, one over the number of placements of each constraint
            (1 where there are none).
    """

    placements: Tensor
    constraints_of: Tensor
    placements_of: Tensor
    first_edge: Tensor
    first_constraint: Tensor
    inverse_counts: Tensor

    @staticmethod
    def of(boards: Tensor, masks: Tensor, geometry: Geometry) -> ExactCoverGraph:
        """Build the graph of int8 boards `[B, N, N]` and bool masks `[B, N**3]`."""
        table = _constraint_table(geometry).to(boards.device)
        per_board = geometry.num_cells + len(geometry.units) * geometry.size
        batch = len(boards)
        cells = boards.reshape(batch, geometry.num_cells).long()

        open_ = torch.ones(batch, per_board + 1, dtype=torch.bool, device=boards.device)
        open_[:, per_board] = False  # the padding unit's digits share one constraint, never open
        board, cell = cells.nonzero(as_tuple=True)
        placed = cell * geometry.size + cells[board, cell] - 1
        open_[board[:, None], table[placed]] = False
        number = open_.flatten().cumsum(0) - 1
        num_open = int(number[-1]) + 1 if batch else 0

        placements = masks.flatten().nonzero().squeeze(1)
        board = placements // geometry.num_placements
        constraints = board[:, None] * (per_board + 1) + table[placements % geometry.num_placements]
        constraints_of = torch.where(open_.flatten()[constraints], number[constraints], num_open)
        by_constraint, order = constraints_of.flatten().sort(stable=True)
        first_edge = torch.searchsorted(
            by_constraint, torch.arange(num_open + 1, device=boards.device)
        )
        counts = torch.diff(first_edge, append=first_edge[-1:])
        open_per_board = open_.sum(1)
        return ExactCoverGraph(
            placements=placements,
            constraints_of=constraints_of,
            placements_of=order[: int(first_edge[-1])] // table.shape[1],
            first_edge=first_edge,
            first_constraint=open_per_board.cumsum(0) - open_per_board,
            inverse_counts=counts.clamp(min=1).unsqueeze(1).float().reciprocal(),
        )


@registered("pooled")
@dataclass(frozen=True)
class PooledConfig:
    """Rounds of mean and maximum on the exact-cover graph, each with weights of its own."""

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
        self, boards: Tensor, masks: Tensor, geometry: Geometry, every_round: bool = False
    ) -> PooledFeatures:
        """Return the features of boards and masks, see `Body`; there is one round to show."""
        graph = ExactCoverGraph.of(boards, masks, geometry)
        placements = self.start.expand(len(graph.placements), -1)
        constraints = placements.new_zeros(len(graph.first_edge), self.config.channels)
        for layer in self.layers:
            placements, constraints = layer(placements, constraints, graph)
        return PooledFeatures(
            placements,
            constraints[:-1],
            graph.placements,
            graph.first_constraint,
            (masks.shape[0], masks.shape[1]),
        )

    def placement_readout(self, width: int) -> nn.Module:
        """Make a linear map of each placement's features: `[1, P, width]`."""
        return _PlacementReadout(self.config.channels, width)

    def board_readout(self, width: int) -> nn.Module:
        """Make a small perceptron on mean and maximum of each board's constraints."""
        return _BoardReadout(self.config.channels, width)


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
        self, placements: Tensor, constraints: Tensor, graph: ExactCoverGraph
    ) -> tuple[Tensor, Tensor]:
        pooled = [
            functional.embedding_bag(graph.placements_of, placements, graph.first_edge, mode=mode)
            for mode in ("mean", "max")
        ]
        features = torch.cat([*pooled, constraints, graph.inverse_counts], 1)
        constraints = functional.relu(self.gather(features))
        messages = functional.embedding_bag(
            graph.constraints_of, self.spread(constraints), mode="sum"
        )
        return placements + functional.relu(self.keep(placements) + messages), constraints


@cache
def _constraint_table(geometry: Geometry) -> Tensor:
    """The constraints of each placement, int64 `[N**3, 1 + K]`: its cell's, then its units'.

    Constraint `cell`, then constraint `N**2 + unit * N + digit - 1`; padding units share the
    number after the last.
    """
    size, num_units = geometry.size, len(geometry.units)
    cell, digit = np.divmod(np.arange(geometry.num_placements), size)
    units = geometry.cell_units[cell].astype(np.int64)
    in_units = np.where(
        units < num_units,
        geometry.num_cells + units * size + digit[:, None],
        geometry.num_cells + num_units * size,
    )
    return torch.from_numpy(np.concatenate([cell[:, None], in_units], axis=1))
