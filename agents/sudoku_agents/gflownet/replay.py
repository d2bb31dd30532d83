"""A replay of the latest solutions that trajectories reached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.gflownet.trajectories import Trajectories
from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_learning.training.checkpoint import REPLAY


class SolutionReplay:
    """Keeps puzzles with the solutions that trajectories ended at, the latest of them.

    Args:
        geometry: of the boards.
        capacity: how many.

    Attributes:
        geometry: of the boards.
        puzzles: int8 `[M, N, N]`, oldest first.
        solutions: int8 `[M, N, N]`.
    """

    KINDS = ("puzzles", "solutions")

    def __init__(self, geometry: Geometry, capacity: int) -> None:
        self.geometry = geometry
        self._capacity = capacity
        size = geometry.size
        self.puzzles = np.zeros((0, size, size), np.int8)
        self.solutions = np.zeros((0, size, size), np.int8)

    def __len__(self) -> int:
        return len(self.puzzles)

    def add(self, trajectories: Trajectories) -> None:
        """Add those that ended at a solution, and forget the oldest."""
        found = trajectories[trajectories.solved]
        self.puzzles = np.concatenate([self.puzzles, found.puzzles])[-self._capacity :]
        self.solutions = np.concatenate([self.solutions, found.terminal_boards])[-self._capacity :]

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return everything that `restore` needs."""
        return {kind: getattr(self, kind) for kind in self.KINDS}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over the arrays of another replay.

        Raises:
            ValueError: if they are none, or hold a board that solves no puzzle.
        """
        if arrays.keys() != set(self.KINDS):
            raise ValueError(f"{REPLAY}: it must hold {', '.join(self.KINDS)}")
        size = self.geometry.size
        length = min(len(np.atleast_1d(arrays["puzzles"])), self._capacity)
        for kind, array in arrays.items():
            if array.dtype != np.int8 or array.shape != (length, size, size):
                raise ValueError(
                    f"{REPLAY}: {kind} must be int8 {[length, size, size]}, not {array.dtype} "
                    f"{list(array.shape)}"
                )
        puzzles, solutions = arrays["puzzles"], arrays["solutions"]
        if ((solutions < 1) | (solutions > size)).any():
            raise ValueError(f"{REPLAY}: solutions hold something else than digits 1 to {size}")
        if not board.is_solved(solutions, self.geometry).all():
            raise ValueError(f"{REPLAY}: a solution breaks the rules")
        if ((puzzles != 0) & (puzzles != solutions)).any():
            raise ValueError(f"{REPLAY}: a solution contradicts its puzzle")
        self.puzzles, self.solutions = puzzles, solutions
