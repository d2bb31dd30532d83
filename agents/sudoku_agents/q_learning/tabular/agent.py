"""The table as a policy."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.q_learning.tabular.config import QLearningConfig
from sudoku_agents.q_learning.tabular.table import UNKNOWN, QTable
from sudoku_gym.board.actions import sample_actions
from sudoku_gym.geometry import Geometry
from sudoku_gym.storage.reading import error_context
from sudoku_learning.networks import PlacementPolicy
from sudoku_learning.training import checkpoint
from sudoku_learning.training.config import config_from_json
from sudoku_learning.training.environments import geometry_of_env
from sudoku_learning.training.run_folder import checkpoint_in

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
