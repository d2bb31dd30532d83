"""Rate a puzzle by guesses: candidates tried until its solution is proven unique.

They are those of the depth-first search on the exact cover, on 9x9 too, where `solver` is another.

The rating is the median over searches under random symmetries: 0 is what singles solve, random
minimal 9x9 puzzles have 1, the hardest that are known around 170.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from operator import index as whole_number

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudoku_gym import board
from sudoku_gym.compiler.jit import njit
from sudoku_gym.compiler.random_stream import COUNTER, new_stream
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.symmetry import draw_symmetry, group_of
from sudoku_gym.solver.api import NODE_LIMIT
from sudoku_gym.solver.cover_bits import NO_RUNTIME_JIT, cover_tables, load_board, reset_weights
from sudoku_gym.solver.depth_first import explore, new_searcher

_MOST_SYMMETRIES = 9_999
_BEHIND = 3  # a bound is missed when the searches below it exceed the others by this number


def rate(
    boards: ArrayLike,
    rng: np.random.Generator,
    geometry: Geometry | None = None,
    *,
    symmetries: int = 31,
    node_limit: int = NODE_LIMIT,
) -> NDArray[np.int64]:
    """Return the rating of each puzzle, int64 `[B]`: median guesses over random symmetries.

    All boards are transformed by the same symmetries, so a rating does not depend on the other
    boards. Its standard deviation is about 8 % of it with 31 symmetries, and 12 % with 15.

    Args:
        boards: int `[B, N, N]`, each with exactly one solution.
        rng: random generator of the symmetries.
        geometry: None means the standard one for N.
        symmetries: number of symmetries, odd.
        node_limit: guesses after which a search ends. A rating of this value is a lower bound.

    Raises:
        ValueError: if the boards have a wrong shape or digit, or a number is out of range.
        TypeError: if `rng` is no Generator, or a number is no whole one.
    """
    symmetries, node_limit = map(whole_number, (symmetries, node_limit))
    if (
        not 1 <= symmetries <= _MOST_SYMMETRIES
        or symmetries % 2 == 0
        or not 1 <= node_limit < 2**63
    ):
        raise ValueError(
            f"symmetries={symmetries}, node_limit={node_limit}: symmetries must be odd, so that "
            f"one search is the middle one, and up to {_MOST_SYMMETRIES}, and node_limit at least "
            "1, of 64 bits"
        )
    flat, geometry = board.flat_boards(boards, geometry)
    guesses = np.empty((len(flat), symmetries), np.int64)
    tables = cover_tables(geometry)
    stream, group = new_stream(rng), group_of(geometry)
    _rate(stream, group, node_limit, tables, flat, guesses)
    guesses.partition(symmetries // 2, axis=1)
    return guesses[:, symmetries // 2]


@njit(cache=True, nogil=True)
def _rate(stream, group, node_limit, tables, boards, guesses):
    """Count the guesses of all searches, int64 `[B, symmetries]`."""
    searcher, symmetry = new_searcher(tables, node_limit), new_symmetry(tables)
    for b in range(len(boards)):
        stream[COUNTER] = 0
        for i in range(guesses.shape[1]):
            guesses[b, i] = count_guesses(stream, searcher, group, symmetry, boards[b])


@njit(cache=True, nogil=True)
def new_symmetry(tables):
    """Allocate what `draw_symmetry` fills: `rows [N]`, `columns [N]`, `digits [N + 1]`."""
    size = np.int64(tables.size)
    return np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size + 1, np.int8)


@njit(**NO_RUNTIME_JIT)
def count_guesses(stream, searcher, group, symmetry, puzzle):
    """Count the guesses of one search of `puzzle`, int8 `[N**2]`, under a random symmetry.

    `symmetry`, from `new_symmetry`, is overwritten. The count ends at the node limit.
    """
    workspace, scratch, tables, node_limit = searcher
    rows, columns, digits = symmetry
    transpose = draw_symmetry(stream, group, rows, columns, digits)
    solution, first_solution, no_bans, moved = scratch[0], scratch[1], scratch[2], scratch[3]
    size = len(rows)
    for row in range(size):
        for column in range(size):
            new_row, new_column = rows[row], columns[column]
            if transpose:
                new_row, new_column = new_column, new_row
            image = new_row * size + new_column
            moved[image] = digits[puzzle[row * size + column]]
    reset_weights(workspace)
    if load_board(workspace, moved, no_bans, solution, tables) < 0:
        return 0
    return explore(workspace, 2, node_limit, solution, first_solution, tables)[1]


@njit(**NO_RUNTIME_JIT)
def median_guesses(stream, searcher, group, symmetry, bound, puzzle, guesses):
    """Return the median guesses of `len(guesses)` searches, which are written to `guesses`.

    Returns -1 once it is clear that `bound` is missed.
    """
    behind = 0
    for i in range(len(guesses)):
        count = count_guesses(stream, searcher, group, symmetry, puzzle)
        behind += 1 if count < bound else -1
        if behind == _BEHIND:
            return -1.0
        rank = i
        while rank > 0 and guesses[rank - 1] > count:
            guesses[rank] = guesses[rank - 1]
            rank -= 1
        guesses[rank] = count
    return float(guesses[len(guesses) // 2])
