"""The table as a policy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.q_learning.tabular.config import QLearningConfig
from sudoku_gym.board.actions import sample_actions
from sudoku_gym.geometry import Geometry
from sudoku_gym.storage.reading import error_context
from sudoku_learning.networks import PlacementPolicy
from sudoku_learning.training import checkpoint
from sudoku_learning.training.config import config_from_json
from sudoku_learning.training.environments import geometry_of_env
from sudoku_learning.training.run_folder import checkpoint_in

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
        self._rows.clear()
        self._values[:] = 0
        self.rows(tensors["boards"].numpy())
        self.values[:] = tensors["values"].numpy()


_PRETRAINED = Path(__file__).parent / "pretrained"


class QTablePolicy(PlacementPolicy):
    """Plays the legal placement with the highest value.

    On a board that is not in the table, and among equal values, it draws a legal placement.
    """

    def __init__(self, table: QTable) -> None:
        super().__init__()
        self.table = table
        self._rng = np.random.default_rng(0)

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch of games; `rng` draws among equal and unknown values."""
        super().reset(puzzles, geometry, rng)
        self._rng = rng

    def choose(
        self, boards: NDArray[np.int8], masks: NDArray[np.bool_], games: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Choose a legal placement int64 `[B]`."""
        masks = masks.copy()
        rows = self.table.find(boards)
        is_known = rows != UNKNOWN
        if is_known.any():
            _, masks[is_known] = self.table.best(rows[is_known], masks[is_known])
        return sample_actions(masks, self._rng)


def load(folder: str | os.PathLike[str] = _PRETRAINED) -> QTablePolicy:
    """Make a policy of a checkpoint, or of the latest checkpoint of a run.

    Args:
        folder: a checkpoint or a run; by default the table that comes with the package,
            which knows `docs/results/q-learning.md`'s eight puzzles and nothing else.

    Raises:
        ValueError: if there is no sound checkpoint in the folder.
    """
    path = checkpoint_in(folder)
    with error_context(path, "it can't be played"):
        data, weights = checkpoint.read_to_play(path)
        config = config_from_json(data, QLearningConfig)
        table = QTable(geometry_of_env(config.env).size)
        table.restore(weights)
    return QTablePolicy(table)
