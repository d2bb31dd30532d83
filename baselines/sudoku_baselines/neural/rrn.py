"""The recurrent relational network: cells that share a unit send each other messages.

Paper: Palm, Paquet and Winther, "Recurrent relational networks" (2018), section 3.3: a cell reads
its digit, row and column by a perceptron; in every step each pair of cells in a common unit sends a
message, a perceptron of both states; an LSTM takes in a cell's sum of messages; and a linear map
gives its digits, with a loss after every step. Theirs has 96 channels, 3 hidden layers, 32 steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor, nn

from sudoku_baselines.neural.learner import SupervisedConfig, SupervisedLearner
from sudoku_baselines.neural.model import Model, ModelConfig, ModelOutput, perceptron
from sudoku_baselines.neural.policies import shipped
from sudoku_gym.geometry import Geometry
from sudoku_gym.storage.configs import registered
from sudoku_learning.training import EnvId, OptimizerConfig, train_cli

_EMBEDDING = 16  # width of a digit, a row and a column each


class RRN(Model):
    """The network of this module."""

    is_recurrent = True
    sees = "constraints"
    peers: Tensor
    is_peer: Tensor

    def __init__(self, config: RRNModelConfig, geometry: Geometry) -> None:
        super().__init__(geometry)
        width, layers, size = config.channels, config.hidden_layers, geometry.size
        self.rounds = config.rounds
        self._training_rounds = config.training_rounds or config.rounds
        self.digit = nn.Embedding(size + 1, _EMBEDDING)
        self.row = nn.Embedding(size, _EMBEDDING)
        self.column = nn.Embedding(size, _EMBEDDING)
        self.read = perceptron(3 * _EMBEDDING, *layers * [width], width)
        # The first layer of a message, on both states, is a sum of one on each.
        self.receiver = nn.Linear(width, width)
        self.sender = nn.Linear(width, width, bias=False)
        hidden = [part for _ in range(layers - 1) for part in (nn.ReLU(), nn.Linear(width, width))]
        self.message = nn.Sequential(*hidden, nn.ReLU())
        self.gather = nn.Linear(width, width, bias=False)  # linear, so it may follow the sum
        self.mix = perceptron(2 * width, *layers * [width], width)
        self.cell = nn.LSTMCell(width, width)
        self.digits = nn.Linear(width, size)
        peers = torch.from_numpy(geometry.peers.astype("int64"))
        self.register_buffer("peers", peers, persistent=False)
        own = torch.arange(geometry.num_cells, device="cpu")[:, None]
        self.register_buffer("is_peer", (peers != own)[..., None], persistent=False)

    def forward(self, boards: Tensor, state: Tensor | None = None) -> ModelOutput:
        """See `Model`; the state is that of the LSTM, relative to the first."""
        line = torch.arange(boards.shape[1], device=boards.device)
        parts = self.digit(boards.long()), self.row(line)[:, None], self.column(line)
        joined = torch.cat([part.expand_as(parts[0]) for part in parts], 3)
        cells = self.read(joined).flatten(1, 2)  # [B, C, H]
        state = self.initial_state(len(boards)) if state is None else state
        states, inner = cells + state[:, 0], state[:, 1]
        found: list[Tensor] = []
        for _ in range(self._training_rounds if self.training else self.rounds):
            received = self.receiver(states)[:, :, None]
            sent = self.sender(states)[:, self.peers]  # [B, C, P, H]
            messages = self.message(received + sent) * self.is_peer
            inputs = self.mix(torch.cat([cells, self.gather(messages.sum(2))], 2)).flatten(0, 1)
            following = self.cell(inputs, (states.flatten(0, 1), inner.flatten(0, 1)))
            states, inner = (part.view(cells.shape) for part in following)
            if not self.training:
                found.clear()  # only the last is asked for
            found.append(torch.log_softmax(self.digits(states), 2))
        return ModelOutput(torch.stack(found), torch.stack([states - cells, inner], 1).detach())

    def initial_state(self, count: int) -> Tensor:
        """Return the state of new boards, float32 `[count, 2, N**2, H]`."""
        shape = count, 2, self.geometry.num_cells, self.digits.in_features
        return self.digits.weight.new_zeros(shape)


@registered("neural/rrn")
@dataclass(frozen=True)
class RRNModelConfig(ModelConfig):
    """The sizes of a recurrent relational network."""

    network = RRN

    channels: int = 32
    """width H of states and messages; 96 in the paper"""
    hidden_layers: int = 2
    """hidden layers of the perceptrons; 3 in the paper"""
    rounds: int = 16
    """steps of messages; 32 in the paper"""
    training_rounds: int | None = None
    """steps in an update of training, if fewer: with `segments` the next one goes on from there"""


@registered("neural/rrn-training")
@dataclass(frozen=True, kw_only=True)
class RRNTraining(SupervisedConfig):
    """Train a recurrent relational network."""

    env: EnvId = "Sudoku9x9-v0"
    run: Path = Path("runs/rrn")
    updates: int | None = 100
    cells: Literal["blanks", "all"] = "all"
    revealed: float = 0.5
    augment: bool = True
    validation_games: int = 128
    optimizer: OptimizerConfig = field(
        default_factory=lambda: OptimizerConfig(1e-3, 32, constant_share=0.4)
    )
    model: RRNModelConfig = field(default_factory=RRNModelConfig)


main = partial(train_cli, RRNTraining, SupervisedLearner, "rrn")
policy = shipped("rrn")
policy_9x9 = shipped("rrn-9x9")
