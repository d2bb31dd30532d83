"""The base of the depth-first solvers: limits, counts and statuses.

A *node* is one digit that the search tried; a *backtrack* is a node that it took back; an
*assignment* is a digit that was put into a cell, tried or forced.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.solver.chunks import in_chunks

STATUSES = ("solved", "none", "undecided")
FOUND, NO_SOLUTION, LIMIT_REACHED = range(3)  # the same as numbers
COUNTS = np.dtype([("nodes", np.int64), ("depth", np.int64), ("assignments", np.int64)])

_AT_ONCE = 16  # boards at most in a call of the kernel: Ctrl+C is heard between two of them

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
    is logged.

    Args:
        node_limit: how many digits may be tried on one puzzle, at least 1.

    Raises:
        ValueError: if the limit is too small.
    """

    default_node_limit: ClassVar[int] = 10_000_000
    _kernel: Callable[..., None]
    """Searches boards int8 `[B, N**2]` without conflicts, in place, up to a number of nodes each;
    writes outcomes `[B]` and counts `[B]`, zeros at first."""

    def __init__(self, node_limit: int | None = None) -> None:
        node_limit = self.default_node_limit if node_limit is None else node_limit
        if node_limit < 1:
            raise ValueError(f"node_limit must be at least 1, not {node_limit}")
        self.node_limit = node_limit

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Complete each puzzle int8 `[B, N, N]` with the first solution found.

        The answer is all zeros where there is no solution or a limit was reached.
        """
        boards = board.as_boards(puzzles, geometry)
        grids = boards.reshape(len(boards), geometry.num_cells).copy()
        outcomes = np.full(len(grids), NO_SOLUTION)
        counts = np.zeros(len(grids), COUNTS)
        rows = np.flatnonzero(~board.conflicts(boards, geometry).any((1, 2)))
        tables, space = self._prepare(geometry)
        for chunk in in_chunks(len(rows), _AT_ONCE):
            part = rows[chunk]
            answers, found, made = grids[part], outcomes[part], counts[part]
            self._kernel(answers, found, made, self.node_limit, tables, space)
            grids[part], outcomes[part], counts[part] = answers, found, made
        self.status = np.array(STATUSES)[outcomes]
        self.nodes, self.assignments = counts["nodes"], counts["assignments"]
        self.backtracks = self.nodes - counts["depth"]
        grids[outcomes != FOUND] = 0
        if undecided := int(np.count_nonzero(outcomes == LIMIT_REACHED)):
            text = "%s stopped at its limit of %s nodes on %d of %d puzzles"
            _log.warning(text, type(self).__name__, self.node_limit, undecided, len(grids))
        return grids.reshape(boards.shape)

    def _prepare(self, geometry: Geometry) -> tuple[Any, Any]:
        """Return the last two arguments of the kernel: its tables, and work space."""
        raise NotImplementedError
