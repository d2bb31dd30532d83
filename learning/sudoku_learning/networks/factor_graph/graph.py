"""The open part of a board's exact-cover problem, packed for message passing.

Sudoku is an exact-cover problem: a placement (cell, digit) fulfils one constraint for its cell and
one for its digit in each unit of the cell, and every constraint must be fulfilled exactly once.
The graph joins the placements that a mask allows with the constraints that are still open. A
placement's part in a constraint is called its seat there.

The mask is taken as it is given. A narrower one than the candidates strikes placements out, and
the constraints lose them. In a wider one ('any digit in a blank cell') a placement may meet a
constraint that another cell fulfils already; it has no seat there, and hears that somebody else is
certain.

Two units that share more than one cell have an *intersection* for each digit: the placements of
that digit in the cells they share. A row and a box have three cells in common, a diagonal and a
box too, the rows and columns of a Latin square one, which makes none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.exact_cover import constraint_table, intersection_table
from sudoku_learning.networks.factor_graph.crossings import find_intersections, list_parts
from sudoku_learning.networks.factor_graph.vectors import inner
from sudoku_learning.networks.factor_graph.walks import count_returns

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


class FactorGraph(NamedTuple):
    """The graphs of B boards, one after the other, without padding.

    P is the number of placements, C that of open constraints, S that of seats, Q that of
    intersections (none if they are not asked for), over all boards. The constraints of a board
    stand in the order of their numbers of seats, since loops of equal lengths that follow each
    other are half again as fast; equal ones in the order of the cells, then of the units and their
    digits. Seats stand in the order of their constraints, within one in that of the placements.

    Attributes:
        positions: int64 `[P]`, position of each placement in the flattened masks `[B * N**3]`.
        seats_of: int32 `[P, K]`, the seats of each placement. S stands for no constraint (cells of
            a variant lie in different numbers of units), S + 1 for one that is fulfilled already.
        occupants: int32 `[S]`, the placement on each seat.
        first_seat: int32 `[C + 1]`, where the seats of each constraint begin.
        intersections_of: int32 `[P, J]`, the intersections of each placement; Q stands for none.
        parts_of: int32 `[Q, 4]`, four lists of seats for each intersection: inside and outside of
            it in its first constraint, inside and outside in its second. Shorter lists of a board
            have smaller numbers, as with constraints.
        first_part: int32 `[4 Q + 1]`, where each of these lists begins in `parts`.
        parts: int32, the seats of all lists.
        first_placement: int64 `[B + 1]`, where the placements of each board begin.
        first_constraint: int64 `[B + 1]`, where the constraints of each board begin.
        first_intersection: int64 `[B + 1]`, where the intersections of each board begin.
        returns: float32 `[P, L - 2]`, what random walks tell each placement, see `walks`; `[P, 0]`
            if they are not asked for.
    """

    positions: NDArray[np.int64]
    seats_of: NDArray[np.int32]
    occupants: NDArray[np.int32]
    first_seat: NDArray[np.int32]
    intersections_of: NDArray[np.int32]
    parts_of: NDArray[np.int32]
    first_part: NDArray[np.int32]
    parts: NDArray[np.int32]
    first_placement: NDArray[np.int64]
    first_constraint: NDArray[np.int64]
    first_intersection: NDArray[np.int64]
    returns: NDArray[np.float32]

    @staticmethod
    def of(
        boards: NDArray[np.int8],
        masks: NDArray[np.bool_],
        geometry: Geometry,
        intersections: bool = False,
        walks: int = 0,
    ) -> FactorGraph:
        """Build the graph of boards int8 `[B, N, N]` and masks bool `[B, N**3]`.

        Raises:
            ValueError: if boards, masks and geometry do not fit each other, or a digit is none.
        """
        size = geometry.size
        if boards.shape[1:] != (size, size) or masks.shape != (len(boards), size**3):
            raise ValueError(
                f"boards {boards.shape} and masks {masks.shape} are not [B, {size}, {size}] and "
                f"[B, {size**3}], the shapes of {geometry.name}"
            )
        if boards.size and not 0 <= boards.min() <= boards.max() <= size:
            raise ValueError(
                f"digits of {geometry.name} are 0 (blank) to {size}, not {boards.min()} to "
                f"{boards.max()}"
            )
        positions, seats_of, occupants, first_seat, first_placement, first_constraint = _join(
            np.ascontiguousarray(boards, np.int8).reshape(len(boards), geometry.num_cells),
            np.ascontiguousarray(masks, np.bool_),
            constraint_table(geometry),
            geometry.num_cells + len(geometry.units) * size,
            size,
        )
        table = intersection_table(geometry)
        intersections_of, sides, first_intersection = find_intersections(
            positions,
            seats_of,
            first_seat,
            first_placement,
            table if intersections else table[:, :0],
            len(geometry.units) ** 2,
            size,
        )
        parts_of, first_part, parts = list_parts(
            intersections_of, sides, first_intersection, occupants, first_seat, size
        )
        returns = count_returns(
            seats_of, occupants, first_seat, first_placement, first_constraint, walks
        )
        return FactorGraph(
            positions,
            seats_of,
            occupants,
            first_seat,
            intersections_of,
            parts_of,
            first_part,
            parts,
            first_placement,
            first_constraint,
            first_intersection,
            returns,
        )


@njit(cache=True, nogil=True)
def _join(boards, masks, table, num_constraints, size):
    """Number the placements, open constraints and seats of all boards."""
    num_placements = np.count_nonzero(masks)
    positions = np.empty(num_placements, np.int64)
    seats_of = np.empty((num_placements, table.shape[1]), np.int32)
    occupants = np.empty(seats_of.size, np.int32)
    first_seat = np.empty(len(boards) * num_constraints + 1, np.int32)
    first_placement = np.empty(len(boards) + 1, np.int64)
    first_constraint = np.empty(len(boards) + 1, np.int64)
    number = np.empty(num_constraints + 1, np.int32)
    taken = np.empty(num_constraints, np.int32)
    next_seat = np.empty(num_constraints, np.int32)
    placement = constraint = seat = 0
    for b in range(len(boards)):
        first_placement[b], first_constraint[b] = placement, constraint
        num_open = _number_open(boards[b], size, table, number)
        taken[:num_open] = 0
        for p in range(masks.shape[1]):
            if masks[b, p]:
                positions[placement] = b * masks.shape[1] + p
                for k in range(table.shape[1]):
                    c = number[table[p, k]]
                    seats_of[placement, k] = c
                    if c >= 0:
                        taken[c] += 1
                placement += 1
        for length in range(size + 1):
            for c in range(num_open):
                if taken[c] == length:
                    first_seat[constraint], next_seat[c] = seat, seat
                    seat += length
                    constraint += 1
        _take_seats(seats_of, occupants, next_seat, first_placement[b], placement)
    first_placement[-1], first_constraint[-1] = placement, constraint
    first_seat[constraint] = seat
    for p in range(num_placements):
        for k in range(table.shape[1]):
            if seats_of[p, k] < 0:  # -1: no constraint, -2: fulfilled
                seats_of[p, k] = seat - 1 - seats_of[p, k]
    return (
        positions,
        seats_of,
        occupants[:seat],
        first_seat[: constraint + 1],
        first_placement,
        first_constraint,
    )


@inner
def _take_seats(seats_of, occupants, next_seat, first, last):
    """Replace the constraints in `seats_of` by the seats that the placements get there."""
    for p in range(first, last):
        for k in range(seats_of.shape[1]):
            c = seats_of[p, k]
            if c >= 0:
                seats_of[p, k] = next_seat[c]
                occupants[next_seat[c]] = p
                next_seat[c] += 1


@inner
def _number_open(board, size, table, number):
    """Count the open constraints of a board; write -2 for fulfilled ones, -1 for the padding."""
    number[:] = 0
    for cell in range(len(board)):
        if board[cell] > 0:
            for k in range(table.shape[1]):
                number[table[cell * size + board[cell] - 1, k]] = -2
    number[-1] = -1
    num_open = 0
    for c in range(len(number) - 1):
        if number[c] == 0:
            number[c] = num_open
            num_open += 1
    return num_open
