"""Which board a space of actions belongs to."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from sudoku_gym.geometry import Geometry, geometry_for


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
