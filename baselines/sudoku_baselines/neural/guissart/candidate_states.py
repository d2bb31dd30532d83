"""States of boards, and filling them step by step until nothing more follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.geometry import Geometry


class Filler(Protocol):
    """What adds states to boards: a network, or `RuleFiller`."""

    def step(self, states: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the states after one step, int8 `[B, N**2, N]`."""
        ...


class RuleFiller:
    """Adds the states that follow from the rules: absent in peers, naked and hidden singles."""

    def __init__(self, geometry: Geometry) -> None:
        self._units = geometry.units
        self._is_in = np.zeros((geometry.num_cells, len(geometry.units)), np.float32)
        self._is_in[geometry.units, np.arange(len(geometry.units))[:, None]] = 1

    def step(self, states: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return the states after one step, int8 `[B, N**2, N]`."""
        is_present = states > 0
        unit_has = is_present[:, self._units].any(2).astype(np.float32)  # [B, U, N digits]
        is_taken = is_present.any(2, keepdims=True) | (self._is_in @ unit_has > 0)
        is_open = is_present | ((states == 0) & ~is_taken)
        in_unit = is_open[:, self._units].sum(2) == 1
        is_last = self._is_in @ in_unit.astype(np.float32) > 0
        is_last |= is_open.sum(2, keepdims=True) == 1
        return np.where(is_open, np.where(is_last, 1, states), -1).astype(np.int8)


def states_of(boards: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the states of boards `[B, N, N]`: 1 for each digit there, int8 `[B, N**2, N]`."""
    count, size = boards.shape[:2]
    digits = np.arange(1, size + 1, dtype=np.int8)
    return (boards.reshape(count, size**2, 1) == digits).astype(np.int8)


def solution_states(solutions: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the states of solutions `[B, N, N]`: -1 or 1, int8 `[B, N**2, N]`."""
    return 2 * states_of(solutions) - np.int8(1)


def boards_of(states: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the digits that are present, int8 `[B, N, N]`, 0 where a cell has none."""
    count, _, size = states.shape
    present = states > 0
    found = np.where(present.any(2), present.argmax(2) + 1, 0)
    return found.astype(np.int8).reshape(count, size, size)


def is_wrong(states: NDArray[np.int8], geometry: Geometry) -> NDArray[np.bool_]:
    """Return the boards with a cell, or a digit in a unit, present twice or nowhere, bool `[B]`."""
    in_units = states[:, geometry.units]  # [B, U, N cells, N digits]
    twice_in_unit = ((in_units > 0).sum(2) > 1).any((1, 2))
    nowhere_in_unit = (in_units.max(2) < 0).any((1, 2))
    twice_in_cell = ((states > 0).sum(2) > 1).any(1)
    nothing_in_cell = (states.max(2) < 0).any(1)
    found: NDArray[np.bool_] = twice_in_unit | nowhere_in_unit | twice_in_cell | nothing_in_cell
    return found


def is_full(states: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Return which boards have a digit in every cell, bool `[B]`."""
    found: NDArray[np.bool_] = states.max(2).min(1) > 0
    return found


def fill(
    states: NDArray[np.int8], fillers: Sequence[Filler], geometry: Geometry
) -> NDArray[np.int8]:
    """Fill boards until no filler adds anything, or they are full or wrong.

    In each step a board is filled by the first filler, in the order of their training, that adds
    something. States are int8 `[B, N**2, N]`; those returned are new arrays.
    """
    states = states.copy()
    rows = np.arange(len(states))
    while len(rows):
        rows = rows[~(is_full(states[rows]) | is_wrong(states[rows], geometry))]
        stuck = rows
        for filler in fillers:
            following = filler.step(states[stuck])
            is_stuck = (following == states[stuck]).all((1, 2))
            states[stuck] = following
            stuck = stuck[is_stuck]
        rows = np.setdiff1d(rows, stuck, assume_unique=True)
    return states
