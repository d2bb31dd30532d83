"""The latest moves, and batches drawn from them: all alike, or by priority.

Source: Schaul et al., "Prioritized experience replay" (2016); its sum tree is appendix B.2.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_learning.training.checkpoint import REPLAY
from sudoku_learning.training.records import Records, check_arrays

SMALLEST_ERROR = 1e-3  # what is learned by now is still drawn now and then


@dataclass(frozen=True)
class Moves(Records):
    """M moves, each with the n steps from there, or fewer where the game ended."""

    boards: NDArray[np.int8]  # int8 `[M, N, N]`, where the move was made
    actions: NDArray[np.int64]  # int64 `[M]`, the placement
    returns: NDArray[np.float32]  # float32 `[M]`, the discounted rewards of the n steps
    followers: NDArray[np.int8]  # int8 `[M, N, N]`, the board after them
    discounts: NDArray[np.float32]  # float32 `[M]`, of its value: gamma**steps, 0 after the end
    solutions: NDArray[np.int8]  # int8 `[M, N, N]`, the solved board of the game, else zeros

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def none(cls, count: int, size: int) -> Moves:
        """Return `count` moves on N x N boards, filled with zeros."""
        board, number = ((count, size, size), np.int8), (count, np.float32)
        forms = board, (count, np.int64), number, board, number, board
        arrays: list[NDArray[Any]] = [np.zeros(shape, dtype) for shape, dtype in forms]
        return cls(*arrays)


@dataclass(frozen=True)
class SampledMoves:
    """B moves that were drawn."""

    moves: Moves
    index: NDArray[np.int64]  # int64 `[B]`, where they are kept
    weights: NDArray[np.float32]  # float32 `[B]`, of their losses, at most 1: importance weights


class SumTree:
    """Priorities at `capacity` leaves of a binary tree; each node has its children's sum."""

    def __init__(self, capacity: int) -> None:
        self._first_leaf = 1 << (capacity - 1).bit_length()
        self._sums = np.zeros(2 * self._first_leaf)
        self._capacity = capacity

    @property
    def priorities(self) -> NDArray[np.float64]:
        """The priorities, float64 `[capacity]`: a view, to be read only."""
        return self._sums[self._first_leaf :][: self._capacity]

    @property
    def total(self) -> float:
        """The sum of all priorities."""
        return float(self._sums[1])

    def set(self, index: NDArray[np.int64], priorities: NDArray[np.float64]) -> None:
        """Set the priorities of some leaves, not negative; of equal ones the last counts."""
        nodes = index + self._first_leaf
        self._sums[nodes] = priorities
        while nodes[0] > 1:
            nodes = np.unique(nodes // 2)
            self._sums[nodes] = self._sums[2 * nodes] + self._sums[2 * nodes + 1]

    def find(self, masses: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return in which leaf each mass lies, int64 `[B]`, if they stand side by side.

        Masses are float64 `[B]`, from 0 to below `total`. None finds a leaf of priority 0.
        """
        nodes = np.ones(len(masses), np.int64)
        left_over = masses.copy()
        while nodes[0] < self._first_leaf:
            nodes *= 2
            left = self._sums[nodes]
            goes_right = (left_over >= left) & (self._sums[nodes + 1] > 0)
            left_over -= np.where(goes_right, left, 0)
            nodes += goes_right
        return nodes - self._first_leaf


class MoveReplay:
    """Keeps the latest `capacity` moves on N x N boards; `priority` is alpha of `ReplayConfig`."""

    def __init__(self, capacity: int, size: int, priority: float = 0.0) -> None:
        self._capacity = capacity
        self._size = size
        self._moves = Moves.none(capacity, size)
        self._length = self._next = 0
        self._priority = priority
        self._tree = SumTree(capacity) if priority else None

    def __len__(self) -> int:
        return self._length

    def add(self, moves: Moves) -> None:
        """Add moves and forget the oldest; a new one has the highest priority there is."""
        moves = moves[-self._capacity :]
        index = (self._next + np.arange(len(moves))) % self._capacity
        for name, column in self._moves.columns().items():
            column[index] = getattr(moves, name)
        self._next = int((self._next + len(moves)) % self._capacity)
        self._length = min(self._capacity, self._length + len(moves))
        if self._tree is not None:
            most = self._tree.priorities.max() or 1.0
            self._tree.set(index, np.full(len(index), most))

    def sample(self, count: int, importance: float, rng: np.random.Generator) -> SampledMoves:
        """Draw moves, with replacement.

        `importance` is beta; 1 makes up for the priorities entirely, 0 not at all.
        """
        if self._tree is None:
            index = rng.integers(self._length, size=count)
            return SampledMoves(self._moves[index], index, np.ones(count, np.float32))
        # One from each of `count` equal parts: such draws differ less.
        chances = (np.arange(count) + rng.random(count)) / count
        index = self._tree.find(chances * self._tree.total)
        priorities = self._tree.priorities[index]
        weights = (priorities.min() / priorities) ** importance
        return SampledMoves(self._moves[index], index, weights.astype(np.float32))

    def set_errors(self, index: NDArray[np.int64], errors: NDArray[np.float32]) -> None:
        """Set how wrong the values of some moves were, which is how soon they come again.

        `index` int64 `[B]` is that of the sample, `errors` float32 `[B]` are not negative.
        """
        if self._tree is not None:
            priorities = np.maximum(errors.astype(np.float64), SMALLEST_ERROR) ** self._priority
            self._tree.set(index, priorities)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return everything that `restore` needs."""
        kept = self._moves[: self._length].columns()
        priorities = self._tree.priorities[: self._length] if self._tree else np.zeros(0)
        return {**kept, "priorities": priorities.copy(), "next": np.array([self._next])}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the arrays of an equal replay.

        Raises:
            ValueError: if they are none, or do not fit each other.
        """
        self._check(arrays)
        self._length = len(arrays["boards"])
        self._next = int(arrays["next"][0])
        for name, column in self._moves.columns().items():
            column[: self._length] = arrays[name]
        if self._tree is not None and self._length:
            self._tree.set(np.arange(self._length), arrays["priorities"])

    def _check(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        length, size = len(np.atleast_1d(arrays.get("boards", ()))), self._size
        wanted: dict[str, NDArray[Any]] = {
            **Moves.none(0, size).columns(),
            "priorities": np.zeros(0),
            "next": np.zeros(0, np.int64),
        }
        lengths = {"next": 1, "priorities": length if self._tree else 0}
        forms = {n: ((lengths.get(n, length), *a.shape[1:]), a.dtype) for n, a in wanted.items()}
        check_arrays(arrays, forms)
        for name, like in wanted.items():
            array, most = arrays[name], size if like.ndim == 3 else np.inf
            if array.size and name != "returns" and not 0 <= array.min() <= array.max() <= most:
                raise ValueError(f"{REPLAY}: {name} has numbers below 0, or above {most}")
        at, is_full = int(arrays["next"][0]), length == self._capacity
        if length > self._capacity or not (0 <= at < length if is_full else at == length):
            raise ValueError(
                f"{REPLAY}: {length} moves, the next one at {at}, fit no replay of {self._capacity}"
            )
        cells = arrays["boards"].reshape(length, -1)
        if (arrays["actions"] >= size**3).any():
            raise ValueError(f"{REPLAY}: actions has a number above {size**3 - 1}")
        if cells[np.arange(length), arrays["actions"] // size].any():
            raise ValueError(f"{REPLAY}: actions has a placement into a cell that is not blank")
