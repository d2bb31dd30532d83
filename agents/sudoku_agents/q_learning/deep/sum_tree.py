"""Draws in proportion to priorities, in logarithmic time.

Source: Schaul et al., "Prioritized experience replay" (2016), appendix B.2.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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
