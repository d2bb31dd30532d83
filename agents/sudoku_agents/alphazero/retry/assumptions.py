"""What follows from placements at once: the masks that they leave, and dead ends.

The rules only, by the table of constraints: nothing is deduced, not even a single.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.geometry import Geometry
from sudoku_gym.kernels.compiler import njit
from sudoku_learning.networks.exact_cover.graph import constraint_table

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

FULL, OPEN, DEAD = 0, 1, 2


@cache
def constraint_members(geometry: Geometry) -> NDArray[np.int32]:
    """The placements in each constraint, int32 `[C, N]`, numbered as in `constraint_table`."""
    table = constraint_table(geometry)
    num_constraints = geometry.num_cells + len(geometry.units) * geometry.size
    placements = np.repeat(np.arange(len(table), dtype=np.int32), table.shape[1])
    order = np.argsort(table.ravel(), kind="stable")
    real = order[: num_constraints * geometry.size]  # those of the padding come last
    return placements[real].reshape(num_constraints, geometry.size)


@njit(cache=True, nogil=True)
def assume(board, mask, placements, table, members):
    """Make placements one after the other, leaving out those that earlier ones rule out.

    Args:
        board: int8 `[N**2]`, changed in place.
        mask: bool `[N**3]`, changed in place: what the placements rule out is struck out.
        placements: int64 `[K]`.
        table: of `constraint_table`.
        members: of `constraint_members`.

    Returns:
        int64, those that were made.
    """
    made = np.empty(len(placements), np.int64)
    count, size = 0, members.shape[1]
    for placement in placements:
        if mask[placement]:
            board[placement // size] = placement % size + 1
            for constraint in table[placement]:
                if constraint < len(members):
                    for other in members[constraint]:
                        mask[other] = False
            made[count] = placement
            count += 1
    return made[:count]


@njit(cache=True, nogil=True)
def state_of(board, mask, table, members):
    """Return `FULL`, `OPEN`, or `DEAD` if an open constraint has no placement left.

    Args:
        board: int8 `[N**2]`, without conflicts.
        mask: bool `[N**3]`, the placements that are allowed.
        table: of `constraint_table`.
        members: of `constraint_members`.
    """
    size = members.shape[1]
    is_fulfilled = np.zeros(len(members) + 1, np.bool_)
    blanks = 0
    for cell in range(len(board)):
        if board[cell] > 0:
            for constraint in table[cell * size + board[cell] - 1]:
                is_fulfilled[constraint] = True
        else:
            blanks += 1
    if blanks == 0:
        return FULL
    for constraint in range(len(members)):
        if not is_fulfilled[constraint]:
            has_place = False
            for placement in members[constraint]:
                has_place |= mask[placement]
            if not has_place:
                return DEAD
    return OPEN
