"""Supervised training of any model on the shared loop."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import torch
from torch import Tensor

from sudoku_baselines.neural.config import SupervisedConfig
from sudoku_baselines.neural.drawing import Drawing
from sudoku_baselines.neural.model import ModelPredictor, cell_loss
from sudoku_curricula import curves
from sudoku_gym.policies import PredictorPolicy
from sudoku_gym.puzzles.sources import Blanks
from sudoku_learning.networks.network import seeded
from sudoku_learning.training import Optimiser, Progress, Random, Report, State
from sudoku_learning.training.optimiser import falling_rate

CELL_LOSS = "losses/cell_loss"  # cross entropy of the cells that count, nats
READ = "curriculum/read"  # share of the trained boards whose cells are all read right


class SupervisedLearner:
    """Trains a model on solutions; a `sudoku_learning.training.Learner`.

    Args:
        config: the run's.
        random: draws the first weights.

    Attributes:
        model: the network under training.
    """

    metrics: tuple[str, ...] = ()

    def __init__(self, config: SupervisedConfig, random: Random) -> None:
        self.config = config
        self._train = config.puzzles.divide(config.env).train
        make = partial(config.model.build, self._train.geometry)
        self.model = seeded(int(random.numpy.integers(2**32)), make).eval()
        self.optimiser = Optimiser(self.model, config.learning_rate, config.max_gradient_norm)

    def start(self) -> None:
        """Do nothing: everything is here."""

    def close(self) -> None:
        """Do nothing: nothing was taken."""

    def learn(self, blanks: Blanks, random: Random, progress: Progress) -> Report:
        """Update the model on boards of the training puzzles."""
        assert isinstance(blanks, Mapping)
        config = self.config
        rate = config.learning_rate * falling_rate(progress.share, config.constant_share)
        self.optimiser.learning_rate = rate
        drawing = Drawing(self._train, config, {int(n): w for n, w in blanks.items()}, random.numpy)
        updates = config.updates or -(-len(self._train) // config.boards)
        loss, read = self._update(drawing, updates, random.numpy)
        return Report(
            steps=updates * config.boards,
            curves={CELL_LOSS: loss, READ: read, curves.LEARNING_RATE: rate},
            columns={"loss": f"{loss:.3f}", "read": f"{read:.1%}"},
        )

    def policy(self) -> PredictorPolicy:
        """Return the policy that plays what the model predicts."""
        return PredictorPolicy(ModelPredictor(self.model), self.config.mode)

    def state(self) -> State:
        """Return weights and optimiser."""
        return self.optimiser.state()

    def restore(self, state: State) -> None:
        """Continue from a state of an equal learner."""
        self.optimiser.restore(state)

    def _update(
        self, drawing: Drawing, updates: int, rng: np.random.Generator
    ) -> tuple[float, float]:
        """Do the updates; return the mean loss, and the share of boards read right."""
        config, count = self.config, self.config.boards
        boards, solutions = drawing.draw(count)
        memory = self.model.first_memory(count)
        age = np.zeros(count, np.int64)
        losses = read = 0.0
        self.model.train()
        for _ in range(updates):
            answer = self.model(torch.from_numpy(boards), memory)
            wanted = torch.from_numpy(solutions)
            counts = torch.from_numpy((boards == 0) | (config.cells == "all"))
            loss = cell_loss(answer.log_probabilities, wanted, counts)
            self.optimiser.step(loss)
            is_read = _is_read(answer.log_probabilities, wanted, counts).numpy()
            losses += loss.item()
            read += is_read.mean()
            age += 1
            is_done = age >= config.segments
            if config.segments > 1:
                is_done |= is_read & (rng.random(count) >= config.linger)
            rows = np.flatnonzero(is_done)
            if not len(rows):
                memory = answer.memory
                continue
            boards[rows], solutions[rows] = drawing.draw(len(rows))
            age[rows] = 0
            memory = answer.memory
            if memory is not None:
                memory[rows] = self.model.first_memory(len(rows))
        self.model.eval()
        return losses / updates, read / updates


def _is_read(log_probabilities: Tensor, solutions: Tensor, counts: Tensor) -> Tensor:
    """Return the boards whose likeliest digits are all right in the last round, bool `[B]`."""
    digits = log_probabilities[-1].argmax(2) + 1
    return ((digits == solutions.flatten(1)) | ~counts.flatten(1)).all(1)
