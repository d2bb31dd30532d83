"""Placements as actions: which are legal, and which board a space of them belongs to."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.geometry import Geometry, geometry_for

Actions = Literal["legal", "blank"]


def legal_placements(
    boards: NDArray[np.int8], geometry: Geometry, actions: Actions
) -> NDArray[np.bool_]:
    """Return which placements an environment with such `actions` allows: bool `[B, N**3]`."""
    if actions == "blank":
        return np.repeat(boards.reshape(len(boards), -1) == 0, geometry.size, axis=1)
    return board.candidates(boards, geometry).reshape(len(boards), -1)


def geometry_of(action_space: spaces.Space[Any], geometry: Geometry | None) -> Geometry:
    """Return the geometry of an environment's placements; None takes the standard boxes.

    Raises:
        ValueError: if the actions are not the placements of such a board, e.g. with erasures.
    """
    if not isinstance(action_space, spaces.Discrete):
        raise ValueError(f"a board's actions are Discrete, not {action_space}")
    count = int(action_space.n)
    size = round(count ** (1 / 3))
    if size**3 != count or (geometry is not None and geometry.size != size):
        wanted = "N**3" if geometry is None else f"{geometry.size}**3"
        raise ValueError(
            f"{count} actions: need {wanted}, the placements of a board (no erase=True)"
        )
    return geometry_for(size, geometry)
