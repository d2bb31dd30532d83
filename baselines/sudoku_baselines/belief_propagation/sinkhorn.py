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
    """Scale columns, then rows, of `beliefs[cells]`; return the change's squared Frobenius norm."""
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
    """Balance the units of a board `[C, N]` in turn, in place; return the rounds made.

    The last is the first that changes it by less than the tolerance (Frobenius norm).
    """
    for rounds in range(max_rounds):
        change = 0.0
        for unit in range(len(units)):
            change += _sweep(beliefs, units[unit])
        if np.sqrt(change) < tolerance:
            return rounds + 1
    return max_rounds
