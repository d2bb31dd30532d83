"""How hard puzzles are: a grade by techniques, and a rating by the guesses of a search.

The grade is the first technique that, together with those before it, solves the puzzle.
docs/puzzles.md defines the techniques. Each only removes candidates, so their order is free.

The rating counts the candidates that the depth-first search on the exact cover tries until the
solution is proven unique (on 9x9 too, where `solver` is another): 0 is what singles solve, random
minimal 9x9 puzzles have 1, the hardest that are known around 170.
"""

# mypy: disable-error-code="no-untyped-def,call-arg"

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudoku_gym import board
from sudoku_gym.compiler.jit import njit
from sudoku_gym.compiler.random_stream import COUNTER, new_stream
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.symmetry import draw_symmetry, group_of
from sudoku_gym.solver.api import NODE_LIMIT
from sudoku_gym.solver.chunks import in_chunks
from sudoku_gym.solver.cover_bits import NO_RUNTIME_JIT, cover_tables, load_board, reset_weights
from sudoku_gym.solver.depth_first import explore, new_searcher
from sudoku_gym.solver.techniques import apply_techniques, open_masks

GRADES = ("naked singles", "hidden singles", "locked candidates", "pairs", "search")
"""The grades by number: grade 2 is `GRADES[2]`, puzzles that need locked candidates."""

FINE_GRADES = (*GRADES[:-1], "triples", "X-Wing", "Swordfish", "search")
"""`GRADES` with three techniques more, which divide `search`; banks and files record `GRADES`.
Panchal, "Sudoku solving AI agents", names them."""


def grade(
    boards: ArrayLike, geometry: Geometry | None = None, *, fine: bool = False
) -> NDArray[np.int8]:
    """Return the grade of each puzzle, int8 `[B]`, an index into `GRADES`, or `FINE_GRADES`.

    The boards, int `[B, N, N]`, should have exactly one solution; else the grade is `search`.
    """
    flat, geometry = board.flat_boards(boards, geometry)
    grades = np.full(len(flat), len(FINE_GRADES if fine else GRADES) - 1, np.int8)
    tables = geometry.units, geometry.cell_units, geometry.peers
    for part in in_chunks(len(flat)):
        _grade(flat[part], *tables, grades[part])
    return grades


@njit(cache=True)
def _grade(boards, units, cell_units, peers, grades):
    """Lower grades int8 `[B]`, which hold that of search, to the first technique that solves."""
    masks = np.empty(boards.shape[1], np.uint32)
    done, lines = np.empty(boards.shape[1], np.bool_), np.empty(units.shape[1], np.uint32)
    for b in range(len(boards)):
        open_masks(boards[b], units, masks, done)
        for technique in range(grades[b]):
            apply_techniques(technique, masks, done, units, cell_units, peers, lines)
            if done.all():
                grades[b] = technique
                break


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
    """
    if symmetries < 1 or symmetries % 2 == 0 or node_limit < 1:
        raise ValueError(
            f"symmetries={symmetries}, node_limit={node_limit}: symmetries must be odd, so that "
            "one search is the middle one, and node_limit at least 1"
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
