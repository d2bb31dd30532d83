"""Training of Guissart's networks: positions on the way to a solution, thresholds, trials.

Source: Guissart, sections 4 to 6 and algorithm 1. An iteration is an epoch of one network: first of
each network that fills, in turn (each starts where those before it stop: boosting), then of the one
that proposes trials. The differences from the source are in docs/results/neural.md;
`as_printed` leaves them out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from sudoku_baselines.neural.guissart.network import SymmetricNetwork
from sudoku_baselines.neural.guissart.solver import (
    FillingPredictor,
    GuissartNetworks,
    States,
    fill,
    is_full,
    probe_both_ways,
    solution_states,
    states_of,
)
from sudoku_baselines.neural.learner import LabelledConfig
from sudoku_curricula import curves
from sudoku_curricula.schedules import ConstantConfig
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import PredictorPolicy
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import Blanks
from sudoku_gym.storage.checks import check_counts, check_shares
from sudoku_gym.storage.configs import registered
from sudoku_learning.networks.network import seeded
from sudoku_learning.training import (
    CurriculumConfig,
    EnvId,
    Learner,
    LearnerState,
    Optimizer,
    OptimizerConfig,
    Progress,
    Report,
    RunGenerators,
    train_cli,
)

MARK_LOSS = "losses/mark_loss"
"""Binary cross-entropy of the unknown states."""
CERTAINTY_WEIGHT = 10.0  # in the loss
MAX_PASSES = 20  # over the validation puzzles


@registered("neural/guissart-training")
@dataclass(frozen=True, kw_only=True)
class GuissartTraining(LabelledConfig):
    """Train networks of some five hundred weights to fill what is certain; any geometry."""

    agent: ClassVar[str] = "guissart"
    fixed: ClassVar[tuple[str, ...]] = (
        *LabelledConfig.fixed,
        *("grids", "fillers", "epochs", "hidden", "updates"),
        *("placements", "trials", "revealed", "as_printed", "optimizer"),
    )

    env: EnvId = "Sudoku9x9-v0"
    run: Path = Path("runs/guissart")
    iterations: int = 30
    """most iterations: `epochs` of each network that fills, the rest of the one that proposes"""
    grids: int = 1280
    """puzzles to train on, and as many to validate the thresholds with"""
    fillers: int = 2
    """networks that fill: the first, and those that boost it"""
    epochs: int = 12
    """iterations of each of them"""
    hidden: int = 16
    """hidden units of a network"""
    updates: int = 4
    """of a network that fills, at each position of a batch"""
    placements: int = 2048
    """unknown placements of them in the loss, drawn anew for each update"""
    trials: int = 8
    """random placements tried on each puzzle, one after the other, where filling stops"""
    revealed: float = 0.5
    """share of the boards that begin with more cells of the solution, any share of them: where
    filling stops early, nothing else shows what comes later"""
    as_printed: bool = False
    """plain sums as features, cross-entropy alone, thresholds that last from batch to batch and are
    fitted in one pass after each epoch (algorithm 1), and no cell revealed"""
    optimizer: OptimizerConfig = field(
        default_factory=lambda: OptimizerConfig(2e-2, constant_share=0.3)
    )
    """Adam; the learning rate falls in each network's iterations"""
    validation_games: int = 256
    checkpoint_every: int = 1
    curriculum: CurriculumConfig = field(default_factory=ConstantConfig)
    """the blanks of held-out games at the level; training has the puzzles as stored"""

    def __post_init__(self) -> None:
        super().__post_init__()
        counts = ("grids", "fillers", "epochs", "hidden", "updates", "placements", "trials")
        check_counts(self, *counts)
        check_shares(self, "revealed")
        if self.iterations <= self.fillers * self.epochs:
            raise ValueError(
                f"iterations={self.iterations} leaves none for the network that proposes trials: "
                f"fillers={self.fillers} with epochs={self.epochs} each come first"
            )

    def count_shown(self) -> int:
        """Return the number of puzzles whose solution is shown, for the thresholds too."""
        parts = self.puzzles.divide(self.env)
        return sum(min(self.grids, len(part)) for part in (parts.train, parts.validation))

    def build(self, geometry: Geometry) -> GuissartNetworks:
        """Make the networks, with random weights."""
        return GuissartNetworks(geometry, self.fillers, self.hidden, self.as_printed)


class GuissartLearner(Learner):
    """Trains its `networks` one after the other."""

    def __init__(self, config: GuissartTraining, random: RunGenerators) -> None:
        self.config = config
        parts = config.puzzles.divide(config.env)
        self._geometry = parts.train.geometry
        make = partial(config.build, self._geometry)
        self.networks = seeded(int(random.numpy.integers(2**32)), make).eval()
        self.optimizer = Optimizer(self.networks, config.optimizer)
        self._train = parts.train.spread(config.grids)
        self._validation = parts.validation.spread(config.grids)
        self._begun = 1

    def learn(self, blanks: Blanks, random: RunGenerators, progress: Progress) -> Report:
        """Train one network for an epoch."""
        config = self.config
        which, epoch = divmod(progress.iteration, config.epochs)
        epochs = config.epochs
        if which >= config.fillers:
            which, epoch = config.fillers, progress.iteration - config.fillers * config.epochs
            epochs = config.iterations - config.fillers * config.epochs
        self._begun = min(which + 1, config.fillers)
        self.optimizer.schedule(epoch / epochs)
        if which < config.fillers:
            loss, positions, filled = self._epoch(which, random.numpy)
            if config.as_printed or epoch == epochs - 1:
                self._validate(which, random.numpy)
        else:
            loss, positions, filled = self._proposals(random.numpy)
        return Report(
            steps=positions,
            curves={MARK_LOSS: loss, curves.TRAINING_COMPLETION: filled},
            columns={
                "network": str(which + 1) if which < config.fillers else "trials",
                "loss": f"{loss:.3f}",
                "filled": f"{filled:.1%}",
            },
        )

    def policy(self) -> PredictorPolicy:
        """Return the policy that fills with the networks trained so far."""
        return PredictorPolicy(FillingPredictor(self.networks, self._begun), "one-shot")

    def state(self) -> LearnerState:
        """Return weights, optimizer, and how many networks fill."""
        return replace(self.optimizer.state(), numbers={"begun": self._begun})

    def restore(self, state: LearnerState) -> None:
        """Restore the state of a learner with the same configuration."""
        self.optimizer.restore(state)
        self._begun = state.numbers["begun"]

    def _epoch(self, which: int, rng: np.random.Generator) -> tuple[float, int, float]:
        """Train a network that fills; return loss, positions seen, and the share filled."""
        losses: list[float] = []
        positions = filled = 0
        network = self.networks.first(which + 1)[which]
        size = self.config.optimizer.batch_size
        for states, truth in self._batches(self._train, which, rng, size):
            if not self.config.as_printed:
                network.reset_thresholds()
            for loss, count in self._fill_and_learn(which, states, truth, rng, learning=True):
                losses.append(loss)
                positions += count
            filled += int(is_full(states).sum())
        return float(np.mean(losses or [0.0])), positions, filled / len(self._train)

    def _validate(self, which: int, rng: np.random.Generator) -> None:
        """Fit the thresholds of a network, in passes until none rises any more."""
        network = self.networks.first(which + 1)[which]
        network.reset_thresholds()
        for _ in range(1 if self.config.as_printed else MAX_PASSES):
            before = network.thresholds.clone()
            for states, truth in self._batches(self._validation, which, rng, len(self._validation)):
                self._fit(which, states, truth, rng)
            if torch.equal(network.thresholds, before):
                break
        if not self.config.as_printed:
            network.close_untested()

    def _fit(self, which: int, states: States, truth: States, rng: np.random.Generator) -> None:
        """Raise thresholds; where filling stops, a state of the solution is added."""
        for _ in range(1 if self.config.as_printed else 1 + self.config.trials):
            for _ in self._fill_and_learn(which, states, truth, rng, learning=False):
                pass
            left = _is_open(states, truth)
            states, truth = states[left], truth[left]
            if not len(states):
                break
            each, shown = np.arange(len(states)), _one_unknown(states, rng)
            known = truth.reshape(len(states), -1)[each, shown]
            states.reshape(len(states), -1)[each, shown] = known

    def _fill_and_learn(
        self, which: int, states: States, truth: States, rng: np.random.Generator, learning: bool
    ) -> Iterator[tuple[float, int]]:
        """Fill boards until nothing is added; yield the loss (0 if not learning) and B each step.

        `states` change in place and thresholds rise; earlier networks fill after each step.
        """
        *earlier, network = self.networks.first(which + 1)
        rows = np.arange(len(states))
        while len(rows):
            before, right = states[rows], truth[rows]
            yield self._update(network, before, right, rng) if learning else 0.0, len(rows)
            logits, known = torch.from_numpy(network.logits_of(before)), torch.from_numpy(before)
            network.raise_thresholds(logits, known, torch.from_numpy(right))
            following = fill(network.accept(logits, known).numpy(), earlier, self._geometry)
            has_changed = (following != before).any((1, 2))
            states[rows] = following
            rows = rows[has_changed & _is_open(following, right)]

    def _update(
        self, network: SymmetricNetwork, states: States, truth: States, rng: np.random.Generator
    ) -> float:
        """Update a network on some unknown placements, some times; return the last loss."""
        config = self.config
        unknown = np.flatnonzero(states == 0)
        seen = network.features_of(states).flatten(0, 2)
        for _ in range(config.updates):
            drawn = unknown[rng.integers(len(unknown), size=config.placements)]
            logits = network(seen[torch.from_numpy(drawn)])
            present = torch.from_numpy(truth.ravel()[drawn] > 0)
            targets = torch.stack([~present, present], 1)
            entropy = functional.binary_cross_entropy_with_logits(logits, targets.float())
            weight = 0.0 if config.as_printed else CERTAINTY_WEIGHT
            self.optimizer.step(entropy - weight * certainty(logits, targets))
        return entropy.item()

    def _proposals(self, rng: np.random.Generator) -> tuple[float, int, float]:
        """Train the network that proposes; return loss, trials, and the share that decided."""
        config, losses = self.config, []
        fillers, proposer = self.networks.first(config.fillers), self.networks.proposer
        count = decided = 0
        size = config.optimizer.batch_size
        for states, truth in self._batches(self._train, config.fillers, rng, size):
            for _ in range(config.trials):
                going_on = _is_open(states, truth)
                states, truth = states[going_on], truth[going_on]
                if not len(states):
                    break
                placements = _one_unknown(states, rng)
                found = probe_both_ways(states, placements, fillers, self._geometry)
                seen = proposer.features_of(states).flatten(1, 2)
                each = torch.arange(len(states))
                chosen = proposer(seen[each, torch.from_numpy(placements)])[:, 1]
                decides = torch.from_numpy(found.decides).float()
                loss = functional.binary_cross_entropy_with_logits(chosen, decides)
                self.optimizer.step(loss)
                losses.append(loss.item())
                count += len(states)
                decided += int(found.decides.sum())
                states = found.outcome(states)
        return float(np.mean(losses or [0.0])), count, decided / max(count, 1)

    def _batches(
        self, chosen: PuzzleSet, which: int, rng: np.random.Generator, boards: int
    ) -> Iterator[tuple[States, States]]:
        """Yield states and solution states of the puzzles that the first `which` networks leave."""
        order = rng.permutation(len(chosen))
        for start in range(0, len(order), boards):
            rows = order[start : start + boards]
            states = states_of(self._revealed(chosen, rows, rng))
            truth = solution_states(chosen.solutions[rows])
            if which:
                states = fill(states, self.networks.first(which), self._geometry)
                left = _is_open(states, truth)
                states, truth = states[left], truth[left]
            if len(states):
                yield states, truth

    def _revealed(
        self, chosen: PuzzleSet, rows: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int8]:
        """Return the boards of some puzzles, a part of them with more cells of the solution."""
        boards, solutions = chosen.puzzles[rows], chosen.solutions[rows]
        shares = rng.random((len(rows), 1, 1))
        revealed = 0.0 if self.config.as_printed else self.config.revealed
        shares *= rng.random((len(rows), 1, 1)) < revealed
        return np.where(rng.random(boards.shape) < shares, solutions, boards)


def certainty(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the share of right logits above all wrong ones, smoothed: what thresholds let through.

    The mean of sigmoid(l - log sum exp of the wrong logits) over both logits float32 `[n, 2]` of
    all placements; wrong ones, False in `targets` bool `[n, 2]`, count 0.
    """
    found = torch.zeros(())
    for answer, is_right in zip(logits.T, targets.T, strict=True):
        if not is_right.all():
            bar = answer[~is_right].logsumexp(0)
            found = found + torch.sigmoid(answer[is_right] - bar).sum()
    return found / len(logits)


def _one_unknown(states: States, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw an unknown placement of each board, int64 `[B]`."""
    keys = rng.random((len(states), states[0].size))
    return (keys * (states == 0).reshape(keys.shape)).argmax(1)


def _is_open(states: States, truth: States) -> NDArray[np.bool_]:
    """Return which boards are neither full nor filled with something wrong, bool `[B]`."""
    sound: NDArray[np.bool_] = ((states == 0) | (states == truth)).all((1, 2))
    return sound & ~is_full(states)


main = partial(train_cli, GuissartTraining, GuissartLearner, "guissart")
