"""A perceptron that fills the most probable cell first.

Paper: Du, Gao and Hu, "A 4x4 Sudoku solving model based on multi-layer perceptron" (2021): four
dense layers on the one-hot board, one softmax per cell, one cell filled at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from sudoku_baselines.neural.learner import SupervisedConfig, SupervisedLearner
from sudoku_baselines.neural.model import Model, ModelConfig, ModelOutput, perceptron
from sudoku_baselines.neural.policies import shipped
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies.protocols import Mode
from sudoku_gym.storage.configs import registered
from sudoku_learning.networks.mlp import one_hot
from sudoku_learning.training import train_cli


class MLP(Model):
    """MLP on the one-hot board."""

    def __init__(self, config: MLPModelConfig, geometry: Geometry) -> None:
        super().__init__(geometry)
        ends = geometry.num_placements
        self.layers = perceptron(ends, *config.hidden, ends)

    def forward(self, boards: Tensor, state: Tensor | None = None) -> ModelOutput:
        """See `Model`."""
        logits = self.layers(one_hot(boards).flatten(1))
        one_round = (1, len(boards), self.geometry.num_cells, self.geometry.size)
        return ModelOutput(torch.log_softmax(logits.view(one_round), 3))


@registered("neural/mlp")
@dataclass(frozen=True)
class MLPModelConfig(ModelConfig):
    """The sizes of a perceptron."""

    network: ClassVar[Any] = MLP

    hidden: tuple[int, ...] = (256, 256, 256)
    """widths of the hidden layers"""


@registered("neural/mlp-training")
@dataclass(frozen=True, kw_only=True)
class MLPTraining(SupervisedConfig):
    """Train a perceptron to fill the surest cell first; an iteration is an epoch."""

    run: Path = Path("runs/mlp")
    iterations: int = 15
    """most iterations; an iteration is an epoch, unless `updates` says otherwise"""
    revealed: float = 1.0
    mode: Mode = "surest"
    model: MLPModelConfig = field(default_factory=MLPModelConfig)


main = partial(train_cli, MLPTraining, SupervisedLearner, "mlp")
policy = shipped("mlp")
