"""A batch of boards under truncated backpropagation through time, whatever the targets are.

An update runs a segment of rounds on every board, from the recurrent state in which the last one
left it; no gradient goes further back, and every round has a loss (deep supervision). So a network
learns to run for more rounds than one update has. A board is replaced once the network solves it,
or after a number of segments.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from sudoku_learning.training import Optimizer


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
