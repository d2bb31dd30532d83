"""The open cases of a best-first search, and which of them comes next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FULLEST_EVERY = 4  # evaluations between two choices of the fullest board in place of the likeliest
MAX_ASSUMPTIONS = 1_000  # with open cases; with more of them the search goes depth first


@dataclass(eq=False, slots=True)
class Assumption:
    """K placements that were assumed together, the likeliest first, and its K + 1 cases."""

    board: NDArray[np.int8]  # [N**2], before them
    mask_bits: NDArray[np.uint8]  # the mask before them, packed
    placements: NDArray[np.int16]  # [K]
    cases: NDArray[np.int16]  # [K + 1], likeliest first: 0 for all, k for all before the kth alone
    log_probabilities: NDArray[np.float64]  # [K + 1], of the cases
    num_blanks: int  # of the board
    num_entered: int = 0  # of the cases

    @property
    def log_probability(self) -> float:
        """That of the next case."""
        return self.log_probabilities.item(self.num_entered)


class Frontier:
    """The assumptions of one search that have open cases, at most `MAX_ASSUMPTIONS` + N**3.

    Best-first search keeps one for nearly each evaluation, depth-first search no more than a board
    has placements, for each case makes one or rules it out. So the search is best first while there
    are few, else depth first.
    """

    def __init__(self) -> None:
        self._open: list[Assumption] = []  # the one entered or added last comes last

    def __len__(self) -> int:
        return len(self._open)

    def add(self, assumption: Assumption) -> None:
        """Add an assumption, whose cases are all open."""
        self._open.append(assumption)

    def pop(self, evaluations: int) -> tuple[Assumption, int]:
        """Remove the next case after so many evaluations: its assumption and its rank there.

        Raises ValueError if there is none.
        """
        latest_first = reversed(self._open)
        if len(self._open) >= MAX_ASSUMPTIONS:
            assumption = next(latest_first)
        elif evaluations % FULLEST_EVERY:
            assumption = max(latest_first, key=lambda each: each.log_probability)
        else:
            assumption = min(latest_first, key=lambda each: each.num_blanks)
        rank = assumption.num_entered
        assumption.num_entered += 1
        self._open.remove(assumption)
        if assumption.num_entered < len(assumption.cases):
            self._open.append(assumption)
        return assumption, rank
