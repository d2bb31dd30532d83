"""Training of recurrent networks by truncated backpropagation through time.

An update runs a segment of rounds on every board, from the recurrent state in which the last one
left it; no gradient goes further back, and every round has a loss (deep supervision). So a network
learns to run for more rounds than one update has. A board is replaced once the network solves it,
or after a number of segments.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.storage.checks import check_counts, check_not_negative, check_shares
from sudoku_gym.storage.configs import registered
from sudoku_learning.networks import Network
from sudoku_learning.networks.factor_graph import FactorGraphFeatures
from sudoku_learning.training import Optimizer

PLACEMENT_LOSS = "losses/placement_loss"
"""Cross-entropy of placements in nats, averaged."""

CORRUPTED = 6  # one board of this number is corrupted, for the value
FILL_LOGIT = 3.0  # placements above it are made on an unsolved board that is replaced
MOST_REVEALED = 30 / 81  # largest share of the cells


class Segment(NamedTuple):
    """Results of the rounds of one update on B boards."""

    loss: Tensor  # a tensor of one number
    outputs: NDArray[np.float32]  # [B, ...], of the last round
    is_solved: NDArray[np.bool_]  # [B], boards whose outputs are all right, or held to be
    states: Sequence[Any]  # B recurrent states without gradients; None if the network keeps none
    metrics: dict[str, float]  # by name


class RecurrentBatch(ABC):
    """B boards under training; each is replaced after `segments` updates, or once it is solved.

    A solved board stays for another segment by the `stay_probability`; None keeps all. `states` are
    the recurrent states of the boards, None before their first segment.
    """

    def __init__(
        self, count: int, segments: int, stay_probability: float | None, rng: np.random.Generator
    ) -> None:
        self.states: list[Any] = [None] * count
        self._segments = segments
        self._stay_probability = stay_probability
        self._rng = rng
        self._segments_done = np.zeros(count, np.int64)

    def __len__(self) -> int:
        return len(self.states)

    @abstractmethod
    def run_segment(self) -> Segment:
        """Run the network on all boards, from `states`."""

    @abstractmethod
    def replace(
        self, rows: NDArray[np.int64], outputs: NDArray[np.float32], is_solved: NDArray[np.bool_]
    ) -> None:
        """Put new boards into some rows; outputs and `is_solved` are those of all B boards."""

    def update(self, optimizer: Optimizer) -> dict[str, float]:
        """Do one update, replace the boards that are done, and return the metrics."""
        segment = self.run_segment()
        optimizer.step(segment.loss)
        self.advance(segment.outputs, segment.is_solved, segment.states)
        return segment.metrics

    def advance(
        self, outputs: NDArray[np.float32], is_solved: NDArray[np.bool_], states: Sequence[Any]
    ) -> None:
        """Keep the states after a segment, and replace the boards that are done; see `Segment`."""
        self._segments_done += 1
        is_done = self._segments_done >= self._segments
        if self._stay_probability is not None:
            is_done |= is_solved & (self._rng.random(len(self)) >= self._stay_probability)
        pairs = zip(is_done, states, strict=True)
        self.states = [None if done else state for done, state in pairs]
        rows = np.flatnonzero(is_done)
        self._segments_done[rows] = 0
        if len(rows):
            self.replace(rows, outputs, is_solved)


def run_updates(
    network: nn.Module, optimizer: Optimizer, batches: Sequence[RecurrentBatch]
) -> dict[str, float]:
    """Update a network once on each of at least one batch; return the means of the metrics.

    A batch may occur many times. The network is in training mode meanwhile.
    """
    network.train()
    sums: dict[str, float] = {}
    for batch in batches:
        for name, value in batch.update(optimizer).items():
            sums[name] = sums.get(name, 0.0) + value
    network.eval()
    return {name: total / len(batches) for name, total in sums.items()}


@registered("recurrent")
@dataclass(frozen=True)
class RecurrentConfig:
    """Training by truncated backpropagation through time on puzzles with solutions."""

    updates: int = 100
    """updates an iteration"""
    segments: int = 16
    """updates that a board stays for at most, each from the recurrent state of the last one"""
    stay_probability: float = 0.5
    """chance that a solved board stays for another segment, so that the network learns to keep
    solutions"""
    revealed: float = 0.3
    """share of the boards that start with more cells of the solution revealed"""
    policy_weight: float = 0.4
    """weight of the policy loss relative to the loss of single placements"""

    def __post_init__(self) -> None:
        check_counts(self, "updates", "segments")
        check_shares(self, "stay_probability", "revealed")
        check_not_negative(self, "policy_weight")


class LabelPool:
    """Puzzles int8 `[M, N, N]` that were solved, with their solutions, oldest first.

    The latest `capacity` are kept; None keeps all.
    """

    KINDS = ("puzzles", "solutions")

    def __init__(self, geometry: Geometry, capacity: int | None = None) -> None:
        self.geometry = geometry
        self._capacity = capacity
        size = geometry.size
        self.puzzles = np.zeros((0, size, size), np.int8)
        self.solutions = np.zeros((0, size, size), np.int8)

    def __len__(self) -> int:
        return len(self.puzzles)

    def add(self, puzzles: NDArray[np.int8], solutions: NDArray[np.int8]) -> None:
        """Add puzzles, and drop the oldest beyond the capacity."""
        kept = slice(-self._capacity if self._capacity else None, None)
        self.puzzles = np.concatenate([self.puzzles, puzzles])[kept]
        self.solutions = np.concatenate([self.solutions, solutions])[kept]

    def arrays(self, prefix: str = "") -> dict[str, NDArray[np.generic]]:
        """Return everything that `restore` needs, under names that begin with `prefix`."""
        return {f"{prefix}{kind}": getattr(self, kind) for kind in self.KINDS}

    def restore(self, arrays: Mapping[str, NDArray[Any]], prefix: str = "") -> None:
        """Take over the arrays of another pool, those whose names begin with `prefix`."""
        self.puzzles, self.solutions = (arrays[f"{prefix}{kind}"] for kind in self.KINDS)


LabelledPuzzles = PuzzleSet | LabelPool
"""Puzzles of one geometry with their solutions."""


class LabelledBatch(RecurrentBatch):
    """Boards drawn from labelled puzzles.

    An unsolved board at the end of its segments stays: its correct placements with large logits are
    made, the best one at least. The network has a recurrent body, the head `policy`,
    and perhaps `value`. The `count` boards are int8 `[B, N, N]`, their `masks` bool `[B, N**3]`
    the legal placements, `targets` those of the solution.
    """

    def __init__(
        self,
        network: Network,
        puzzles: LabelledPuzzles,
        config: RecurrentConfig,
        count: int,
        rng: np.random.Generator,
    ) -> None:
        super().__init__(count, config.segments, config.stay_probability, rng)
        self._network = network
        self._puzzles = puzzles
        self._config = config
        size = puzzles.geometry.size
        self.boards = np.zeros((count, size, size), np.int8)
        self.masks = np.zeros((count, size**3), np.bool_)
        self.targets = np.zeros((count, size**3), np.bool_)
        self._solutions = np.zeros_like(self.boards)
        self._draw(np.arange(count))

    def run_segment(self) -> Segment:
        """Run the network; the metrics are three losses and the share of solved boards."""
        network, geometry = self._network, self._puzzles.geometry
        boards, masks, targets = map(torch.from_numpy, (self.boards, self.masks, self.targets))
        features = network.body(
            boards, masks, geometry, all_rounds=True, recurrent_states=self.states
        )
        logits: Tensor = network.heads["policy"](features)
        placements, policy = placement_losses(logits, masks, targets)
        value = self._value_loss(features) if "value" in network.heads else torch.zeros(())
        loss = placements + self._config.policy_weight * policy + value
        last = logits[-1].detach().numpy()
        is_solved = self.solved(last)
        metrics = {
            "placements": placements.item(),
            "policy": policy.item(),
            "value": value.item(),
            "solved": float(is_solved.mean()),
        }
        return Segment(loss, last, is_solved, features.recurrent_states, metrics)

    def solved(self, logits: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Return the boards whose logits float32 `[B, N**3]` have the signs of the targets."""
        is_solved: NDArray[np.bool_] = ((logits > 0) == self.targets).all(1, where=self.masks)
        return is_solved

    def replace(
        self, rows: NDArray[np.int64], outputs: NDArray[np.float32], is_solved: NDArray[np.bool_]
    ) -> None:
        """Make right placements on boards that are not solved, and replace the others."""
        size = self.boards.shape[1]
        logits = np.where(self.targets[rows], outputs[rows], -np.inf)
        least = np.where(is_solved[rows], 0, np.minimum(FILL_LOGIT, logits.max(1)))
        row, placement = np.nonzero(logits >= least[:, None])
        cells = self.boards.reshape(len(self), -1)
        cells[rows[row], placement // size] = placement % size + 1
        is_full = (cells[rows] > 0).all(1)
        self._draw(rows[is_full])
        self._set_targets(rows[~is_full])

    def corrupted(self, count: int) -> NDArray[np.int8]:
        """Return `count` copies of boards, int8 `[count, N, N]`, with a digit that rules them out.

        There are none where no board has a wrong placement that is legal.
        """
        wrong = self.masks & ~self.targets
        rows = np.flatnonzero(wrong.any(1))
        if not len(rows):
            return self.boards[:0]
        rows = self._rng.choice(rows, count)
        placements = (self._rng.random(wrong[rows].shape) * wrong[rows]).argmax(1)
        boards = self.boards[rows]
        size = boards.shape[1]
        boards.reshape(count, -1)[np.arange(count), placements // size] = placements % size + 1
        return boards

    def _value_loss(self, features: FactorGraphFeatures) -> Tensor:
        """The squared error of the value: target 1, 0 if corrupted; no gradient for the body."""
        head, geometry = self._network.heads["value"], self._puzzles.geometry
        solvable = (1 - head(_last_round(features))).square().mean()
        boards = self.corrupted(max(1, len(self) // CORRUPTED))
        if not len(boards):
            return solvable
        masks = board.candidates(boards, geometry).reshape(len(boards), -1)
        with torch.no_grad():
            lost = self._network.body(torch.from_numpy(boards), torch.from_numpy(masks), geometry)
        return (solvable + head(_last_round(lost)).square().mean()) / 2

    def _draw(self, rows: NDArray[np.int64]) -> None:
        """Put new puzzles into some rows, and reveal cells of some of them."""
        size, rng = self.boards.shape[1], self._rng
        drawn = rng.integers(len(self._puzzles.puzzles), size=len(rows))
        self._solutions[rows] = self._puzzles.solutions[drawn]
        for row, puzzle in zip(rows, self._puzzles.puzzles[drawn], strict=True):
            cells = puzzle.ravel().copy()
            blank = np.flatnonzero(cells == 0)
            if rng.random() < self._config.revealed:
                most = min(len(blank) - 1, int(MOST_REVEALED * size**2))
                shown = rng.choice(blank, int(rng.integers(most + 1)), replace=False)
                cells[shown] = self._solutions[row].ravel()[shown]
            self.boards[row] = cells.reshape(size, size)
        self._set_targets(rows)

    def _set_targets(self, rows: NDArray[np.int64]) -> None:
        """Compute masks and targets of boards that have changed."""
        if len(rows):
            geometry = self._puzzles.geometry
            self.masks[rows] = board.candidates(self.boards[rows], geometry).reshape(len(rows), -1)
            digits = np.arange(1, geometry.size + 1, dtype=np.int8)
            is_digit = self._solutions[rows][..., None] == digits
            self.targets[rows] = is_digit.reshape(len(rows), -1) & self.masks[rows]


def draw_batches(
    batches: Sequence[LabelledBatch],
    count: int,
    rng: np.random.Generator,
    shares: Sequence[float] | None = None,
) -> list[LabelledBatch]:
    """Draw the batch of each of `count` updates, by shares or uniformly."""
    weights = np.ones(len(batches)) if shares is None else np.array(shares)
    return [batches[drawn] for drawn in rng.choice(len(batches), count, p=weights / weights.sum())]


def placement_losses(logits: Tensor, masks: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Return the two parts of the loss, averaged over rounds and boards.

    They are the binary cross entropy of the legal placements, summed over a board and divided by
    100, and the cross entropy of the policy, minus the log of the softmax mass on the targets.
    Logits are float32 `[R, B, N**3]`, far below the others where illegal; masks and targets (at
    least one a board) bool `[B, N**3]`.
    """
    single = functional.binary_cross_entropy_with_logits(
        logits, targets.to(logits.dtype).expand_as(logits), reduction="none"
    )
    single = (single * masks).sum(-1) / 100
    mass = torch.logsumexp(logits.masked_fill(~targets, -torch.inf), -1)
    policy = torch.logsumexp(logits, -1) - mass
    return single.mean(), policy.mean()


def _last_round(features: FactorGraphFeatures) -> FactorGraphFeatures:
    """Return the features of the last round alone, detached."""
    return replace(
        features, variables=features.variables[-1:].detach(), factors=features.factors[-1:].detach()
    )
