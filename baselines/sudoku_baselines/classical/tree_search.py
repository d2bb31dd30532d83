"""The base of the depth-first solvers: limits, counts and statuses.

A *node* is one digit that the search tried; a *backtrack* is a node that it took back; an
*assignment* is a digit that was put into a cell, tried or forced.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.solver.chunks import in_chunks

STATUSES = ("solved", "none", "undecided")
FOUND, NO_SOLUTION, LIMIT_REACHED = range(3)  # the same as numbers
COUNTS = np.dtype([("nodes", np.int64), ("depth", np.int64), ("assignments", np.int64)])

_FIRST_SLICE = 1000  # nodes before the clock is read for the first time
_CLOCK_INTERVAL = 0.02  # seconds between two readings, about
_AT_ONCE = 1024  # boards at most in a call of the kernel

_log = logging.getLogger(__name__)


class CountingSolver:
    """A solver that keeps the statuses and counts of its last batch, `[B]` each."""

    status: NDArray[np.str_] = np.zeros(0, "U9")  # one of `STATUSES`
    nodes: NDArray[np.int64] = np.zeros(0, np.int64)  # digits tried
    backtracks: NDArray[np.int64] = np.zeros(0, np.int64)  # how many of these were taken back
    assignments: NDArray[np.int64] = np.zeros(0, np.int64)  # digits put into cells, also forced


class TreeSearch(CountingSolver):
    """A depth-first search as a solver; its subclasses are the algorithms.

    A puzzle whose search reaches a limit is left undecided: its answer is all zeros, and a warning
    is logged. A limit on nodes gives the same answer on any machine, a limit on time does not.

    Args:
        node_limit: how many digits may be tried on one puzzle, at least 1.
        time_limit: how many seconds one puzzle may take, above 0; None for no such limit.

    Raises:
        ValueError: if a limit is too small.
    """

    default_node_limit: ClassVar[int] = 10_000_000
    _kernel: Callable[..., None]
    """Searches boards int8 `[B, N**2]` without conflicts, in place, up to a number of nodes each;
    writes outcomes `[B]` and counts `[B]`, zeros at first. With `resume` it continues the search
    that its work space holds; B is 1 then."""

    def __init__(self, node_limit: int | None = None, time_limit: float | None = None) -> None:
        node_limit = self.default_node_limit if node_limit is None else node_limit
        if node_limit < 1:
            raise ValueError(f"node_limit must be at least 1, not {node_limit}")
        if time_limit is not None and not time_limit > 0:
            raise ValueError(f"time_limit must be above 0 seconds, or None, not {time_limit}")
        self.node_limit = node_limit
        self.time_limit = time_limit

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Complete each puzzle int8 `[B, N, N]` with the first solution found.

        The answer is all zeros where there is no solution or a limit was reached.
        """
        boards = board.as_boards(puzzles, geometry)
        grids = boards.reshape(len(boards), geometry.num_cells).copy()
        outcomes = np.full(len(grids), NO_SOLUTION)
        counts = np.zeros(len(grids), COUNTS)
        rows = np.flatnonzero(~board.conflicts(boards, geometry).any((1, 2)))
        grids[rows], outcomes[rows], counts[rows] = self._search_all(grids[rows], geometry)
        self.status = np.array(STATUSES)[outcomes]
        self.nodes, self.assignments = counts["nodes"], counts["assignments"]
        self.backtracks = self.nodes - counts["depth"]
        grids[outcomes != FOUND] = 0
        if undecided := int(np.count_nonzero(outcomes == LIMIT_REACHED)):
            name, limit = type(self).__name__, f"{self.node_limit} nodes"
            if self.time_limit is not None:
                limit += f" or {self.time_limit:g} seconds"
            text = "%s stopped at its limit of %s on %d of %d puzzles"
            _log.warning(text, name, limit, undecided, len(grids))
        return grids.reshape(boards.shape)

    def _prepare(self, geometry: Geometry) -> tuple[Any, Any]:
        """Return the tables and the work space of the kernel."""
        raise NotImplementedError

    def _search_all(
        self, grids: NDArray[np.int8], geometry: Geometry
    ) -> tuple[NDArray[np.int8], NDArray[np.int64], NDArray[np.void]]:
        """Search all boards a little, for most are short work; then the others to their end."""
        outcomes = np.full(len(grids), LIMIT_REACHED)
        counts = np.zeros(len(grids), COUNTS)
        tables, space = self._prepare(geometry)
        answers = grids.copy()
        first = min(_FIRST_SLICE, self.node_limit)
        for part in in_chunks(len(grids), _AT_ONCE):
            outputs = answers[part], outcomes[part], counts[part]
            self._kernel(*outputs, first, False, tables, space)
        for i in np.flatnonzero(outcomes == LIMIT_REACHED) if first < self.node_limit else ():
            answers[i], counts[i] = grids[i], 0
            row = slice(i, i + 1)
            self._search_one(answers[row], outcomes[row], counts[row], tables, space)
        return answers, outcomes, counts

    def _search_one(
        self,
        grid: NDArray[np.int8],
        outcome: NDArray[np.int64],
        counts: NDArray[np.void],
        tables: Any,
        space: Any,
    ) -> None:
        """Search one board in slices: compiled code reads no clock and hears no Ctrl+C."""
        start = now = perf_counter()
        time_limit = np.inf if self.time_limit is None else self.time_limit
        step = _FIRST_SLICE
        while now - start < time_limit and counts["nodes"][0] < self.node_limit:
            stop = min(int(counts["nodes"][0]) + step, self.node_limit)
            self._kernel(grid, outcome, counts, stop, now > start, tables, space)
            if outcome[0] != LIMIT_REACHED:
                return
            slice_started, now = now, perf_counter()
            if now - slice_started < _CLOCK_INTERVAL:
                step *= 2
