"""Heads: outputs of a network, computed from the features of any body.

Outputs of a head begin with an axis of the body's R rounds, `[R, ...]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from sudoku_gym.storage.configs import registered
from sudoku_learning.networks.bodies import Body, Features

Limits = tuple[float | None, float | None]  # lowest and highest output; None leaves it free

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
    """Logits of the placements."""

    def build(self, body: Body) -> nn.Module:
        """Make the head: features to float32 `[R, B, N**3]`, `ILLEGAL_LOGIT` where illegal."""
        return PlacementHead(body)


@registered("q")
@dataclass(frozen=True)
class QConfig:
    """Action values: the return to expect after each placement."""

    low: float | None = None
    """lowest return; None leaves the values free"""
    high: float | None = None
    """highest return; between both a sigmoid keeps the values"""
    dueling: bool = False
    """read a number of the board too, to which the placements are compared"""

    def __post_init__(self) -> None:
        _check_range(self.low, self.high)

    def build(self, body: Body) -> nn.Module:
        """Make the head: features to float32 `[R, B, N**3]`, `ILLEGAL_LOGIT` where illegal."""
        head = DuelingHead if self.dueling else PlacementHead
        return head(body, (self.low, self.high))


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
        _check_range(self.low, self.high)

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


@registered("cell-digits")
@dataclass(frozen=True)
class CellDigitsConfig:
    """Logits of the digit that each cell of the solution holds, all cells at once."""

    def build(self, body: Body) -> nn.Module:
        """Make a `CellDigitsHead`."""
        return CellDigitsHead(body)


class PlacementHead(nn.Module):
    """One number for each placement, in the order of the action mask."""

    def __init__(self, body: Body, limits: Limits = (None, None)) -> None:
        super().__init__()
        self.readout = body.placement_readout(1)
        self._limits = limits

    @property
    def has_limits(self) -> bool:
        """Whether a sigmoid keeps the numbers between two limits."""
        return None not in self._limits

    def forward(self, features: Features) -> Tensor:
        """Return float32 `[R, B, N**3]`, `ILLEGAL_LOGIT` where a placement is illegal."""
        numbers = _between(self.readout(features).squeeze(2), self._limits)
        return _spread(numbers, features)


class DuelingHead(nn.Module):
    """The number of a board and, added to it, by how much a placement differs from the mean.

    Source: Wang et al., "Dueling network architectures for deep reinforcement learning" (2016),
    equation 9; the mean runs over the legal placements.
    """

    def __init__(self, body: Body, limits: Limits = (None, None)) -> None:
        super().__init__()
        self.placements = body.placement_readout(1)
        self.board = body.board_readout(1)
        self._limits = limits

    def forward(self, features: Features) -> Tensor:
        """Return float32 `[R, B, N**3]`, `ILLEGAL_LOGIT` where a placement is illegal."""
        advantages = self.placements(features).squeeze(2)  # [R, P]
        values = self.board(features).squeeze(2)  # [R, B]
        boards, placements = features.shape
        owners = features.index // placements
        counts = torch.bincount(owners, minlength=boards).clamp(min=1)
        means = torch.zeros_like(values).index_add(1, owners, advantages) / counts
        numbers = advantages + (values - means).index_select(1, owners)
        return _spread(_between(numbers, self._limits), features)


class BoardHead(nn.Module):
    """One number for each board; see `Body.board_readout` for `extensive`."""

    def __init__(self, body: Body, limits: Limits = (None, None), extensive: bool = False) -> None:
        super().__init__()
        self.readout = body.board_readout(1, extensive)
        self._limits = limits

    def forward(self, features: Features) -> Tensor:
        """Return float32 `[R, B]`."""
        return _between(self.readout(features).squeeze(2), self._limits)


class CellDigitsHead(nn.Module):
    """The digits of all cells at once, see `CellDigitsConfig`."""

    def __init__(self, body: Body) -> None:
        super().__init__()
        self.readout = body.placement_readout(1)

    def forward(self, features: Features) -> Tensor:
        """Return log-probabilities float32 `[R, B, N**2, N]`, normalised over a cell's digits.

        Cells without a legal placement hold `ILLEGAL_LOGIT`.
        """
        logits = _spread(self.readout(features).squeeze(2), features)
        size = round(logits.shape[2] ** (1 / 3))
        logits = logits.view(*logits.shape[:2], size * size, size)
        is_legal = logits > ILLEGAL_LOGIT
        return torch.where(is_legal, torch.log_softmax(logits, 3), ILLEGAL_LOGIT)


def _spread(numbers: Tensor, features: Features) -> Tensor:
    """Put the numbers `[R, P]` of legal placements at their positions in `[R, B, N**3]`."""
    rounds, (boards, placements) = len(numbers), features.shape
    everywhere = numbers.new_full((rounds, boards * placements), ILLEGAL_LOGIT)
    return everywhere.index_copy(1, features.index, numbers).view(rounds, boards, placements)


def _between(numbers: Tensor, limits: Limits) -> Tensor:
    low, high = limits
    if low is None or high is None:
        return numbers
    return low + (high - low) * torch.sigmoid(numbers)


def _check_range(low: Any, high: Any) -> None:
    if (low is None) != (high is None):
        raise ValueError(f"give both low and high, or neither, not {low} and {high}")
    if low is not None and not low < high:
        raise ValueError(f"low must be less than high, not {low} and {high}")
