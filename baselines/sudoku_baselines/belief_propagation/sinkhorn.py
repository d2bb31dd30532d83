"""Sinkhorn balancing: scale a matrix until its rows and columns sum to 1.

Paper: Khan et al., section 4. On a board every constraint is a matrix of cells and digits; they
are balanced one after the other, round after round, since the cells of one are those of others
(Moon and Gunther, "Multiple constraint satisfaction by belief propagation", 2006).
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudoku_gym.compiler.jit import njit

TOLERANCE = 1e-8
MAX_SWEEPS = 10_000


def balance(
    matrices: ArrayLike, tolerance: float = TOLERANCE, max_sweeps: int = MAX_SWEEPS
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Make matrices doubly stochastic, as far as their zeros allow.

    A sweep divides every column by its sum, then every row. The stopping rule is the paper's: a
    sweep that changes the matrix by less than the tolerance (in the Frobenius norm) is the last,
    and so is sweep number `max_sweeps`.

    Where no permutation fits between the zeros, columns and rows can't both sum to 1; where some
    entry lies on no permutation, it must vanish, and convergence is slow. The residual says so.

    Args:
        matrices: float `[N, N]` or `[B, N, N]`, non-negative.
        tolerance: of the stopping rule, positive.
        max_sweeps: at least 1.

    Returns:
        The balanced matrices, float64; the largest distance of a row's or column's sum from 1 in
        each, float64 `[]` or `[B]`; and the sweeps made, int64 `[]` or `[B]`.

    Raises:
        ValueError: if the matrices are not square or hold a negative number.
    """
    balanced = np.array(matrices, np.float64)
    size = balanced.shape[-1] if balanced.ndim else 0
    if balanced.ndim not in (2, 3) or balanced.shape[-2] != size:
        raise ValueError(f"matrices must be [N, N] or [B, N, N], not {list(balanced.shape)}")
    if not (balanced >= 0).all():
        raise ValueError("matrices must hold no negative number and no NaN")
    batch = balanced.reshape(-1, size, size)
    sweeps = _balance_batch(batch, tolerance, max_sweeps)
    sums = np.concatenate([batch.sum(1), batch.sum(2)], axis=1)
    residuals = np.abs(sums - 1).max(1, initial=0)
    shape = balanced.shape[:-2]
    return balanced, residuals.reshape(shape), sweeps.reshape(shape)


@njit(cache=True)
def _balance_batch(batch, tolerance, max_sweeps):
    size = batch.shape[1]
    cells = np.arange(size)
    sweeps = np.zeros(len(batch), np.int64)
    for b in range(len(batch)):
        change = np.inf
        while change >= tolerance and sweeps[b] < max_sweeps:
            change = np.sqrt(sweep(batch[b], cells))
            sweeps[b] += 1
    return sweeps


@njit(cache=True)
def sweep(beliefs, cells):
    """Scale the columns, then the rows, of the matrix `beliefs[cells]` in place.

    Sums that are zero are left alone: there is nothing to scale.

    Args:
        beliefs: float64 `[C, N]`.
        cells: int `[N]`, the rows of `beliefs` that make up the matrix.

    Returns:
        The squared Frobenius norm of the change.
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
def balance_board(beliefs, units, tolerance, max_sweeps):
    """Balance the constraints of a board in turn, in place, until a round changes little.

    Args:
        beliefs: float64 `[C, N]`.
        units: int32 `[U, N]`.
        tolerance: of the stopping rule, on the whole board's change in one round.
        max_sweeps: rounds over all constraints at most.

    Returns:
        The rounds made.
    """
    for rounds in range(max_sweeps):
        change = 0.0
        for unit in range(len(units)):
            change += sweep(beliefs, units[unit])
        if np.sqrt(change) < tolerance:
            return rounds + 1
    return max_sweeps
