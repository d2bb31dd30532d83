"""The environment picks the cell, the agent only the digit.

With the cell fixed, k blanks have one order instead of k!, and a step at most N choices.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from sudoku_gym.wrappers.base import Spaces, SudokuVectorTransform, SudokuWrapper, Transform, Which


class _CanonicalCell(Transform):
    maps_actions = True

    def set_up(self, count: int, observations: gym.Space[Any], actions: gym.Space[Any]) -> Spaces:
        self._size = size = self.find("geometry").size
        if actions != spaces.Discrete(size**3):
            raise ValueError(
                f"one cell at a time needs erase=False and actions Discrete({size**3})"
            )
        cell: spaces.Discrete[np.int64] = spaces.Discrete(size**2)
        digit: spaces.Discrete[np.int64] = spaces.Discrete(size)
        return spaces.Dict({"observations": observations, "cell": cell}), digit

    def map_actions(self, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        wrong = np.flatnonzero((actions < 0) | (actions >= self._size))
        if len(wrong):
            raise ValueError(
                f"action {actions[wrong[0]]} (board {wrong[0]}) is no digit - 1: use 0 to "
                f"{self._size - 1}"
            )
        # asked for anew, since the state may have been set since the last step
        return self._pick(self.masks_below())[0] * self._size + actions

    def map_masks(self, masks: NDArray[np.int8]) -> NDArray[np.int8]:
        return self._pick(masks)[1]

    def show(self, observations: Any, masks: NDArray[np.int8], which: Which) -> tuple[Any, Any]:
        cells, digits = self._pick(masks)
        return {"observations": observations, "cell": cells}, digits

    def _pick(self, masks: NDArray[np.int8]) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """Return each board's cell, int64 `[B]`, and its legal digits, int8 `[B, N]`."""
        choices = masks.reshape(len(masks), -1, self._size)
        counts = choices.sum(2)
        cells = np.where(counts == 0, self._size + 1, counts).argmin(1)
        return cells, choices[np.arange(len(masks)), cells]


class CanonicalCell(_CanonicalCell, SudokuWrapper):
    """Lets the agent choose a digit for the cell that has the fewest legal ones.

    The cell is the first, row by row, with the fewest legal digits but at least one; 0 when
    nothing is legal any more. Actions are `Discrete(N)`, digit - 1, and the mask in the info is
    int8 `[N]`. The observation is `{"observations": ..., "cell": row * N + column}`.

    Args:
        env: an environment over `SudokuEnv` without `erase` and with its mask.

    Raises:
        ValueError: if digits may be erased, which a fixed order of cells can't offer; in `step`,
            if there is no such digit.
    """


class VectorCanonicalCell(_CanonicalCell, SudokuVectorTransform):
    """`CanonicalCell` for a batch: `{"observations": [B, ...], "cell": int64 [B]}`.

    Arguments and errors are those of `CanonicalCell`, around a `SudokuVectorEnv`.
    """
