"""Training on solutions: its options, and the learner of any supervised model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from sudoku_baselines.neural.model import (
    Model,
    ModelConfig,
    ModelPredictor,
    cell_loss,
    solved_boards,
)
from sudoku_baselines.neural.puzzles import PuzzlesConfig
from sudoku_curricula import curves
from sudoku_curricula.schedules import ConstantConfig
from sudoku_gym.geometry import Geometry, symmetry
from sudoku_gym.policies import PredictorPolicy
from sudoku_gym.policies.protocols import Mode
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource, Blanks, PuzzleSource
from sudoku_gym.storage.checks import check_counts, check_not_negative, check_shares
from sudoku_learning.networks.network import seeded
from sudoku_learning.recurrent import RecurrentBatch, Segment, run_updates
from sudoku_learning.training import (
    EMA,
    CurriculumConfig,
    Learner,
    LearnerState,
    Optimizer,
    OptimizerConfig,
    Progress,
    Report,
    RunGenerators,
    TrainingConfig,
)

CELL_LOSS = "losses/cell_loss"
"""Cross-entropy of the cells that count, in nats."""
HALTING_LOSS = "losses/halting_loss"
"""Binary cross-entropy of a board's being right, in nats."""


@dataclass(frozen=True, kw_only=True)
class LabelledConfig(TrainingConfig):
    """The options of every training on solutions."""

    agent: ClassVar[str] = "supervised"
    fixed: ClassVar[tuple[str, ...]] = (*TrainingConfig.fixed, "puzzles")

    puzzles: PuzzlesConfig = field(default_factory=PuzzlesConfig)
    """which puzzles are trained on"""
    curriculum: CurriculumConfig = field(default_factory=ConstantConfig)
    """the blanks of held-out games at the level, and of boards that are not trained as stored"""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ray.actors:
            raise ValueError("ray.actors: there is nothing to sample, the solutions are known")

    def build(self, geometry: Geometry) -> Any:
        """Make the network or networks, with random weights."""
        raise NotImplementedError

    def count_shown(self) -> int:
        """Return the number of puzzles whose solution the network is shown."""
        return self.puzzles.count_training(self.env)

    def held_out_source(self) -> PuzzleSource:
        """Return the puzzles kept back for validation, as `puzzles` divides them."""
        return BankSource(self.puzzles.divide(self.env).validation)


@dataclass(frozen=True, kw_only=True)
class SupervisedConfig(LabelledConfig):
    """Train a network to predict the digits of all cells."""

    fixed: ClassVar[tuple[str, ...]] = (
        *LabelledConfig.fixed,
        *("model", "updates", "cells", "as_stored", "revealed", "augment", "segments"),
        *("stay_probability", "halting_weight", "average", "optimizer"),
    )

    model: ModelConfig
    """the network"""
    updates: int | None = None
    """updates an iteration; None passes over all training puzzles once: an epoch"""
    cells: Literal["blanks", "all"] = "blanks"
    """the cells whose digits count in the loss"""
    as_stored: float = 1.0
    """share of the boards that are trained as stored; the others have as many blanks as the
    curriculum says"""
    revealed: float = 0.0
    """share of the boards that get some cells of the solution, any number of them: what playing
    one digit after the other will meet"""
    augment: bool = False
    """move each board by a random symmetry"""
    segments: int = 1
    """updates that a board stays for; a recurrent model goes on from its last state each time"""
    stay_probability: float = 0.5
    """chance that a solved board stays for another segment; of a network that halts, a board on
    which it does"""
    halting_weight: float = 0.5
    """weight of the halting loss beside that of the digits, for a network that halts; 0 replaces
    boards once they are solved"""
    average: float = 0.0
    """share of the moving average of the weights that an update keeps, e.g. 0.999: the average is
    what plays; 0 plays the weights themselves"""
    optimizer: OptimizerConfig = field(default_factory=lambda: OptimizerConfig(1e-3, 32))
    """Adam"""
    mode: Mode = "one-shot"
    """how held-out games are played: all blanks at once, the surest cell first, or any"""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_counts(self, "updates", "segments")
        check_shares(self, "as_stored", "revealed", "stay_probability", "average")
        if self.average == 1:
            raise ValueError("average must lie in [0, 1), for 1 would keep the first weights")
        check_not_negative(self, "halting_weight")

    def build(self, geometry: Geometry) -> Model:
        """Make the model, with random weights."""
        return self.model.build(geometry)


class BoardSampler:
    """Draws boards with their solutions, as the configuration says.

    Every puzzle comes once before any comes again, in a random order. `blanks`, `{number: weight}`,
    are those of the boards that are not trained as stored.
    """

    def __init__(
        self,
        puzzle_set: PuzzleSet,
        config: SupervisedConfig,
        blanks: Mapping[int, float],
        rng: np.random.Generator,
    ) -> None:
        self._puzzles = puzzle_set
        self._config = config
        self._levels = np.array(list(blanks), np.int64)
        weights = np.array(list(blanks.values()), np.float64)
        self._weights = weights / weights.sum()
        self._rng = rng
        self._order = np.empty(0, np.int64)

    def draw(self, count: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Return the next boards and their solutions, int8 `[count, N, N]` each."""
        while len(self._order) < count:
            more = self._rng.permutation(len(self._puzzles))
            self._order = np.concatenate([self._order, more])
        rows, self._order = self._order[:count], self._order[count:]
        boards, solutions = self._puzzles.puzzles[rows], self._puzzles.solutions[rows]
        boards = self._reveal(boards, solutions)
        if not self._config.augment:
            return boards, solutions
        moved = symmetry.sample(self._puzzles.geometry, count, self._rng)
        return moved.apply(boards), moved.apply(solutions)

    def _reveal(self, boards: NDArray[np.int8], solutions: NDArray[np.int8]) -> NDArray[np.int8]:
        """Fill in random blanks of some boards; each keeps one at least."""
        config, rng, count = self._config, self._rng, len(boards)
        if config.as_stored == 1 and not config.revealed:
            return boards
        blanks = (boards == 0).sum((1, 2))
        levels = rng.choice(self._levels, count, p=self._weights)
        left = np.where(rng.random(count) < config.as_stored, blanks, levels)
        some = 1 + (rng.random(count) * blanks).astype(np.int64)
        left = np.where(rng.random(count) < config.revealed, some, left)
        keys = np.where(boards == 0, rng.random(boards.shape), 2.0).reshape(count, -1)
        rank = keys.argsort(1).argsort(1).reshape(boards.shape)
        hidden = (boards == 0) & (rank < left[:, None, None])
        return np.where(hidden, np.int8(0), solutions)


class ModelBatch(RecurrentBatch):
    """Boards from a sampler that a model is trained on; `rng` draws which solved boards stay."""

    def __init__(
        self,
        model: Model,
        sampler: BoardSampler,
        config: SupervisedConfig,
        rng: np.random.Generator,
    ) -> None:
        count = config.optimizer.batch_size
        stay_probability = config.stay_probability if config.segments > 1 else None
        super().__init__(count, config.segments, stay_probability, rng)
        self._model = model
        self._sampler = sampler
        self._all_cells = config.cells == "all"
        self._halting_weight = config.halting_weight
        self._boards, self._solutions = sampler.draw(count)

    def run_segment(self) -> Segment:
        """Run the model; the metrics are the loss and the share of solved boards."""
        boards, solutions = torch.from_numpy(self._boards), torch.from_numpy(self._solutions)
        output = self._model(boards, self._stacked_states())
        counts = (boards == 0) | self._all_cells
        loss = cell_loss(output.log_probabilities, solutions, counts)
        log_probabilities = output.log_probabilities.detach()
        is_solved = solved_boards(log_probabilities, solutions, counts)  # [R, B]
        states = [None] * len(self) if output.state is None else output.state
        metrics = {"loss": loss.item(), "solved": float(is_solved[-1].float().mean())}
        is_done = is_solved[-1]
        if output.halting is not None and self._halting_weight:
            targets = is_solved.float()
            halting = functional.binary_cross_entropy_with_logits(output.halting, targets)
            loss = loss + self._halting_weight * halting
            metrics["halting_loss"] = halting.item()
            is_done = output.halting[-1].detach() > 0
        return Segment(loss, log_probabilities[-1].numpy(), is_done.numpy(), states, metrics)

    def replace(
        self, rows: NDArray[np.int64], outputs: NDArray[np.float32], is_solved: NDArray[np.bool_]
    ) -> None:
        """Draw new boards."""
        self._boards[rows], self._solutions[rows] = self._sampler.draw(len(rows))

    def _stacked_states(self) -> Tensor | None:
        first = self._model.initial_state(1)
        if first is None:
            return None
        return torch.stack([first[0] if state is None else state for state in self.states])


class SupervisedLearner(Learner):
    """Trains a `model` on solutions."""

    def __init__(self, config: SupervisedConfig, random: RunGenerators) -> None:
        self.config = config
        self._train = config.puzzles.divide(config.env).train
        make = partial(config.build, self._train.geometry)
        self.model = seeded(int(random.numpy.integers(2**32)), make).eval()
        self.optimizer = Optimizer(self.model, config.optimizer)
        self._kept: Optimizer | EMA[Model] = self.optimizer
        if config.average:
            self._kept = EMA(self.model, self.optimizer, config.average)

    def learn(self, blanks: Blanks, random: RunGenerators, progress: Progress) -> Report:
        """Update the model on boards of the training puzzles."""
        assert isinstance(blanks, Mapping)
        config, rng = self.config, random.numpy
        self.optimizer.schedule(progress.share)
        levels = {int(n): w for n, w in blanks.items()}
        sampler = BoardSampler(self._train, config, levels, rng)
        batch = ModelBatch(self.model, sampler, config, rng)
        updates = config.updates or -(-len(self._train) // len(batch))
        means = run_updates(self.model, self.optimizer, [batch] * updates)
        measured = {
            CELL_LOSS: means["loss"],
            curves.TRAINING_COMPLETION: means["solved"],
            curves.LEARNING_RATE: self.optimizer.learning_rate,
        }
        if "halting_loss" in means:
            measured[HALTING_LOSS] = means["halting_loss"]
        return Report(
            steps=updates * len(batch),
            curves=measured,
            columns={"loss": f"{means['loss']:.3f}", "solved": f"{means['solved']:.1%}"},
        )

    def policy(self) -> PredictorPolicy:
        """Return the policy that plays what the model predicts."""
        model = self._kept.network if isinstance(self._kept, EMA) else self.model
        return PredictorPolicy(ModelPredictor(model), self.config.mode)

    def state(self) -> LearnerState:
        """Return weights and optimizer, and the average of the weights if there is one."""
        return self._kept.state()

    def restore(self, state: LearnerState) -> None:
        """Restore the state of a learner with the same configuration."""
        self._kept.restore(state)
