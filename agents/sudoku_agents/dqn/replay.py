"""Replay of the latest transitions, sampled uniformly or by priority.

Sources: Schaul et al., "Prioritized experience replay" (2016); by the loss, as in Rainbow (2018).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_learning.training.sampling import Batch

SMALLEST_LOSS = 1e-3  # so that no priority is 0


@dataclass(frozen=True)
class Transitions(Batch):
    """M moves."""

    boards: NDArray[np.int8]  # int8 `[M, N, N]`, before the action
    actions: NDArray[np.int64]  # int64 `[M]`
    returns: NDArray[np.float32]  # float32 `[M]`, the rewards
    next_boards: NDArray[np.int8]  # int8 `[M, N, N]`, after it
    discounts: NDArray[np.float32]  # float32 `[M]`, of the next value: gamma, 0 at the end
    solutions: NDArray[np.int8]  # int8 `[M, N, N]`, the solution that the game ended with, or zeros

    @classmethod
    def none(cls, count: int, size: int) -> Transitions:
        """Return `count` transitions on N x N boards, filled with zeros."""
        board, number = ((count, size, size), np.int8), (count, np.float32)
        forms = board, (count, np.int64), number, board, number, board
        arrays: list[NDArray[Any]] = [np.zeros(shape, dtype) for shape, dtype in forms]
        return cls(*arrays)


class TransitionReplay:
    """The latest `capacity` transitions on N x N boards; `priority` as in `ReplayConfig`."""

    def __init__(self, capacity: int, size: int, priority: float = 0.0) -> None:
        self._capacity = capacity
        self._size = size
        self._transitions = Transitions.none(capacity, size)
        self._length = self._next = 0
        self._priority = priority
        self._priorities = np.zeros(capacity)

    def __len__(self) -> int:
        return self._length

    def add(self, transitions: Transitions) -> None:
        """Add transitions in place of the oldest, with the highest priority in the replay."""
        transitions = transitions[-self._capacity :]
        index = (self._next + np.arange(len(transitions))) % self._capacity
        for name, column in vars(self._transitions).items():
            column[index] = getattr(transitions, name)
        self._next = int((self._next + len(transitions)) % self._capacity)
        self._length = min(self._capacity, self._length + len(transitions))
        self._priorities[index] = self._priorities.max() or 1.0

    def __getitem__(self, rows: NDArray[np.int64]) -> Transitions:
        """Return the transitions in some rows."""
        return self._transitions[rows]

    def sample(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw rows with replacement, int64 `[count]`.

        Without the importance weights of the source: Sudoku is deterministic, so priorities cause
        no bias.
        """
        if not self._priority:
            return rng.integers(self._length, size=count)
        # Stratified: one from each of `count` equal parts, for a lower variance.
        quantiles = (np.arange(count) + rng.random(count)) / count
        sums = self._priorities[: self._length].cumsum()
        rows = np.searchsorted(sums, quantiles * sums[-1], side="right")
        return rows.clip(max=self._length - 1)

    def set_priorities(self, rows: NDArray[np.int64], losses: NDArray[np.float32]) -> None:
        """Set priorities from the losses float32 `[B]` of the rows int64 `[B]`."""
        losses = np.maximum(losses, SMALLEST_LOSS)
        self._priorities[rows] = losses.astype(np.float64) ** self._priority

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return everything that `restore` needs."""
        kept = vars(self._transitions[: self._length])
        priorities = self._priorities[: self._length].copy()
        return {**kept, "priorities": priorities, "next": np.array([self._next])}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the arrays of a replay with the same configuration."""
        self._length = len(arrays["boards"])
        self._next = int(arrays["next"][0])
        for name, column in vars(self._transitions).items():
            column[: self._length] = arrays[name]
        self._priorities[: self._length] = arrays["priorities"]
