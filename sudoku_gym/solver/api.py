"""Solve boards and count their solutions, for any geometry; a search may end undecided."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from operator import index as whole_number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudoku_gym import board
from sudoku_gym.compiler.lanes import NUM_LANES
from sudoku_gym.geometry import Geometry
from sudoku_gym.solver import depth_first, lane_search
from sudoku_gym.solver.cover_bits import cover_tables

_STANDARD_9X9 = Geometry.standard(9)
_BOARDS_A_CALL = 64, 200_000  # as an exact cover, in lanes; then Ctrl+C is answered
NODE_LIMIT = 1_000_000
"""Candidates tried on one board before it is left undecided."""


@dataclass(frozen=True)
class FoundSolutions:
    """The results of a search for up to `limit` solutions of each of B boards.

    Where `decided` is True, a number found below the limit is proven to be all there are: 0 that
    the board has no solution, 1 that it has one only. Where it is False the search gave up.
    """

    solutions: NDArray[np.int8]
    """`[B, N, N]`, the first solution found, zeros if none was found"""
    found: NDArray[np.int64]
    """`[B]`, the solutions found before the search ended"""
    decided: NDArray[np.bool_]
    """`[B]`, False where its node limit ended the search"""
    nodes: NDArray[np.int64]
    """`[B]`, candidates tried"""

    def verdicts(self, limit: int = 2) -> NDArray[np.str_]:
        """Say in words what a search for up to `limit` solutions has proven of each board, `[B]`.

        "no solution" and, from a limit of 2 on, "one solution" are proven; "several solutions" is
        said at a limit of 2, "7 solutions" or "7 solutions or more" above, and "solved" at a limit
        of 1, where nobody looked for a second one. "undecided": the search gave up.
        """
        endings = np.where(self.decided & (self.found < limit), " solutions", " solutions or more")
        several = np.char.add(self.found.astype(np.str_), endings)
        cases = {
            "several solutions" if limit == 2 else "many": self.found > 1,
            "undecided": ~self.decided,
            "one solution" if limit > 1 else "solved": self.found == 1,
        }
        words = np.select(list(cases.values()), list(cases), "no solution")
        return np.where(words == "many", several, words)


def find_solutions(
    boards: ArrayLike,
    limit: int = 2,
    geometry: Geometry | None = None,
    *,
    node_limit: int = NODE_LIMIT,
    threads: int = 1,
) -> FoundSolutions:
    """Search each board for up to `limit` solutions, depth first.

    Standard 9x9 boards are searched in lanes (`lane_search`): a candidate is tried where singles
    and locked candidates find no more, in the row with the most cells of two candidates. All
    others are searched as an exact cover (`depth_first`), and so is a 9x9 board that takes 2,000
    candidates without a solution: a candidate is tried where singles find no more, in an item with
    few left that has often failed. What is found on a board, and in which
    order, depends on that board alone.

    Args:
        boards: int `[B, N, N]`, 0 for a blank; givens may contradict each other (no solution).
        limit: maximum number of solutions to find per board, at least 1.
        geometry: None means the standard one for N.
        node_limit: candidates to try on one board before it is left undecided.
        threads: number of threads; the result does not depend on it.

    Raises:
        ValueError: if the boards have a wrong shape or digit, or an argument is out of range.
        TypeError: if a number is no whole one.
    """
    boards, geometry = board.flat_boards(boards, geometry)
    limit, node_limit, threads = map(whole_number, (limit, node_limit, threads))
    if not 1 <= limit < 2**63 or not 0 <= node_limit < 2**63 or threads < 1:
        raise ValueError(
            f"limit={limit}, node_limit={node_limit}, threads={threads}: limit and threads must be "
            "at least 1, node_limit at least 0, of 64 bits"
        )
    count = len(boards)
    results = (
        np.empty(boards.shape, np.int8),
        np.empty(count, np.int64),
        np.empty(count, np.bool_),
        np.empty(count, np.int64),
    )
    search = partial(_search_chunk, geometry, limit, node_limit)
    if threads == 1:
        search(boards, *results)
    else:
        step = max(-(-count // (8 * threads)), 1)  # small chunks: no thread waits for long
        starts, arrays = range(0, count, step), (boards, *results)
        chunks = [[each[i : i + step] for each in arrays] for i in starts]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda chunk: search(*chunk), chunks))
    solutions, found, decided, nodes = results
    grids = solutions.reshape(-1, geometry.size, geometry.size)
    return FoundSolutions(grids, found, decided, nodes)


def _search_chunk(
    geometry: Geometry, limit: int, node_limit: int, boards: NDArray[np.int8], *results: Any
) -> None:
    """Search boards with the engine for their geometry.

    A board that is a trap for the lanes, which have no restarts, goes to the other engine.
    """
    has_lanes, tables = geometry == _STANDARD_9X9, cover_tables(geometry)
    step = max(NUM_LANES, _BOARDS_A_CALL[has_lanes] // limit)
    if len(boards) > step:
        for start in range(0, len(boards), step):
            chunk = [each[start : start + step] for each in (boards, *results)]
            _search_chunk(geometry, limit, node_limit, *chunk)
    elif not has_lanes:
        depth_first.search_boards(boards, limit, node_limit, tables, *results)
    elif lane_search.search_in_lanes(boards, limit, node_limit, *results):
        _, found, decided, nodes = results
        rows = np.flatnonzero(~decided & (found == 0) & (nodes < node_limit))
        parts = [each[rows] for each in results]
        depth_first.search_boards(boards[rows], limit, node_limit, tables, *parts)
        for each, part in zip(results, parts, strict=True):
            each[rows] = part


def solve(
    boards: ArrayLike,
    geometry: Geometry | None = None,
    *,
    node_limit: int = NODE_LIMIT,
    threads: int = 1,
) -> NDArray[np.int8]:
    """Return one solution of each board, int8 `[B, N, N]`, zeros where no solution was found.

    The arguments and errors are those of `find_solutions`, which tells whether there is none.
    """
    return find_solutions(boards, 1, geometry, node_limit=node_limit, threads=threads).solutions


def count_solutions(
    boards: ArrayLike,
    limit: int = 2,
    geometry: Geometry | None = None,
    *,
    node_limit: int = NODE_LIMIT,
    threads: int = 1,
) -> NDArray[np.int64]:
    """Count the solutions of each board, up to `limit`: 1 proves a puzzle well posed.

    The arguments and errors are those of `find_solutions`.

    Returns:
        int64 `[B]`, -1 where the node limit left the count undecided.
    """
    result = find_solutions(boards, limit, geometry, node_limit=node_limit, threads=threads)
    return np.where(result.decided, result.found, -1)
