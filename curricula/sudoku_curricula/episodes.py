"""Ended episodes in the order in which they began, so that short ones do not count first.

Boards that are stepped together begin together, and those that end at one step are all solved or
all failed: whoever counts episodes as they end meets waves of one kind, and a share of successes
that no player has. Counted in the order of their beginnings, any first n of them are a fair sample.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

_PENDING, _ENDED, _DROPPED = range(3)


class EpisodeQueue:
    """Holds episodes back until all that began before them have ended.

    Each episode has a number, in the order of their beginnings.
    """

    def __init__(self) -> None:
        self._first = 0  # the number of the oldest episode held
        self._states = np.empty(0, np.int8)  # of those from `_first` on
        self._records = np.empty((0, 2), np.int64)  # task, success

    def begin(self, count: int) -> NDArray[np.int64]:
        """Return the numbers of `count` episodes that begin now, int64 `[count]`."""
        held = len(self._states)
        self._states = np.append(self._states, np.full(count, _PENDING, np.int8))
        self._records = np.append(self._records, np.zeros((count, 2), np.int64), axis=0)
        return np.arange(self._first + held, self._first + held + count)

    def end(self, numbers: NDArray[np.int64], tasks: ArrayLike, successes: ArrayLike) -> None:
        """Enter the ends of episodes: their tasks, and whether they were solved."""
        at = numbers - self._first
        self._states[at] = _ENDED
        self._records[at] = np.array([tasks, successes], np.int64).T

    def drop(self, numbers: NDArray[np.int64]) -> None:
        """Enter episodes that were reset before their end: they are never counted."""
        self._states[numbers - self._first] = _DROPPED

    def pop(self) -> NDArray[np.int64]:
        """Return task and success of the episodes that may be counted, int64 `[E, 2]`.

        They are removed.
        """
        waiting = self._states == _PENDING
        count = int(waiting.argmax()) if waiting.any() else len(waiting)
        counted = self._records[:count][self._states[:count] == _ENDED]
        self._first += count
        self._states, self._records = self._states[count:], self._records[count:]
        return counted
