"""Multiverse: parallel sequence models whose states one softmax reads.

Paper: Schendowich, Ben Isaac and Azoulay, "Multiverse: a deep learning 4X4 Sudoku solver" (2024),
section 3.2. A verse reads the one-hot board (r = N + 1 values in each of a = N**2 cells): a
convolution of kernel 1, a dense layer over the whole board, and two bidirectional LSTMs of r units
over the cells. All verses are concatenated cell by cell, and one dense layer with a softmax over
the r values ends the model.

The LSTMs of V verses run as one LSTM whose weights are block diagonal. What the paper leaves open
is as in Keras: no activation after convolution and dense layer, Glorot's initial weights,
orthogonal ones for the recurrence, a forget bias of 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from sudoku_baselines.neural.learner import SupervisedConfig, SupervisedLearner
from sudoku_baselines.neural.model import Model, ModelConfig, ModelOutput
from sudoku_baselines.neural.policies import shipped
from sudoku_gym.geometry import Geometry
from sudoku_gym.storage.configs import registered
from sudoku_learning.training import train_cli


class Multiverse(Model):
    """See the module; the parameters of the verses lie along the first axis of each tensor."""

    def __init__(self, config: MultiverseConfig, geometry: Geometry) -> None:
        super().__init__(geometry)
        verses, values, cells = config.verses, geometry.size + 1, geometry.num_cells
        self.convolution = _Dense(verses, values) if config.convolution else None
        self.dense = _Dense(verses, cells * values) if config.dense else None
        self.lstms = nn.ModuleList(
            VersesLSTM(verses, 1 if layer == 0 else 2, values) for layer in range(config.lstms)
        )
        width = verses * values * (2 if config.lstms else 1)
        self.termination = nn.Linear(width, values)
        nn.init.xavier_uniform_(self.termination.weight)
        nn.init.zeros_(self.termination.bias)
        self._verses = verses

    def forward(self, boards: Tensor, state: Tensor | None = None) -> ModelOutput:
        """See `Model`; the probability that a cell is blank is left out."""
        values = self.geometry.size + 1
        cells = functional.one_hot(boards.flatten(1).long(), values).float()  # [B, a, r]
        verses = cells.expand(self._verses, *cells.shape)  # [V, B, a, r]
        if self.convolution is not None:
            verses = self.convolution(verses.flatten(1, 2)).view(verses.shape)
        if self.dense is not None:
            verses = self.dense(verses.flatten(2)).view(verses.shape)
        sequence = verses.permute(1, 2, 0, 3).flatten(2)  # [B, a, V r]
        for lstm in self.lstms:
            sequence = lstm(sequence)  # [B, a, 2 V r]
        found = torch.log_softmax(self.termination(sequence), 2)
        return ModelOutput(found[None, ..., 1:])


@registered("neural/multiverse")
@dataclass(frozen=True)
class MultiverseConfig(ModelConfig):
    """The sizes of a Multiverse; by default the paper's M12."""

    network = Multiverse

    verses: int = 12
    """parallel verses V"""
    convolution: bool = True
    """whether verses begin with the convolution"""
    dense: bool = True
    """whether they have the dense layer"""
    lstms: int = 2
    """bidirectional LSTMs of a verse, one after the other"""


@registered("neural/multiverse-training")
@dataclass(frozen=True, kw_only=True)
class MultiverseTraining(SupervisedConfig):
    """Train a Multiverse on 4x4 puzzles; an iteration is an epoch."""

    run: Path = Path("runs/multiverse")
    iterations: int = 22
    """most iterations; an iteration is an epoch"""
    cells: Literal["blanks", "all"] = "all"
    model: MultiverseConfig = field(default_factory=MultiverseConfig)


class _Dense(nn.Module):
    """A dense layer of its own for each verse, as wide as its input."""

    def __init__(self, verses: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(verses, width, width))
        self.bias = nn.Parameter(torch.zeros(verses, 1, width))
        nn.init.uniform_(self.weight, -sqrt(3 / width), sqrt(3 / width))

    def forward(self, rows: Tensor) -> Tensor:
        """Map `[V, M, width]` to the same shape."""
        return torch.baddbmm(self.bias, rows, self.weight)


class VersesLSTM(nn.Module):
    """A bidirectional LSTM of H units for each of V verses, all of them in one.

    Args:
        verses: V.
        parts: P: 1 for a first layer, 2 where the input is that of both directions of another.
        width: H, units of each direction, and width of each part of a verse's input.

    Attributes:
        inputs: `[2, V, 4, H, P, H]`, weights of the input: direction, verse, gate (in, forget,
            cell, out), unit, part, input.
        recurrent: `[2, V, 4, H, H]`, of the state.
        bias: `[2, V, 4, H]`.
    """

    def __init__(self, verses: int, parts: int, width: int) -> None:
        super().__init__()
        self._verses = verses
        self._units = verses * width
        self.inputs = nn.Parameter(torch.empty(2, verses, 4, width, parts, width))
        self.recurrent = nn.Parameter(torch.empty(2, verses, 4, width, width))
        self.bias = nn.Parameter(torch.zeros(2, verses, 4, width))
        bound = sqrt(6 / ((parts + 4) * width))
        with torch.no_grad():
            self.inputs.uniform_(-bound, bound)
            for verse in self.recurrent.flatten(0, 1):
                nn.init.orthogonal_(verse.view(4 * width, width))
            self.bias[:, :, 1] = 1

    def forward(self, sequence: Tensor) -> Tensor:
        """Run over the cells: `[B, a, P V H]` to `[B, a, 2 V H]`, directions outside of verses."""
        same = torch.eye(self._verses, dtype=sequence.dtype, device=sequence.device)
        weights: list[Tensor] = []
        for inputs, recurrent, bias in zip(self.inputs, self.recurrent, self.bias, strict=True):
            own = torch.einsum("vghpi,vw->gvhpwi", inputs, same)
            state = torch.einsum("vghi,vw->gvhwi", recurrent, same)
            weights += [
                own.reshape(4 * self._units, -1),
                state.reshape(4 * self._units, self._units),
                bias.transpose(0, 1).flatten(),
                bias.new_zeros(4 * self._units),
            ]
        zeros = sequence.new_zeros(2, len(sequence), self._units)
        options = (True, 1, 0.0, self.training, True, True)  # biases, layers, dropout, both ways
        found: Tensor = torch.lstm(sequence, (zeros, zeros), weights, *options)[0]
        return found


main = partial(train_cli, MultiverseTraining, SupervisedLearner, "multiverse")
policy = shipped("multiverse-m12")
