"""A recurrent network on the grid alone that can't tell one digit from another.

Paper: Freinschlag et al., "Symbol-equivariant recurrent reasoning models" (2026, arXiv 2603.02193).
There is a token for each cell and symbol, which says of a cell that it is blank, or holds this
symbol, or another one. A round is attention over the cells, for each symbol alone, with rotary
positions of rows and columns (Su et al., "RoFormer", 2021); then a perceptron on each token and the
mean over the symbols of its cell (Zaheer et al., "Deep sets", 2017). Rounds share their weights,
each has its loss, and the next update goes on from the last state without its gradient. So a
permutation of the symbols permutes the answer, by construction; which cells a rule connects is
learned.

Differences from the paper: far smaller, pooling in place of attention over the symbols, one state
instead of two, no halting. Rows and columns have learned vectors too, for relative positions alone
do not tell where a box ends; so weights belong to boards of one size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import pi
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from sudoku_baselines.neural.learner import SupervisedConfig, SupervisedLearner
from sudoku_baselines.neural.model import Model, ModelConfig, ModelOutput
from sudoku_gym.geometry import Geometry
from sudoku_gym.storage.checks import check_counts
from sudoku_gym.storage.configs import registered
from sudoku_learning.training import EnvId, OptimizerConfig, train_cli


class SymbolEquivariant(Model):
    """The network of this module; its state is float32 `[B, N, N**2, W]`, symbols before cells."""

    is_recurrent = True
    cosines: Tensor
    sines: Tensor

    def __init__(self, config: SymbolEquivariantConfig, geometry: Geometry) -> None:
        super().__init__(geometry)
        width, size = config.width, geometry.size
        self.rounds, self._unrolled = config.rounds, config.unrolled
        self._heads = config.heads
        self.kind = nn.Embedding(3, width)  # blank, another symbol, this one
        self.row = nn.Parameter(torch.zeros(size, 1, width))
        self.column = nn.Parameter(torch.zeros(size, width))
        self.before_attention, self.before_perceptron = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width)
        self.join = nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.pool = nn.Linear(width, 2 * width, bias=False)
        self.norm = nn.LayerNorm(width)
        self.logit = nn.Linear(width, 1)
        frequencies = pi / 2.0 ** torch.arange(width // config.heads // 4)
        lines = torch.arange(size)[:, None] * frequencies
        rows, columns = lines.repeat_interleave(size, 0), lines.repeat(size, 1)
        angles = torch.cat([rows, columns], 1)  # [N**2, half of a head's width]
        self.register_buffer("cosines", angles.cos(), persistent=False)
        self.register_buffer("sines", angles.sin(), persistent=False)

    def forward(self, boards: Tensor, state: Tensor | None = None) -> ModelOutput:
        """See `Model`; in training `unrolled` rounds, else `rounds` of them."""
        digits = boards.flatten(1).long()[:, None]  # [B, 1, C]
        symbols = torch.arange(1, self.geometry.size + 1, device=boards.device)[:, None]
        kinds = (digits > 0).long() + (digits == symbols)
        tokens = self.kind(kinds) + (self.row + self.column).flatten(0, 1)
        state = self.initial_state(len(boards)) if state is None else state
        states: list[Tensor] = []
        for _ in range(self._unrolled if self.training else self.rounds):
            state = self._round(state + tokens)
            states.append(state)
        logits = self.logit(torch.stack(states if self.training else states[-1:]))[..., 0]
        return ModelOutput(torch.log_softmax(logits, 2).transpose(2, 3), state.detach())

    def initial_state(self, count: int) -> Tensor:
        """Return zeros, float32 `[count, N, N**2, W]`."""
        size, width = self.geometry.size, self.norm.normalized_shape[0]
        return self.row.new_zeros(count, size, self.geometry.num_cells, width)

    def _round(self, tokens: Tensor) -> Tensor:
        count, size, cells, width = tokens.shape
        parts = self.project(self.before_attention(tokens))
        parts = parts.view(count * size, cells, 3, self._heads, width // self._heads)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)
        heard = functional.scaled_dot_product_attention(
            self._rotated(queries), self._rotated(keys), values
        )
        tokens = tokens + self.join(heard.transpose(1, 2).reshape(tokens.shape))
        normed = self.before_perceptron(tokens)
        hidden = self.widen(normed) + self.pool(normed.mean(1, keepdim=True))
        return self.norm(tokens + self.narrow(functional.gelu(hidden)))

    def _rotated(self, heads: Tensor) -> Tensor:
        """Turn pairs of numbers by angles that grow along the rows, and along the columns."""
        first, second = heads.chunk(2, -1)
        cosines, sines = self.cosines, self.sines
        return torch.cat([first * cosines - second * sines, first * sines + second * cosines], -1)


@registered("neural/symbol-equivariant")
@dataclass(frozen=True)
class SymbolEquivariantConfig(ModelConfig):
    """The sizes of a symbol-equivariant network."""

    network = SymbolEquivariant

    width: int = 32
    """width of a token"""
    heads: int = 2
    """of the attention; four times as many divide the width"""
    unrolled: int = 2
    """rounds of an update, each with its loss; the next update of a board goes on from there"""
    rounds: int = 32
    """rounds in play"""

    def __post_init__(self) -> None:
        check_counts(self, "width", "heads", "unrolled", "rounds")
        if self.width % (4 * self.heads):
            raise ValueError(f"4 * heads must divide width, not {self.heads} and {self.width}")


@registered("neural/symbol-equivariant-training")
@dataclass(frozen=True, kw_only=True)
class SymbolEquivariantTraining(SupervisedConfig):
    """Train a symbol-equivariant network."""

    env: EnvId = "Sudoku9x9-v0"
    run: Path = Path("runs/symbol-equivariant")
    updates: int | None = 200
    revealed: float = 0.5
    augment: bool = True
    segments: int = 16
    validation_games: int = 64
    evaluate_every: int = 10
    optimizer: OptimizerConfig = field(
        default_factory=lambda: OptimizerConfig(3e-3, 8, constant_share=0.4)
    )
    model: SymbolEquivariantConfig = field(default_factory=SymbolEquivariantConfig)


main = partial(train_cli, SymbolEquivariantTraining, SupervisedLearner, "symbol-equivariant")
