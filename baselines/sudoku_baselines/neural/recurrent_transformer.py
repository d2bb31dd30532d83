"""The recurrent transformer: one block of attention, applied again and again.

Papers: Yang, Ishay and Lee, "Learning to solve constraint satisfaction problems with recurrent
transformer" (2023); Schendowich et al. (2024), section 3.2, for the same at 4x4 with one or two
iterations. A digit's and a position's embedding of each cell go through minGPT's blocks R times
with the same weights, and after each time a norm and a linear map give the digits, each with its
loss on the blanks.

Differences from theirs: no dropout and no weight decay.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from sudoku_baselines.neural.learner import SupervisedConfig, SupervisedLearner
from sudoku_baselines.neural.model import Model, ModelConfig, ModelOutput
from sudoku_baselines.neural.policies import shipped
from sudoku_gym.geometry import Geometry
from sudoku_gym.storage.configs import registered
from sudoku_learning.networks import AttentionBlock
from sudoku_learning.training import OptimizerConfig, train_cli


class RecurrentTransformer(Model):
    """The network of this module."""

    is_recurrent = True

    def __init__(self, config: RecurrentTransformerConfig, geometry: Geometry) -> None:
        super().__init__(geometry)
        width = config.embedding
        self.rounds = config.rounds
        self.digit = nn.Embedding(geometry.size + 1, width)
        self.position = nn.Parameter(torch.zeros(geometry.num_cells, width))
        self.blocks = nn.ModuleList(
            AttentionBlock(width, config.heads, 4 * width) for _ in range(config.blocks)
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, geometry.size, bias=False)
        self.apply(_small)

    def forward(self, boards: Tensor, state: Tensor | None = None) -> ModelOutput:
        """See `Model`."""
        cells = self.digit(boards.flatten(1).long()) + self.position
        found: list[Tensor] = []
        for _ in range(self.rounds):
            for block in self.blocks:
                cells = block(cells)
            if not self.training:
                found.clear()  # only the last is asked for
            found.append(torch.log_softmax(self.head(self.norm(cells)), 2))
        return ModelOutput(torch.stack(found))


@registered("neural/recurrent-transformer")
@dataclass(frozen=True)
class RecurrentTransformerConfig(ModelConfig):
    """The sizes of a recurrent transformer; by default those of the 4x4 paper's best."""

    network = RecurrentTransformer

    embedding: int = 128
    """width of a cell's token"""
    heads: int = 4
    """of the attention; they divide the embedding"""
    blocks: int = 1
    """blocks of attention and perceptron in one iteration"""
    rounds: int = 2
    """iterations R; 32 at 9x9"""


@registered("neural/recurrent-transformer-training")
@dataclass(frozen=True, kw_only=True)
class RecurrentTransformerTraining(SupervisedConfig):
    """Train a recurrent transformer; an iteration is an epoch."""

    run: Path = Path("runs/recurrent-transformer")
    iterations: int = 15
    optimizer: OptimizerConfig = field(default_factory=lambda: OptimizerConfig(6e-4, 16))
    model: RecurrentTransformerConfig = field(default_factory=RecurrentTransformerConfig)


def _small(module: nn.Module) -> None:
    """Draw first weights as minGPT does: normal, with a standard deviation of 0.02."""
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


main = partial(train_cli, RecurrentTransformerTraining, SupervisedLearner, "recurrent-transformer")
policy = shipped("recurrent-transformer")
policy_9x9 = shipped("recurrent-transformer-9x9")
