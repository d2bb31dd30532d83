"""Heads: outputs of a network, computed from the features of any body.

Outputs of a head begin with an axis of the body's R rounds, `[R, ...]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from sudoku_gym.storage.configs import registered
from sudoku_learning.networks.bodies import Body, Features

ILLEGAL_LOGIT = -1e9
"""The score of what is illegal: finite, since a finished board has no legal placement at all, and
0 times infinity would be NaN."""


class HeadConfig(Protocol):
    """Settings that make a head; a frozen dataclass registered in `sudoku_gym.storage.configs`."""

    def build(self, body: Body) -> nn.Module:
        """Make a head that maps the body's features to its output, `[R, ...]`."""


@registered("policy")
@dataclass(frozen=True)
class PolicyConfig:
    """A number for each placement: a logit, or an action value."""

    def build(self, body: Body) -> nn.Module:
        """Make the head: features to float32 `[R, B, N**3]`, `ILLEGAL_LOGIT` where illegal."""
        return PlacementHead(body)


@registered("value")
@dataclass(frozen=True)
class ValueConfig:
    """The return to expect from a board, by default in (0, 1)."""

    low: float | None = 0.0
    """lowest return; None leaves the value free. 0 and 1 suit the rewards `"terminal"` and
    `"sparse"` without discount"""
    high: float | None = 1.0
    """highest return; between both a sigmoid keeps the value"""

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise ValueError(f"give both low and high, or neither, not {self.low} and {self.high}")
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ValueError(f"low must be less than high, not {self.low} and {self.high}")

    def build(self, body: Body) -> nn.Module:
        """Make the head: features to float32 `[R, B]`."""
        return BoardHead(body, (self.low, self.high))


@registered("log-flow")
@dataclass(frozen=True)
class LogFlowConfig:
    """The logarithm of a board's flow in a GFlowNet; at the puzzle itself it is log Z.

    Source: Bengio et al., "GFlowNet foundations" (2023), definition 5.
    """

    def build(self, body: Body) -> nn.Module:
        """Make the head: features to float32 `[R, B]`."""
        return BoardHead(body, extensive=True)


class PlacementHead(nn.Module):
    """One number for each placement, in the order of the action mask."""

    def __init__(self, body: Body) -> None:
        super().__init__()
        self.readout = body.placement_readout(1)

    def forward(self, features: Features) -> Tensor:
        """Return float32 `[R, B, N**3]`, `ILLEGAL_LOGIT` where a placement is illegal."""
        return _spread(self.readout(features).squeeze(2), features)


class BoardHead(nn.Module):
    """One number for each board, between the limits, if any; `extensive`: see `board_readout`."""

    def __init__(
        self,
        body: Body,
        limits: tuple[float | None, float | None] = (None, None),
        extensive: bool = False,
    ) -> None:
        super().__init__()
        self.readout = body.board_readout(1, extensive)
        self._limits = limits

    def forward(self, features: Features) -> Tensor:
        """Return float32 `[R, B]`."""
        numbers: Tensor = self.readout(features).squeeze(2)
        low, high = self._limits
        if low is None or high is None:
            return numbers
        return low + (high - low) * torch.sigmoid(numbers)


def _spread(numbers: Tensor, features: Features) -> Tensor:
    """Put the numbers `[R, P]` of legal placements at their positions in `[R, B, N**3]`."""
    rounds, (boards, placements) = len(numbers), features.shape
    everywhere = numbers.new_full((rounds, boards * placements), ILLEGAL_LOGIT)
    return everywhere.index_copy(1, features.index, numbers).view(rounds, boards, placements)
