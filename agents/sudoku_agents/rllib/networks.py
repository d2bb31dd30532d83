"""The networks behind the modules: boards and masks in, masked logits and values out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from sudoku_agents.networks import ExactCoverNetwork
from sudoku_agents.networks.exact_cover import ILLEGAL_LOGIT
from sudoku_gym.geometry import Geometry


@dataclass(frozen=True)
class ExactCoverConfig:
    """Messages between legal placements and open constraints; see `ExactCoverNetwork`."""

    channels: int = 32
    """Width of the network."""
    layers: int = 2
    """Rounds of messages."""
    value_range: tuple[float, float] = (0.0, 1.0)
    """Lowest and highest return, between which a sigmoid keeps the values. (0, 1) suits the rewards
    `"terminal"` and `"sparse"` with gamma = 1."""

    def build(self, geometry: Geometry) -> nn.Module:
        """Make the network for boards of that geometry."""
        return _ExactCover(self, geometry)


@dataclass(frozen=True)
class DenseConfig:
    """A multi-layer perceptron on the one-hot board."""

    hidden: tuple[int, ...] = (256, 256)
    """Widths of the hidden layers, which logits and values share."""

    def build(self, geometry: Geometry) -> nn.Module:
        """Make the network for boards of that geometry."""
        return _Dense(self, geometry)


NetworkConfig = ExactCoverConfig | DenseConfig


class _ExactCover(nn.Module):
    def __init__(self, config: ExactCoverConfig, geometry: Geometry) -> None:
        super().__init__()
        self.network = ExactCoverNetwork(config.channels, config.layers)
        self.geometry = geometry
        self.value_range = config.value_range

    def forward(self, boards: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        logits, values = self.network(boards, masks, self.geometry)
        low, high = self.value_range
        return logits, low + (high - low) * values


class _Dense(nn.Module):
    def __init__(self, config: DenseConfig, geometry: Geometry) -> None:
        super().__init__()
        self.size = geometry.size
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise((geometry.num_placements, *config.hidden)):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.body = nn.Sequential(*layers)
        width = (geometry.num_placements, *config.hidden)[-1]
        self.policy_head = nn.Linear(width, geometry.num_placements)
        self.value_head = nn.Linear(width, 1)

    def forward(self, boards: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        one_hot = functional.one_hot(boards.long(), self.size + 1)[..., 1:]  # [B, N, N, N]
        features = self.body(one_hot.flatten(1).float())
        # Finite: a terminal board has no legal move, and 0 * inf would be nan.
        logits = torch.where(masks, self.policy_head(features), ILLEGAL_LOGIT)
        return logits, self.value_head(features).squeeze(1)
