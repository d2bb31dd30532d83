"""Tiny recursion: one small network that refines a latent state and an output, cell by cell.

Paper: Jolicoeur-Martineau, "Less is more: recursive reasoning with tiny networks" (2025). A cycle
updates the latent state z several times from x + y + z (x the board, y the output), then y once
from y + z, by the same network. Only the last of several cycles has a gradient. Then y is decoded
and has its loss, a second head is trained to tell whether the board is right, and the next segment
goes on from y and z without their gradient (deep supervision). In training a board is replaced
where that head says right (halting); play runs all rounds. The weights that play are a moving
average, and boards are moved by symmetries.

Differences from the paper: it is far smaller; perceptrons without gates; the second head reads the
mean of y over the cells, in place of a token of its own; a board that has halted stays for another
segment by a probability, in place of a drawn number of segments at least; symmetries are drawn
anew each time, in place of a thousand copies of a puzzle; plain softmax, no weight decay.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
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
from sudoku_learning.training import EnvId, OptimizerConfig, train_cli

_FIRST_HALTING = -5.0  # logit at first: it halts nowhere


class TinyRecursion(Model):
    """The network of this module."""

    is_recurrent = True
    first_state: Tensor

    def __init__(self, config: TinyRecursionConfig, geometry: Geometry) -> None:
        super().__init__(geometry)
        width, cells = config.width, geometry.num_cells
        self.rounds = config.rounds
        self._latent_updates, self._cycles = config.latent_updates, config.cycles
        self.digit = nn.Embedding(geometry.size + 1, width)
        self.updates = nn.ModuleList(
            nn.Sequential(*(_Mixing(cells, width) for _ in range(config.layers)))
            for _ in range(config.networks)
        )
        self.digits = nn.Linear(width, geometry.size)
        self.halting = nn.Linear(width, 1)
        nn.init.zeros_(self.halting.weight)
        nn.init.constant_(self.halting.bias, _FIRST_HALTING)
        self.register_buffer("first_state", torch.randn(2, 1, width))

    def forward(self, boards: Tensor, state: Tensor | None = None) -> ModelOutput:
        """See `Model`; in training one round, else `rounds` of them."""
        cells = self.digit(boards.flatten(1).long())
        state = self.initial_state(len(boards)) if state is None else state
        found: list[Tensor] = []
        halting: list[Tensor] = []
        for _ in range(1 if self.training else self.rounds):
            with torch.no_grad():
                for _ in range(self._cycles - 1):
                    state = self._cycle(cells, state)
            state = self._cycle(cells, state)
            output = state[:, 0]  # [B, N**2, W]
            if not self.training:
                found.clear()  # only the last is asked for
                halting.clear()
            found.append(torch.log_softmax(self.digits(output), 2))
            halting.append(self.halting(output.mean(1))[:, 0])
            state = state.detach()
        return ModelOutput(torch.stack(found), state, torch.stack(halting))

    def initial_state(self, count: int) -> Tensor:
        """Return the first output and latent state, float32 `[count, 2, N**2, W]`."""
        return self.first_state.expand(count, 2, self.geometry.num_cells, -1).clone()

    def _cycle(self, cells: Tensor, state: Tensor) -> Tensor:
        output, latent = state.unbind(1)
        for _ in range(self._latent_updates):
            latent = self.updates[0](cells + output + latent)
        return torch.stack([self.updates[-1](output + latent), latent], 1)


@registered("neural/tiny-recursion")
@dataclass(frozen=True)
class TinyRecursionConfig(ModelConfig):
    """The sizes of a tiny recursive model."""

    network = TinyRecursion

    width: int = 64
    """width of a cell's vectors"""
    layers: int = 1
    """mixing layers of a network; 2 in the paper"""
    latent_updates: int = 6
    """updates of the latent state in a cycle; n in the paper"""
    cycles: int = 3
    """cycles in a round, of which the last has a gradient; T in the paper"""
    rounds: int = 16
    """rounds in play, each from where the last one stopped"""
    networks: Literal[1, 2] = 1
    """1 updates both latent state and output; 2 are one each, as in the hierarchical model that
    came before"""


@registered("neural/tiny-recursion-training")
@dataclass(frozen=True, kw_only=True)
class TinyRecursionTraining(SupervisedConfig):
    """Train a tiny recursive model."""

    env: EnvId = "Sudoku9x9-v0"
    run: Path = Path("runs/tiny-recursion")
    updates: int | None = 200
    cells: Literal["blanks", "all"] = "all"
    revealed: float = 0.3
    augment: bool = True
    segments: int = 16
    stay_probability: float = 0.1
    average: float = 0.999
    validation_games: int = 128
    optimizer: OptimizerConfig = field(
        default_factory=lambda: OptimizerConfig(1e-3, 64, constant_share=0.4)
    )
    model: TinyRecursionConfig = field(default_factory=TinyRecursionConfig)


class _Mixing(nn.Module):
    """A perceptron across the cells, then one across the channels, each added and normed."""

    def __init__(self, cells: int, width: int) -> None:
        super().__init__()
        self.cells = nn.Sequential(nn.Linear(cells, cells), nn.SiLU(), nn.Linear(cells, cells))
        self.channels = nn.Sequential(
            nn.Linear(width, 2 * width), nn.SiLU(), nn.Linear(2 * width, width)
        )

    def forward(self, states: Tensor) -> Tensor:
        states = _norm(states + self.cells(states.transpose(1, 2)).transpose(1, 2))
        return _norm(states + self.channels(states))


def _norm(states: Tensor) -> Tensor:
    return functional.rms_norm(states, states.shape[-1:])


main = partial(train_cli, TinyRecursionTraining, SupervisedLearner, "tiny-recursion")
policy = shipped("tiny-recursion")
