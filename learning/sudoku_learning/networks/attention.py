"""Self-attention over the cells of a board, with a learned position for each cell.

Source: cAlphaZero (Agarwal et al.), section 4.1; Vaswani et al., "Attention is all you need"
(2017), with the norm before each part, as in GPT-2.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from sudoku_gym.geometry import Geometry
from sudoku_gym.storage.checks import check_counts
from sudoku_gym.storage.configs import registered
from sudoku_learning.networks.mlp import TokenBody


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
        check_counts(self, "width", "layers", "heads", "perceptron")
        if self.width % self.heads:
            raise ValueError(f"heads must divide width, not {self.heads} and {self.width}")

    def build(self, geometry: Geometry) -> AttentionBody:
        """Make the body for boards of that size."""
        return AttentionBody(self, geometry)


class AttentionBody(TokenBody):
    """See `AttentionConfig`; the tokens are the cells."""

    def __init__(self, config: AttentionConfig, geometry: Geometry) -> None:
        super().__init__(geometry, geometry.num_cells, config.width)
        self.digit = nn.Embedding(geometry.size + 1, config.width)
        self.position = nn.Parameter(0.02 * torch.randn(geometry.num_cells, config.width))
        hidden = config.perceptron or 4 * config.width
        self.blocks = nn.ModuleList(
            AttentionBlock(config.width, config.heads, hidden) for _ in range(config.layers)
        )
        self.norm = nn.LayerNorm(config.width)

    def tokens(self, boards: Tensor) -> Tensor:
        """Return the tokens of the cells, `[B, N**2, W]`."""
        cells: Tensor = self.digit(boards.flatten(1).long()) + self.position
        for block in self.blocks:
            cells = block(cells)
        return self.norm(cells)


class AttentionBlock(nn.Module):
    """Attention of all cells to all cells, then a perceptron, each after a norm and added.

    The heads divide the width W of a token; `hidden` is that of the perceptron's hidden layer.
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
        return cells + self.perceptron(self.before_perceptron(cells))
