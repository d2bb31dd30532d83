"""Self-attention over the cells of a board, with a learned position for each cell.

Source: cAlphaZero (Agarwal et al.), section 4.1; Vaswani et al., "Attention is all you need"
(2017), with the norm before each part, as in GPT-2.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from sudoku_gym.geometry import Geometry
from sudoku_gym.storage.configs import registered
from sudoku_learning.networks.mlp import check_size


@registered("attention")
@dataclass(frozen=True)
class AttentionConfig:
    """A transformer encoder whose tokens are the cells."""

    width: int = 256
    """width of a token"""
    layers: int = 4
    """blocks of attention and perceptron"""
    heads: int = 4
    """attention heads; they divide the width"""
    perceptron: int | None = None
    """width of the perceptrons' hidden layer; None takes four times that of a token"""

    def __post_init__(self) -> None:
        """Check the values."""
        if min(self.width, self.layers, self.heads) < 1 or self.width % self.heads:
            raise ValueError(
                f"width, layers and heads must be at least 1, and heads divide width, not "
                f"{self.width}, {self.layers} and {self.heads}"
            )
        if self.perceptron is not None and self.perceptron < 1:
            raise ValueError(f"perceptron must be at least 1, not {self.perceptron}")

    def build(self, geometry: Geometry) -> AttentionBody:
        """Make the body for boards of that size."""
        return AttentionBody(self, geometry)


@dataclass(frozen=True)
class AttentionFeatures:
    """What the body says of B boards; see `Features`.

    Attributes:
        cells: float32 `[B, N**2, W]`, the token of each cell.
        index: int64 `[P]`, position of each placement in the flattened masks.
        shape: `(B, N**3)`.
    """

    cells: Tensor
    index: Tensor
    shape: tuple[int, int]


class AttentionBody(nn.Module):
    """See `AttentionConfig`."""

    def __init__(self, config: AttentionConfig, geometry: Geometry) -> None:
        super().__init__()
        self._geometry = geometry
        self._width = config.width
        self.digit = nn.Embedding(geometry.size + 1, config.width)
        self.position = nn.Parameter(0.02 * torch.randn(geometry.num_cells, config.width))
        hidden = config.perceptron or 4 * config.width
        self.blocks = nn.ModuleList(
            AttentionBlock(config.width, config.heads, hidden) for _ in range(config.layers)
        )
        self.norm = nn.LayerNorm(config.width)

    def forward(
        self, boards: Tensor, masks: Tensor, geometry: Geometry, all_rounds: bool = False
    ) -> AttentionFeatures:
        """Return the features of boards and masks, see `Body`; there is one round to show.

        Raises:
            ValueError: if the boards are not of the size it was made for.
        """
        check_size(geometry, self._geometry)
        cells = self.digit(boards.flatten(1).long()) + self.position
        for block in self.blocks:
            cells = block(cells)
        index = masks.flatten().nonzero().squeeze(1)
        return AttentionFeatures(self.norm(cells), index, (masks.shape[0], masks.shape[1]))

    def placement_readout(self, width: int) -> nn.Module:
        """Make a linear map of each cell's token to its digits: `[1, P, width]`."""
        return _PlacementReadout(self._width, width, self._geometry.size)

    def board_readout(self, width: int, extensive: bool = False) -> nn.Module:
        """Make a linear map of the cells' mean token: `[1, B, width]`."""
        return _BoardReadout(self._width, width)


class AttentionBlock(nn.Module):
    """Attention of all cells to all cells, then a perceptron, each after a norm and added.

    Args:
        width: W of a token.
        heads: of the attention; they divide the width.
        hidden: width of the perceptron's hidden layer.
    """

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.before_attention, self.before_perceptron = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.perceptron = nn.Sequential(
            nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width)
        )

    def forward(self, cells: Tensor) -> Tensor:
        """Return the next tokens `[B, T, W]`."""
        normed = self.before_attention(cells)
        cells = cells + self.attention(normed, normed, normed, need_weights=False)[0]
        out: Tensor = cells + self.perceptron(self.before_perceptron(cells))
        return out


class _PlacementReadout(nn.Module):
    def __init__(self, hidden: int, width: int, size: int) -> None:
        super().__init__()
        self._width = width
        self.linear = nn.Linear(hidden, width * size)

    def forward(self, features: AttentionFeatures) -> Tensor:
        everywhere = self.linear(features.cells).view(-1, self._width)  # [B * N**3, width]
        return everywhere[features.index][None]


class _BoardReadout(nn.Linear):
    def forward(self, features: AttentionFeatures) -> Tensor:  # type: ignore[override]
        return super().forward(features.cells.mean(1))[None]
