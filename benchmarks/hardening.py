"""Make puzzles harder by local search: exchange givens for others of the same solution.

A step removes one or two givens, adds cells in which other solutions differ until the puzzle is
unique, and removes what is no longer needed. The result is accepted if it takes about as many
guesses (see `difficulty.rate`) as the puzzle before; the hardest on the way is returned.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sudoku_gym.compiler.jit import njit
from sudoku_gym.compiler.random_stream import new_stream, next_below
from sudoku_gym.geometry.symmetry import group_of
from sudoku_gym.puzzles.difficulty import count_guesses, grade, new_symmetry
from sudoku_gym.puzzles.generator import (
    count_other_solutions,
    is_minimal,
    new_dig,
    remove_givens,
    start_dig,
)
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.solver.cover_bits import NO_RUNTIME_JIT, cover_tables, reset_weights
from sudoku_gym.solver.depth_first import new_searcher

_SEARCHES = 15  # a score is the median guesses of this number of searches
_SLACK = 0.85  # a new puzzle is accepted with at least this share of the current score
_FIRST_SHARE = 0.3  # and made minimal if its first search takes at least this share
_PAIRS = 5  # one step in `_PAIRS` removes two givens
_BEHIND = 3  # a bound is missed when the searches below it exceed the others by this number


def harden(
    parents: PuzzleSet, rng: np.random.Generator, *, steps: int, node_limit: int = 100_000
) -> PuzzleSet:
    """Make each puzzle of a set harder, with the solution it has, and so in its split.

    Args:
        parents: puzzles of 9x9 boards, with exactly one solution each. They are made minimal first.
        rng: random generator of the changes.
        steps: changes to try on each puzzle; 0 only makes it minimal. Random minimal 9x9 puzzles
            have a median rating of 1; 200 steps lead to 10, 1,000 (0.1 s) to 16, and 2,000 to 19.
        node_limit: candidates to try in one search.

    Returns:
        As many puzzles, graded; `.minimal` says where minimality is proven.

    Raises:
        ValueError: if a puzzle has not exactly one solution.
    """
    geometry = parents.geometry
    parents.check()
    boards = parents.puzzles.copy()
    puzzles = boards.reshape(-1, geometry.num_cells)
    solutions = parents.solutions.reshape(puzzles.shape)
    stream, tables, group = new_stream(rng), cover_tables(geometry), group_of(geometry)
    minimal = [
        _harden(stream, group, steps, node_limit, tables, puzzle, solution)
        for puzzle, solution in zip(puzzles, solutions, strict=True)
    ]
    grades = grade(boards, geometry)
    return replace(parents, puzzles=boards, grades=grades, minimal=np.array(minimal, np.bool_))


@njit(cache=True, nogil=True)
def _harden(stream, group, steps, node_limit, tables, puzzle, solution):
    """Replace `puzzle` by the hardest one found; return whether it is proven minimal."""
    searcher, symmetry = new_searcher(tables, node_limit), new_symmetry(tables)
    dig = new_dig(1, len(puzzle))
    order = dig.order[0]
    guesses = np.empty(_SEARCHES, np.int64)
    current, new = puzzle.copy(), puzzle.copy()
    givens = shuffle_givens(stream, current, order)
    proven = _make_minimal(searcher, dig, givens, current, solution)
    score = median_guesses(stream, searcher, group, symmetry, 0.0, current, guesses)
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
        order[: total - removed] = order[removed:total].copy()
        proven = _make_minimal(searcher, dig, total - removed, new, solution)
        bound = _SLACK * score
        new_score = median_guesses(stream, searcher, group, symmetry, bound, new, guesses)
        if new_score < bound:
            continue
        score = new_score
        current[:] = new
        if score > best:
            best, is_minimal = score, proven
            puzzle[:] = new
    return is_minimal


@njit(**NO_RUNTIME_JIT)
def _make_minimal(searcher, dig, count, puzzle, solution):
    """Remove what isn't needed of the first `count` cells of an order; return whether all is."""
    start_dig(dig, 0, count, 1, puzzle)
    remove_givens(searcher, dig, 0, 0, puzzle, solution)
    return is_minimal(dig, 0)


@njit(**NO_RUNTIME_JIT)
def _exchange(stream, searcher, removed, order, puzzle, solution):
    """Remove a number of givens, and add others until the puzzle is unique again.

    Returns the number of cells in `order` (removed cells, old givens, new givens); 0 if no cell can
    be added or the node limit came first.
    """
    total = shuffle_givens(stream, puzzle, order)
    if removed > total:
        return 0
    for i in range(removed):
        puzzle[order[i]] = 0
    reset_weights(searcher.workspace)
    for i in range(removed):
        while True:
            others = count_other_solutions(searcher, order[i], puzzle, solution)
            if others == 0:
                break
            if others < 0:
                return 0
            cell = wrong_cell(stream, order[:removed], searcher.scratch[1], solution)
            if cell < 0:
                return 0
            puzzle[cell] = solution[cell]
            order[total] = cell
            total += 1
    return total


@njit(**NO_RUNTIME_JIT)
def shuffle_givens(stream, puzzle, order):
    """Write the given cells to `order [N**2]` in random order; return their number."""
    count = 0
    for cell in range(len(puzzle)):
        if puzzle[cell] > 0:
            i = next_below(stream, count + 1)
            order[count] = order[i]
            order[i] = cell
            count += 1
    return count


@njit(**NO_RUNTIME_JIT)
def wrong_cell(stream, removed, other, solution):
    """Return a random cell, not in `removed`, where two solutions differ; -1 if there is none."""
    chosen, count = -1, 0
    for cell in range(len(solution)):
        is_removed = False
        for i in range(len(removed)):
            is_removed |= removed[i] == cell
        if other[cell] != solution[cell] and not is_removed:
            count += 1
            if next_below(stream, count) == 0:
                chosen = cell
    return chosen


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
