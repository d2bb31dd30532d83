"""Training: positions on the way to a solution, thresholds, boosting, and what is worth a trial.

Source: Guissart, sections 4 to 6 and algorithm 1. An iteration is an epoch of one network: first
of each network that fills, in turn, then of the one that proposes trials.

- A batch of puzzles is trained on; answers above the thresholds are filled in; the result is
  trained on, and so on until nothing is added. Thresholds rise above every wrong answer on the way,
  and after the last epoch begin anew and rise over the puzzles kept for validation only.
- The second network that fills begins where the first one stops, on puzzles that it does not solve,
  and the first one goes on after each of its steps, as in use; and so the third.
- Which trials teach something is learned from trials of random placements, where filling stops.

It differs from the source in five points. In training, thresholds begin anew with every batch: if
they last for an epoch, one bad answer of an early network keeps all later batches at their first
position, and nothing is learned of what follows. For validation all puzzles are one batch, so that
a position counts only where the thresholds of the positions before it lead there; and where filling
stops, marks of the solution are shown one by one, because what trials find leads to positions that
filling alone never meets. To the binary
cross entropy comes what thresholds ask for, see `certainty`. And a network is updated on some
placements of each position only, because those of a position are much alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from sudoku_baselines.neural.config import LabelledConfig
from sudoku_baselines.neural.guissart.features import features
from sudoku_baselines.neural.guissart.marks import fill, is_full, marks_of, solution_marks
from sudoku_baselines.neural.guissart.network import SymmetricNetwork
from sudoku_baselines.neural.guissart.solver import FillingPredictor, GuissartNetworks
from sudoku_baselines.neural.guissart.trials import Marks, try_both_ways
from sudoku_curricula.schedules import ConstantConfig
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import PredictorPolicy
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import Blanks
from sudoku_gym.storage.checks import check_counts, check_shares
from sudoku_gym.storage.configs import registered
from sudoku_gym.storage.reading import check_structure
from sudoku_learning.networks.network import seeded
from sudoku_learning.training import (
    CurriculumConfig,
    Learner,
    LearnerState,
    Optimiser,
    OptimiserConfig,
    Progress,
    Random,
    Report,
    train_from_the_command_line,
)
from sudoku_learning.training.checkpoint import STATE

MARK_LOSS = "losses/mark_loss"  # binary cross entropy of the unknown marks
CERTAINTY = 10.0  # its weight in what is minimised
MOST_PASSES = 20  # over the validation puzzles
FILLED = "curriculum/filled"  # share of the epoch's training puzzles that were filled


@registered("neural/guissart-training")
@dataclass(frozen=True, kw_only=True)
class GuissartTraining(LabelledConfig):
    """Train networks of some five hundred weights to fill what is certain; any geometry."""

    agent: ClassVar[str] = "guissart"
    fixed: ClassVar[tuple[str, ...]] = (
        *LabelledConfig.fixed,
        *("grids", "fillers", "epochs", "hidden", "updates"),
        *("placements", "trials", "revealed", "optimiser"),
    )

    env: str = "Sudoku9x9-v0"
    """id of the environment; training draws from its training puzzles only"""
    run: Path = Path("runs/guissart")
    """folder for checkpoints and curves"""
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
    optimiser: OptimiserConfig = field(
        default_factory=lambda: OptimiserConfig(2e-2, constant_share=0.3)
    )
    """Adam; the learning rate falls in each network's iterations"""
    validation_games: int = 256
    """greedy games on held-out puzzles, at the level and on puzzles as stored each"""
    checkpoint_every: int = 1
    """iterations between checkpoints"""
    curriculum: CurriculumConfig = field(default_factory=ConstantConfig)
    """the blanks of held-out games at the level; training has the puzzles as stored"""

    def __post_init__(self) -> None:
        """Check the values."""
        super().__post_init__()
        at_least_one = ("updates", "placements", "trials")
        check_counts(self, "grids", "fillers", "epochs", "hidden", *at_least_one)
        check_shares(self, "revealed")

    def build(self, geometry: Geometry) -> GuissartNetworks:
        """Make the networks, with random weights."""
        return GuissartNetworks(geometry, self.fillers, self.hidden)


class GuissartLearner(Learner):
    """Trains one network after the other.

    Args:
        config: the run's.
        random: draws the first weights.

    Attributes:
        networks: those under training.
    """

    metrics: tuple[str, ...] = ()

    def __init__(self, config: GuissartTraining, random: Random) -> None:
        self.config = config
        parts = config.puzzles.divide(config.env)
        self._geometry = parts.train.geometry
        make = partial(config.build, self._geometry)
        self.networks = seeded(int(random.numpy.integers(2**32)), make).eval()
        self.optimiser = Optimiser(self.networks, config.optimiser)
        self._train = _some(parts.train, config.grids)
        self._validation = _some(parts.validation, config.grids)
        self._begun = 1

    def learn(self, blanks: Blanks, random: Random, progress: Progress) -> Report:
        """Do an epoch of the network whose turn it is."""
        config = self.config
        which, epoch = divmod(progress.iteration, config.epochs)
        epochs = config.epochs
        if which >= config.fillers:
            which, epoch = config.fillers, progress.iteration - config.fillers * config.epochs
            epochs = max(1, config.iterations - config.fillers * config.epochs)
        self._begun = min(which + 1, config.fillers)
        self.optimiser.schedule(epoch / epochs)
        if which < config.fillers:
            loss, positions, filled = self._epoch(which, random.numpy)
            if epoch == epochs - 1:
                self._validate(which, random.numpy)
        else:
            loss, positions, filled = self._proposals(random.numpy)
        return Report(
            steps=positions,
            curves={MARK_LOSS: loss, FILLED: filled},
            columns={
                "network": str(which + 1) if which < config.fillers else "trials",
                "loss": f"{loss:.3f}",
                "filled": f"{filled:.1%}",
            },
        )

    def policy(self) -> PredictorPolicy:
        """Return the policy that fills, by the networks whose turn has come."""
        return PredictorPolicy(FillingPredictor(self.networks, self._begun), "one-shot")

    def state(self) -> LearnerState:
        """Return weights, optimiser, and how many networks fill."""
        return replace(self.optimiser.state(), numbers={"begun": self._begun})

    def restore(self, state: LearnerState) -> None:
        """Continue from a state of an equal learner."""
        check_structure(state.numbers, {"begun": 1})
        self.optimiser.restore(state)
        self._begun = state.numbers["begun"]
        if not 1 <= self._begun <= self.config.fillers:
            raise ValueError(f"{STATE}: {self._begun} networks fill, of {self.config.fillers}")

    def _epoch(self, which: int, rng: np.random.Generator) -> tuple[float, int, float]:
        """Train a network that fills; return loss, positions seen, and the share filled."""
        losses: list[float] = []
        positions = filled = 0
        network = self.networks.first(which + 1)[which]
        for marks, truth in self._batches(
            self._train, which, rng, self.config.optimiser.batch_size
        ):
            network.reset_thresholds()
            for loss, count in self._follow(which, marks, truth, rng, learning=True):
                losses.append(loss)
                positions += count
            filled += int(is_full(marks).sum())
        return float(np.mean(losses or [0.0])), positions, filled / len(self._train)

    def _validate(self, which: int, rng: np.random.Generator) -> None:
        """Fit the thresholds of a network, if those before it leave anything to do.

        Where filling stops, a mark of the solution is shown and it goes on, as after a trial: what
        is filled there must be certain too. Higher thresholds lead to other positions, so it begins
        again until none rises any more.
        """
        network = self.networks.first(which + 1)[which]
        network.reset_thresholds()
        for _ in range(MOST_PASSES):
            before = network.thresholds.clone()
            for marks, truth in self._batches(self._validation, which, rng, len(self._validation)):
                self._go_through(which, marks, truth, rng)
            if torch.equal(network.thresholds, before):
                break
        network.close_untested()

    def _go_through(self, which: int, marks: Marks, truth: Marks, rng: np.random.Generator) -> None:
        """Raise the thresholds of a network on boards, from their beginnings to their ends."""
        for _ in range(1 + self.config.trials):
            for _ in self._follow(which, marks, truth, rng, learning=False):
                pass
            left = _can_go_on(marks, truth)
            marks, truth = marks[left], truth[left]
            if not len(marks):
                break
            each, shown = np.arange(len(marks)), _one_unknown(marks, rng)
            known = truth.reshape(len(marks), -1)[each, shown]
            marks.reshape(len(marks), -1)[each, shown] = known

    def _follow(
        self, which: int, marks: Marks, truth: Marks, rng: np.random.Generator, learning: bool
    ) -> Iterator[tuple[float, int]]:
        """Go from position to position until nothing is added; thresholds rise on the way.

        Args:
            which: the network; those before it go on after each of its steps.
            marks: int8 `[B, N**2, N]`, where to begin; changed in place.
            truth: int8 `[B, N**2, N]`.
            rng: draws placements.
            learning: whether the network is updated.

        Yields:
            The loss, 0 if it does not learn, and the number of boards, at each step.
        """
        *earlier, network = self.networks.first(which + 1)
        rows = np.arange(len(marks))
        while len(rows):
            before, right = marks[rows], truth[rows]
            yield self._update(network, before, right, rng) if learning else 0.0, len(rows)
            logits, known = torch.from_numpy(network.logits_of(before)), torch.from_numpy(before)
            network.raise_thresholds(logits, known, torch.from_numpy(right))
            following = fill(network.accept(logits, known).numpy(), earlier, self._geometry)
            has_changed = (following != before).any((1, 2))
            marks[rows] = following
            rows = rows[has_changed & _can_go_on(following, right)]

    def _update(
        self, network: SymmetricNetwork, marks: Marks, truth: Marks, rng: np.random.Generator
    ) -> float:
        """Update a network on some unknown placements, some times; return the last loss."""
        config = self.config
        unknown = np.flatnonzero(marks == 0)
        seen = features(torch.from_numpy(marks), network.table).flatten(0, 2)
        for _ in range(config.updates):
            drawn = unknown[rng.integers(len(unknown), size=config.placements)]
            logits = network(seen[torch.from_numpy(drawn)])
            present = torch.from_numpy(truth.ravel()[drawn] > 0)
            targets = torch.stack([~present, present], 1)
            entropy = functional.binary_cross_entropy_with_logits(logits, targets.float())
            self.optimiser.step(entropy - CERTAINTY * certainty(logits, targets))
        return entropy.item()

    def _proposals(self, rng: np.random.Generator) -> tuple[float, int, float]:
        """Train the network that proposes; return loss, trials, and the share that taught."""
        config, losses = self.config, []
        fillers, proposer = self.networks.first(config.fillers), self.networks.proposer
        count = taught = 0
        for marks, truth in self._batches(
            self._train, config.fillers, rng, config.optimiser.batch_size
        ):
            for _ in range(config.trials):
                going_on = _can_go_on(marks, truth)
                marks, truth = marks[going_on], truth[going_on]
                if not len(marks):
                    break
                placements = _one_unknown(marks, rng)
                found = try_both_ways(marks, placements, fillers, self._geometry)
                seen = features(torch.from_numpy(marks), proposer.table).flatten(1, 2)
                each = torch.arange(len(marks))
                chosen = proposer(seen[each, torch.from_numpy(placements)])[:, 1]
                teach = torch.from_numpy(found.decides).float()
                loss = functional.binary_cross_entropy_with_logits(chosen, teach)
                self.optimiser.step(loss)
                losses.append(loss.item())
                count += len(marks)
                taught += int(found.decides.sum())
                marks = found.outcome(marks)
        return float(np.mean(losses or [0.0])), count, taught / max(count, 1)

    def _batches(
        self, chosen: PuzzleSet, which: int, rng: np.random.Generator, boards: int
    ) -> Iterator[tuple[Marks, Marks]]:
        """Yield marks and the truth of all puzzles in a random order, a batch at a time.

        The first `which` networks fill them; only those that they do not solve are left.
        """
        order = rng.permutation(len(chosen))
        for start in range(0, len(order), boards):
            rows = order[start : start + boards]
            marks = marks_of(self._revealed(chosen, rows, rng))
            truth = solution_marks(chosen.solutions[rows])
            if which:
                marks = fill(marks, self.networks.first(which), self._geometry)
                left = _can_go_on(marks, truth)
                marks, truth = marks[left], truth[left]
            if len(marks):
                yield marks, truth

    def _revealed(
        self, chosen: PuzzleSet, rows: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int8]:
        """Return some of the puzzles, of which some have more cells of the solution."""
        boards, solutions = chosen.puzzles[rows], chosen.solutions[rows]
        shares = rng.random((len(rows), 1, 1)) * (
            rng.random((len(rows), 1, 1)) < self.config.revealed
        )
        return np.where(rng.random(boards.shape) < shares, solutions, boards)


def certainty(logits: Tensor, targets: Tensor) -> Tensor:
    """Return how many right answers exceed all wrong ones, smoothly: what a threshold lets through.

    It is the mean of sigmoid(l - log sum exp of the wrong logits) over both answers of all
    placements, where wrong answers count 0. Right answers that are far below, because nobody can
    know them, hardly move it.

    Args:
        logits: float32 `[n, 2]`.
        targets: bool `[n, 2]`, which answers are right.
    """
    found = torch.zeros(())
    for answer, is_right in zip(logits.T, targets.T, strict=True):
        if not is_right.all():
            bar = answer[~is_right].logsumexp(0)
            found = found + torch.sigmoid(answer[is_right] - bar).sum()
    return found / len(logits)


def _one_unknown(marks: Marks, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw an unknown placement of each board, int64 `[B]`."""
    keys = rng.random((len(marks), marks[0].size))
    return (keys * (marks == 0).reshape(keys.shape)).argmax(1)


def _can_go_on(marks: Marks, truth: Marks) -> NDArray[np.bool_]:
    """Return which boards are neither full nor filled with something wrong, bool `[B]`."""
    sound: NDArray[np.bool_] = ((marks == 0) | (marks == truth)).all((1, 2))
    return sound & ~is_full(marks)


def _some(chosen: PuzzleSet, count: int) -> PuzzleSet:
    """Return at most so many puzzles, spread over a set."""
    if len(chosen) <= count:
        return chosen
    return chosen[np.linspace(0, len(chosen) - 1, count).astype(np.int64)]


def main(argv: Sequence[str] | None = None) -> int:
    """Train from the command line, see `GuissartTraining`; return 0, for the shell."""
    return train_from_the_command_line(GuissartTraining, GuissartLearner, "guissart", argv)
