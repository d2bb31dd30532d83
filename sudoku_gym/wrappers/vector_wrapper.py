"""What wrappers of the vector environment have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv, VectorWrapper
from numpy.typing import NDArray

from sudoku_gym.puzzles.sources import Blanks


class SudokuVectorWrapper(VectorWrapper):
    """Passes on what a plain `VectorWrapper` hides: `set_blanks` and `action_masks`."""

    def set_blanks(self, blanks: Blanks) -> None:
        """Let the next episodes begin with so many blanks; see `SudokuVectorEnv`."""
        attribute_below(self.env, "set_blanks")(blanks)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are legal now: bool `[B, A]`, True = legal."""
        masks: NDArray[np.bool_] = attribute_below(self.env, "action_masks")()
        return masks


def attribute_below(env: VectorEnv[Any, Any, Any], name: str) -> Any:
    """Return the attribute of the outermost environment that has it, from `env` inwards.

    Raises:
        AttributeError: if none has.
    """
    inner = env
    while not hasattr(inner, name):
        if not isinstance(inner, VectorWrapper):
            raise AttributeError(f"{env} has no {name}: wrap a SudokuVectorEnv")
        inner = inner.env
    return getattr(inner, name)
