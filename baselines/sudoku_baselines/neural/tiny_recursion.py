"""Tiny recursion: two small networks that refine a thought and an answer.

Paper: Jolicoeur-Martineau, "Less is more: recursive reasoning with tiny networks" (2025). The
board x, an answer y and a thought z have a vector for each cell. The thought is renewed several
times from x + y + z, then the answer once from y + z: a cycle. Of several cycles only the last has
a gradient. Then the answer is read and has its loss, y and z are kept without their gradient, and
the next update goes on from there (deep supervision).

Differences from theirs: thought and answer have a network each (as in the hierarchical model before
it) where theirs share one; a board is done when it is read right, in place of a learned halting; no
moving average of the weights; and it is far smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from sudoku_baselines.neural.config import SupervisedConfig
from sudoku_baselines.neural.learner import SupervisedLearner
from sudoku_baselines.neural.model import Answer, Model
from sudoku_gym.geometry import Geometry
from sudoku_gym.storage.configs import registered
from sudoku_learning.training import OptimiserConfig, train_from_the_command_line


@registered("neural/tiny-recursion")
@dataclass(frozen=True)
class TinyRecursionConfig:
    """The sizes of a tiny recursive model."""

    width: int = 64
    """width of a cell's vectors"""
    layers: int = 1
    """mixing layers of each of the two networks; 2 in the paper"""
    thoughts: int = 6
    """renewals of the thought in a cycle"""
    cycles: int = 3
    """cycles before the answer is read; the last has a gradient"""
    rounds: int = 16
    """readings of the answer in play, each from where the last one stopped"""

    def __post_init__(self) -> None:
        """Check the values."""
        for name in ("width", "layers", "thoughts", "cycles", "rounds"):
            if not 1 <= getattr(self, name) <= 10_000:
                raise ValueError(f"{name} must lie in 1 to 10,000, not {getattr(self, name)}")

    def build(self, geometry: Geometry) -> TinyRecursion:
        """Make the model, for boards of that size."""
        return TinyRecursion(self, geometry)


@registered("neural/tiny-recursion-training")
@dataclass(frozen=True, kw_only=True)
class TinyRecursionTraining(SupervisedConfig):
    """Train a tiny recursive model."""

    env: str = "Sudoku9x9-v0"
    """id of the environment; training draws from its training puzzles only"""
    run: Path = Path("runs/tiny-recursion")
    """folder for checkpoints and curves"""
    updates: int | None = 200
    """updates an iteration; None passes over all training puzzles once: an epoch"""
    cells: Literal["blanks", "all"] = "all"
    """the cells whose digits count in the loss"""
    revealed: float = 0.3
    """share of the boards that get some cells of the solution, any number of them"""
    augment: bool = True
    """move each board by a random symmetry"""
    segments: int = 16
    """updates that a board stays for, each from where the last one stopped"""
    stay_probability: float = 0.1
    """chance that a solved board stays for another segment"""
    validation_games: int = 128
    """greedy games on held-out puzzles, at the level and on puzzles as stored each"""
    optimiser: OptimiserConfig = field(
        default_factory=lambda: OptimiserConfig(1e-3, 64, constant_share=0.4)
    )
    """Adam"""
    model: TinyRecursionConfig = field(default_factory=TinyRecursionConfig)
    """the network"""


class TinyRecursion(Model):
    """See the module."""

    is_recurrent = True
    beginning: Tensor

    def __init__(self, config: TinyRecursionConfig, geometry: Geometry) -> None:
        super().__init__(geometry)
        width, cells = config.width, geometry.num_cells
        self.rounds = config.rounds
        self._thoughts, self._cycles = config.thoughts, config.cycles
        self.digit = nn.Embedding(geometry.size + 1, width)
        self.think, self.answer = (
            nn.Sequential(*(_Mixing(cells, width) for _ in range(config.layers))) for _ in range(2)
        )
        self.digits = nn.Linear(width, geometry.size)
        self.register_buffer("beginning", torch.randn(2, 1, width))

    def forward(self, boards: Tensor, memory: Tensor | None = None) -> Answer:
        """Answer for boards, see `Model`; in training one reading, else `rounds` of them."""
        board = self.digit(boards.flatten(1).long())
        memory = self.first_memory(len(boards)) if memory is None else memory
        found = []
        for _ in range(1 if self.training else self.rounds):
            with torch.no_grad():
                for _ in range(self._cycles - 1):
                    memory = self._cycle(board, memory)
            memory = self._cycle(board, memory)
            found.append(torch.log_softmax(self.digits(memory[:, 0]), 2))
            memory = memory.detach()
        return Answer(torch.stack(found), memory)

    def first_memory(self, count: int) -> Tensor:
        """Return answer and thought of boards that begin anew, float32 `[count, 2, N**2, W]`."""
        return self.beginning.expand(count, 2, self.geometry.num_cells, -1).clone()

    def _cycle(self, board: Tensor, memory: Tensor) -> Tensor:
        answer, thought = memory.unbind(1)
        for _ in range(self._thoughts):
            thought = self.think(board + answer + thought)
        return torch.stack([self.answer(answer + thought), thought], 1)


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


def main(argv: Sequence[str] | None = None) -> int:
    """Train from the command line, see `TinyRecursionTraining`; return 0, for the shell."""
    return train_from_the_command_line(
        TinyRecursionTraining, SupervisedLearner, "tiny-recursion", argv
    )
