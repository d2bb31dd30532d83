"""Small changes of puzzles that leave them well posed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board, solver
from sudoku_gym.geometry import Geometry


def edited(
    puzzle: NDArray[np.int8],
    solution: NDArray[np.int8],
    geometry: Geometry,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int8], NDArray[np.int8]] | None:
    """Return a well-posed puzzle near a given one, and its solution; None if the draw has none.

    With equal chances a given is taken away, a blank is filled, or two digits are exchanged in a
    part of the solution that no unit connects with other cells of theirs. Boards are int8 `[N, N]`.
    """
    puzzle, solution = puzzle.copy(), solution.copy()
    kind = rng.integers(3)
    if kind == 2:
        part = _exchangeable(solution, geometry, rng)
        first, second = np.unique(solution.ravel()[part])
        solution.ravel()[part] = first + second - solution.ravel()[part]
        puzzle = np.where(puzzle > 0, solution, 0).astype(np.int8)
    else:
        cells = np.flatnonzero((puzzle == 0) == (kind == 1))
        if len(cells) == 0:
            return None
        cell = rng.choice(cells)
        puzzle.ravel()[cell] = solution.ravel()[cell] if kind == 1 else 0
    is_puzzle = (puzzle == 0).any() and board.is_solved(solution[None], geometry)[0]
    if not is_puzzle or solver.count_solutions(puzzle[None], 2, geometry)[0] != 1:
        return None
    return puzzle, solution


def _exchangeable(
    solution: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the cells of two digits that are connected with a random one of them by units."""
    digits = rng.choice(geometry.size, 2, replace=False) + 1
    cells = np.flatnonzero(np.isin(solution, digits))
    part = {int(rng.choice(cells))}
    while True:
        near = np.intersect1d(geometry.peers[list(part)], cells)
        if part.issuperset(near.tolist()):
            return np.array(sorted(part))
        part.update(near.tolist())
