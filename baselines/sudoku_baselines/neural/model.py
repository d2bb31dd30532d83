"""The interface of the supervised networks: boards in, the probability of each digit out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import ModelCard
from sudoku_learning.networks import chunks
from sudoku_learning.networks.mlp import check_size
from sudoku_learning.networks.network import count_weights


class ModelOutput(NamedTuple):
    """The output for B boards."""

    log_probabilities: Tensor
    """float32 `[R, B, N**2, N]`, of the digits of each cell, after each of R rounds; where it
    is not training, after the last alone: R = 1"""
    state: Tensor | None = None
    """float32 `[B, ...]`, the recurrent state at the end, without a gradient; None for no state"""
    halting: Tensor | None = None
    """float32 `[R, B]`, logits that all digits after each round are right: where they are positive
    the network halts; None for a network that never does"""


class Model(nn.Module, ABC):
    """A network for boards of one geometry.

    A recurrent model runs `rounds` when it is not training; others ignore them. What it `sees`
    tells `sudoku_gym.policies.ModelCard`.
    """

    is_recurrent: ClassVar[bool] = False
    sees: ClassVar[Literal["grid", "constraints"]] = "grid"

    def __init__(self, geometry: Geometry) -> None:
        super().__init__()
        self.geometry = geometry
        self.rounds = 1

    @abstractmethod
    def forward(self, boards: Tensor, state: Tensor | None = None) -> ModelOutput:
        """Predict the digits of boards int8 `[B, N, N]`, 0 = blank.

        `state` is that of an earlier call, None a new one; models without one ignore it.
        """

    def initial_state(self, count: int) -> Tensor | None:
        """Return the recurrent state of `count` new boards; None if the model has none."""
        return None


def perceptron(*widths: int) -> nn.Sequential:
    """Return linear maps from each width to the next, with ReLU between them."""
    parts = [part for pair in pairwise(widths) for part in (nn.Linear(*pair), nn.ReLU())]
    return nn.Sequential(*parts[:-1])


@dataclass(frozen=True)
class ModelConfig:
    """The sizes of a model; those of one kind are a dataclass registered in `storage.configs`."""

    network: ClassVar[Any]
    """the class of the model, made of the configuration and a geometry"""

    def build(self, geometry: Geometry) -> Model:
        """Make the model, for boards of that geometry."""
        model: Model = self.network(self, geometry)
        return model


class ModelPredictor:
    """A model, put in evaluation mode, as a `sudoku_gym.policies.Predictor`.

    Args:
        model: the model.
        solutions: different puzzles whose solution it was shown in training.
    """

    def __init__(self, model: Model, solutions: int = 0) -> None:
        self.model = model.eval()
        self.solutions = solutions

    @property
    def model_card(self) -> ModelCard:
        """What stands beside its figures."""
        return ModelCard(self.model.sees, count_weights(self.model), self.solutions, "one shot")

    def predict(self, boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.floating[Any]]:
        """Return the log-probability of each digit, float32 `[B, N, N, N]`.

        Raises:
            ValueError: if the boards are of another size than the model's.
        """
        check_size(geometry, self.model.geometry)
        boards = board.as_boards(boards, geometry)
        found = np.empty((len(boards), *3 * (geometry.size,)), np.float32)
        with torch.inference_mode():
            for part in chunks(len(boards)):
                last = self.model(torch.from_numpy(boards[part])).log_probabilities[-1]
                found[part] = last.view(found[part].shape).numpy()
        return found


def cell_loss(log_probabilities: Tensor, solutions: Tensor, counts: Tensor) -> Tensor:
    """Return the cross entropy of the solutions' digits, nats a cell, averaged over the rounds.

    `log_probabilities` are float32 `[R, B, N**2, N]`, `solutions` int8 and `counts` bool
    `[B, N, N]`: the cells that count, at least one.
    """
    digits = solutions.flatten(1).long() - 1
    wanted = digits[None, :, :, None].expand(len(log_probabilities), -1, -1, 1)
    losses = -log_probabilities.gather(3, wanted)[..., 0]
    return losses[:, counts.flatten(1)].mean()


def solved_boards(log_probabilities: Tensor, solutions: Tensor, counts: Tensor) -> Tensor:
    """Return after which rounds all digits that count are right, bool `[R, B]`.

    The arguments are those of `cell_loss`.
    """
    is_right = log_probabilities.argmax(3) + 1 == solutions.flatten(1)
    return (is_right | ~counts.flatten(1)).all(2)
