"""The table: a row of action values for each visited board."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

UNKNOWN = -1


class QTable:
    """Action values Q(s, a) of visited N x N boards, initially 0."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._rows: dict[bytes, int] = {}
        self._boards = np.zeros((64, size**2), np.int8)
        self._values = np.zeros((64, size**3), np.float32)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def boards(self) -> NDArray[np.int8]:
        """The boards, in the order of their first visit: int8 `[S, N**2]`, a view."""
        return self._boards[: len(self)]

    @property
    def values(self) -> NDArray[np.float32]:
        """Their action values, float32 `[S, N**3]`: a view that may be written to."""
        return self._values[: len(self)]

    def find(self, boards: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return the row of each of the boards `[B, N, N]`, int64 `[B]`; -1 for unknown ones."""
        keys = np.ascontiguousarray(boards, np.int8)
        return np.array([self._rows.get(key.tobytes(), UNKNOWN) for key in keys], np.int64)

    def rows(self, boards: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return the row of each of the boards `[B, N, N]`, int64 `[B]`; unknown ones get one."""
        rows = self.find(boards)
        for index in np.flatnonzero(rows == UNKNOWN):
            board = np.ascontiguousarray(boards[index], np.int8)
            row = self._rows.setdefault(board.tobytes(), len(self))
            if row == len(self._boards):
                self._boards = np.concatenate([self._boards, np.zeros_like(self._boards)])
                self._values = np.concatenate([self._values, np.zeros_like(self._values)])
            self._boards[row] = board.ravel()
            rows[index] = row
        return rows

    def best(
        self, rows: NDArray[np.int64], masks: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return the highest value among the legal actions of some rows, and the actions with it.

        Args:
            rows: int64 `[B]`.
            masks: bool `[B, N**3]`, with at least one legal action each.

        Returns:
            float32 `[B]`, and bool `[B, N**3]`: True for the legal actions with that value.
        """
        legal = np.where(masks, self._values[rows], -np.inf)
        most = legal.max(1)
        return most, legal == most[:, None]

    def learn(
        self,
        rows: NDArray[np.int64],
        actions: NDArray[np.int64],
        targets: NDArray[np.float64],
        learning_rate: float,
    ) -> None:
        """Move values towards targets float64 `[B]`, by a share `learning_rate` in (0, 1].

        Equal pairs of row and action, both int64 `[B]`, count as if one came after the other, each
        with the mean of their targets; so it does not matter in which order they stand.
        """
        pairs = rows * self._size**3 + actions
        each, which, counts = np.unique(pairs, return_inverse=True, return_counts=True)
        means = np.bincount(which, targets) / counts
        steps = 1 - (1 - learning_rate) ** counts
        values = self._values.reshape(-1)
        values[each] += steps * (means - values[each])

    def tensors(self) -> dict[str, Tensor]:
        """Return boards and values, fit for safetensors."""
        return {
            "boards": torch.from_numpy(self.boards.copy()),
            "values": torch.from_numpy(self.values.copy()),
        }

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over the tensors of another table."""
        boards = tensors["boards"].numpy()
        self._rows = {board.tobytes(): row for row, board in enumerate(boards)}
        self._boards = np.concatenate([boards, np.zeros((64, self._size**2), np.int8)])
        values = tensors["values"].numpy()
        self._values = np.concatenate([values, np.zeros((64, self._size**3), np.float32)])
