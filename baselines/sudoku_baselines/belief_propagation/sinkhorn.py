"""Sinkhorn balancing: scale a matrix until its rows and columns sum to 1.

Paper: Khan et al., section 4. On a board every unit is a matrix of cells and digits; they are
balanced one after the other, round after round, since they share cells (Moon and Gunther, "Multiple
constraint satisfaction by belief propagation", 2006).
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from sudoku_gym.compiler.jit import njit


@njit(cache=True)
def _sweep(beliefs, cells):
    """Scale the columns, then the rows, of the matrix `beliefs[cells]` in place.

    Sums of zero are left alone. Returns the squared Frobenius norm of the change.
    """
    size = len(cells)
    scale = np.zeros(size)
    for cell in cells:
        for digit in range(size):
            scale[digit] += beliefs[cell, digit]
    for digit in range(size):
        scale[digit] = 1.0 / scale[digit] if scale[digit] > 0 else 1.0
    change = 0.0
    for cell in cells:
        total = 0.0
        for digit in range(size):
            total += beliefs[cell, digit] * scale[digit]
        inverse = 1.0 / total if total > 0 else 1.0
        for digit in range(size):
            scaled = beliefs[cell, digit] * scale[digit] * inverse
            change += (scaled - beliefs[cell, digit]) ** 2
            beliefs[cell, digit] = scaled
    return change


@njit(cache=True)
def balance_board(beliefs, units, tolerance, max_rounds):
    """Balance the units of a board in turn, in place, until a round changes little.

    Args:
        beliefs: float64 `[C, N]`.
        units: int32 `[U, N]`.
        tolerance: the last round is the first that changes the board by less (Frobenius norm).
        max_rounds: rounds over all units at most.

    Returns:
        The rounds made.
    """
    for rounds in range(max_rounds):
        change = 0.0
        for unit in range(len(units)):
            change += _sweep(beliefs, units[unit])
        if np.sqrt(change) < tolerance:
            return rounds + 1
    return max_rounds
