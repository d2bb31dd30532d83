"""A convolutional network that fills the most probable cell first.

Source: Park, "Can convolutional neural networks crack Sudoku puzzles?" (2018): ten convolutions of
3x3 with batch normalisation and ReLU, 512 channels (21 million weights), one of 1x1 for the digits.
Here it has 64 channels by default, and one input plane a digit in place of the digit as a number.
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
from sudoku_gym.policies.protocols import Mode
from sudoku_gym.storage.configs import registered
from sudoku_learning.networks.mlp import one_hot
from sudoku_learning.training import EnvId, OptimizerConfig, train_cli


class CNN(Model):
    """The network of this module."""

    def __init__(self, config: CNNModelConfig, geometry: Geometry) -> None:
        super().__init__(geometry)
        layers: list[nn.Module] = []
        for layer in range(config.layers):
            inputs = config.channels if layer else geometry.size
            layers += [
                nn.Conv2d(inputs, config.channels, 3, padding=1, bias=False),
                nn.BatchNorm2d(config.channels),
                nn.ReLU(),
            ]
        self.layers = nn.Sequential(*layers, nn.Conv2d(config.channels, geometry.size, 1))

    def forward(self, boards: Tensor, state: Tensor | None = None) -> ModelOutput:
        """See `Model`."""
        found = self.layers(one_hot(boards).permute(0, 3, 1, 2))  # [B, N, N, N], digits first
        return ModelOutput(torch.log_softmax(found.flatten(2).transpose(1, 2), 2)[None])


@registered("neural/cnn")
@dataclass(frozen=True)
class CNNModelConfig(ModelConfig):
    """The sizes of a convolutional network."""

    network = CNN

    channels: int = 64
    """of each layer"""
    layers: int = 10
    """convolutions of 3x3"""


@registered("neural/cnn-training")
@dataclass(frozen=True, kw_only=True)
class CNNTraining(SupervisedConfig):
    """Train a convolutional network to fill the surest cell first."""

    env: EnvId = "Sudoku9x9-v0"
    run: Path = Path("runs/cnn")
    updates: int | None = 500
    revealed: float = 0.8
    augment: bool = True
    validation_games: int = 128
    optimizer: OptimizerConfig = field(
        default_factory=lambda: OptimizerConfig(1e-3, 32, constant_share=0.4)
    )
    mode: Mode = "surest"
    model: CNNModelConfig = field(default_factory=CNNModelConfig)


main = partial(train_cli, CNNTraining, SupervisedLearner, "cnn")
policy = shipped("cnn")
policy_9x9 = shipped("cnn-9x9")
