"""Make puzzles harder by local search: exchange givens for others of the same solution.

A step removes one or two givens, adds cells in which other solutions differ until the puzzle is
unique, and removes what is no longer needed. The result is accepted if it takes about as many
guesses (see `rating`) as the puzzle before; the hardest on the way is returned.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sudoku_gym.compiler.jit import njit
from sudoku_gym.compiler.random_stream import new_stream, next_below
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.symmetry import group_of
from sudoku_gym.puzzles import banks
from sudoku_gym.puzzles.difficulty import grade
from sudoku_gym.puzzles.generator import dig, rivals
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.rating import count_guesses, new_symmetry
from sudoku_gym.solver.cover_bits import INNER, cover_tables, reset_weights
from sudoku_gym.solver.depth_first import new_searcher

_SEARCHES = 15  # of which the median counts
_BEHIND = 3  # a new puzzle is dropped at so many more searches below the bound than above it
_SLACK = 0.85  # a new puzzle is accepted from this share of the guesses on
_FIRST_SHARE = 0.3  # of the guesses that one search must need before a new puzzle is dug out
_PAIRS = 5  # one step in so many takes two givens


def harden(
    parents: PuzzleSet,
    rng: np.random.Generator,
    *,
    steps: int = 1_000,
    node_limit: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> PuzzleSet:
    """Make each puzzle of a set harder, with the solution it has, and from 9x9 up in its split.

    Puzzles are compared by 15 searches each, a coarser estimate than that of `puzzles.rate`.

    Args:
        parents: puzzles with exactly one solution each. Those that are not minimal are dug out.
        rng: decides everything.
        steps: changes to try on each puzzle; 0 only digs out. Random minimal 9x9 puzzles have a
            median rating of 1; 200 steps lead to 10, 1,000 (0.1 s) to 16, and 2,000 to 19.
        node_limit: candidates to try in one search. None stands for 100,000 up to 9 digits, and
            for 2,000 above.
        on_progress: called with the share that is done, 0 to 1.

    Returns:
        As many puzzles, graded; `.minimal` says where minimality is proven.

    Raises:
        ValueError: if a number is out of range, a puzzle has not exactly one solution, or the
            boards are 4x4, where every puzzle is solved by singles.
    """
    geometry = parents.geometry
    if node_limit is None:
        node_limit = 100_000 if geometry.size <= 9 else 2_000
    if steps < 0 or node_limit < 1:
        raise ValueError(
            f"steps={steps}, node_limit={node_limit}: steps must not be negative and node_limit be "
            "at least 1"
        )
    if geometry == Geometry.standard(4):
        raise ValueError("singles solve every 4x4 puzzle, none is hard: use larger boards")
    parents.check()
    puzzles = parents.puzzles.reshape(-1, geometry.num_cells).copy()
    solutions = parents.solutions.reshape(puzzles.shape).copy()
    minimal = np.zeros(len(puzzles), np.bool_)
    stream, tables, group = new_stream(rng), cover_tables(geometry), group_of(geometry)
    for b in range(len(puzzles)):
        minimal[b] = _harden(stream, group, steps, node_limit, tables, puzzles[b], solutions[b])
        if on_progress is not None:
            on_progress((b + 1) / len(puzzles))
    boards = puzzles.reshape(parents.puzzles.shape)
    keeps_orbit = geometry.size >= banks.SPLIT_BY_SOLUTION
    return PuzzleSet(
        boards,
        solutions.reshape(boards.shape),
        geometry,
        parents.name,
        parents.split if keeps_orbit else "all",
        grades=grade(boards, geometry),
        orbits=parents.orbits.copy() if keeps_orbit else np.empty(0, np.int32),
        minimal=minimal,
    )


@njit(cache=True, nogil=True)
def _harden(stream, group, steps, node_limit, tables, puzzle, solution):
    """Replace `puzzle` by the hardest one found; return whether that is proven minimal."""
    searcher, symmetry = new_searcher(tables, node_limit), new_symmetry(tables)
    order = np.empty((len(puzzle), 2), np.int64)
    guesses = np.empty(_SEARCHES, np.int64)
    current, new = puzzle.copy(), puzzle.copy()
    givens = _shuffle_givens(stream, current, order)
    proven = dig(searcher, order[:givens], 1, 0, current, solution)
    score = _score(stream, searcher, group, symmetry, 0.0, current, guesses)
    best, is_minimal = score, proven
    puzzle[:] = current
    for _ in range(steps):
        new[:] = current
        removed = 2 if next_below(stream, _PAIRS) == 0 else 1
        total = _exchange(stream, searcher, removed, order, new, solution)
        if total == 0:
            continue
        if count_guesses(stream, searcher, group, symmetry, new) < _FIRST_SHARE * score:
            continue
        proven = dig(searcher, order[removed:total], 1, 0, new, solution)
        bound = _SLACK * score
        found = _score(stream, searcher, group, symmetry, bound, new, guesses)
        if found < bound:
            continue
        score = found
        current[:] = new
        if score > best:
            best, is_minimal = score, proven
            puzzle[:] = new
    return is_minimal


@njit(**INNER)
def _shuffle_givens(stream, puzzle, order):
    """Write the cells that are given into `order [N**2, 2]` in random order; return how many."""
    count = 0
    for cell in range(len(puzzle)):
        if puzzle[cell] > 0:
            place = next_below(stream, count + 1)
            order[count, 0] = order[count, 1] = order[place, 0]
            order[place, 0] = order[place, 1] = cell
            count += 1
    return count


@njit(**INNER)
def _exchange(stream, searcher, removed, order, puzzle, solution):
    """Take `removed` givens away, and add others until the puzzle is unique again.

    Returns how many cells `order` then holds: those removed, the old givens and the new ones; 0 if
    there is nothing to add or the node limit came first.
    """
    total = _shuffle_givens(stream, puzzle, order)
    if removed > total:
        return 0
    for i in range(removed):
        puzzle[order[i, 0]] = 0
    reset_weights(searcher.space)
    for i in range(removed):
        while True:
            found = rivals(searcher, order[i : i + 1], puzzle, solution)
            if found == 0:
                break
            if found < 0:
                return 0
            cell = _wrong_cell(stream, order[:removed], searcher.scratch[1], solution)
            if cell < 0:
                return 0
            puzzle[cell] = solution[cell]
            order[total, 0] = order[total, 1] = cell
            total += 1
    return total


@njit(**INNER)
def _wrong_cell(stream, removed, rival, solution):
    """Return a random cell in which a rival is wrong, -1 if it is wrong in those removed only."""
    chosen, count = -1, 0
    for cell in range(len(solution)):
        is_removed = False
        for i in range(len(removed)):
            is_removed |= removed[i, 0] == cell
        if rival[cell] != solution[cell] and not is_removed:
            count += 1
            if next_below(stream, count) == 0:
                chosen = cell
    return chosen


@njit(**INNER)
def _score(stream, searcher, group, symmetry, bound, puzzle, guesses):
    """Return the median guesses of some searches; -1 once it is clear that `bound` is missed."""
    behind = 0
    for i in range(len(guesses)):
        found = count_guesses(stream, searcher, group, symmetry, puzzle)
        behind += 1 if found < bound else -1
        if behind == _BEHIND:
            return -1.0
        place = i
        while place > 0 and guesses[place - 1] > found:
            guesses[place] = guesses[place - 1]
            place -= 1
        guesses[place] = found
    return float(guesses[len(guesses) // 2])
