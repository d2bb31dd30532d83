"""Ended episodes in the order in which they began, so that short ones do not count first.

Boards that are stepped together begin together, and those that end at one step are all solved or
all failed: whoever counts episodes as they end meets waves of one kind, and a share of successes
that no player has. Counted in the order of their beginnings, any first n of them are a fair sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.puzzles.tasks import Tasks

_PENDING, _NO_TASK = -2, -1


class EpisodeQueue:
    """Holds episodes back until all that began before them have ended.

    Each episode has a number, in the order of their beginnings.

    Args:
        tasks: the tasks whose episodes are counted.
    """

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._first = 0  # the number of the oldest episode held
        self._records = np.empty((0, 2), np.int64)  # task and success of those from `_first` on

    def begin(self, count: int) -> NDArray[np.int64]:
        """Return the numbers of `count` episodes that begin now, int64 `[count]`."""
        start = self._first + len(self._records)
        self._records = np.append(self._records, np.full((count, 2), _PENDING), axis=0)
        return np.arange(start, start + count)

    def end(self, numbers: NDArray[np.int64], infos: Sequence[Mapping[str, Any]]) -> None:
        """Enter the last infos of episodes, with `is_success` and `task` or `level`."""
        successes = [info["is_success"] for info in infos]
        tasks = tasks_of(infos, self._tasks)
        self._records[numbers - self._first] = np.array([tasks, successes], np.int64).T

    def drop(self, numbers: NDArray[np.int64]) -> None:
        """Enter episodes that were reset before their end: they are never counted."""
        self._records[numbers - self._first] = _NO_TASK

    def pop(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Remove the episodes that may be counted.

        Returns:
            Their R tasks, rising, int64 `[R]`; numbers and successes of each, int64 `[R, 2]`.
        """
        waiting = self._records[:, 0] == _PENDING
        count = int(waiting.argmax()) if waiting.any() else len(waiting)
        ended, self._records = self._records[:count], self._records[count:]
        self._first += count
        tasks, successes = ended[ended[:, 0] != _NO_TASK].T
        each = [np.bincount(tasks[i], minlength=len(self._tasks)) for i in (..., successes > 0)]
        played = np.flatnonzero(each[0])
        return played, np.array(each).T[played]


def tasks_of(infos: Sequence[Mapping[str, Any]], tasks: Tasks) -> list[int]:
    """Return the task of each info, -1 for none: `task`, or that of its `level`."""
    return [
        int(info["task"]) if "task" in info else tasks.of_blanks.get(int(info["level"]), _NO_TASK)
        for info in infos
    ]
