"""Where two units cross: the intersections of a graph, found from the unit table of a geometry."""

from __future__ import annotations

import numpy as np

from sudoku_gym.compiler.jit import njit
from sudoku_learning.networks.factor_graph.vectors import inner

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


@njit(cache=True, nogil=True)
def find_intersections(positions, seats_of, first_seat, first_placement, table, num_pairs, size):
    """Number the intersections that have placements and two open constraints.

    Returns:
        intersections_of int32 `[P, J]` (Q stands for none), the two constraints of each
        intersection int32 `[Q, 2]`, and first_intersection int64 `[B + 1]`.
    """
    num_seats = first_seat[-1]
    constraint_of = np.empty(num_seats, np.int32)
    for c in range(len(first_seat) - 1):
        constraint_of[first_seat[c] : first_seat[c + 1]] = c
    columns = table.shape[1]
    intersections_of = np.full((len(positions), columns), -1, np.int32)
    sides = np.empty((intersections_of.size, 2), np.int32)
    first_intersection = np.zeros(len(first_placement), np.int64)
    number = np.empty(num_pairs * size if columns else 0, np.int32)
    count = 0
    for b in range(len(first_placement) - 1):
        number[:] = -1
        for p in range(first_placement[b], first_placement[b + 1]):
            cell = positions[p] // size % len(table)
            for j in range(columns):
                pair = table[cell, j, 0]
                if pair < 0:
                    continue
                one, other = seats_of[p, table[cell, j, 1]], seats_of[p, table[cell, j, 2]]
                if one >= num_seats or other >= num_seats:
                    continue
                key = pair * size + positions[p] % size
                if number[key] < 0:
                    number[key] = count
                    sides[count, 0], sides[count, 1] = constraint_of[one], constraint_of[other]
                    count += 1
                intersections_of[p, j] = number[key]
        first_intersection[b + 1] = count
    for p in range(len(positions)):
        for j in range(columns):
            if intersections_of[p, j] < 0:
                intersections_of[p, j] = count
    return intersections_of, sides[:count], first_intersection


@njit(cache=True, nogil=True)
def list_parts(intersections_of, sides, first_intersection, occupants, first_seat, size):
    """List the seats inside and outside of each intersection, in each of its two constraints.

    Returns:
        parts_of int32 `[Q, 4]`, first_part int32 `[4 Q + 1]`, and parts int32.
    """
    count = len(sides)
    inside = np.zeros(count + 1, np.int32)
    for p in range(len(intersections_of)):
        for q in intersections_of[p]:
            inside[q] += 1
    lengths = np.empty((count, 4), np.int32)
    for q in range(count):
        for side in range(2):
            c = sides[q, side]
            lengths[q, 2 * side] = inside[q]
            lengths[q, 2 * side + 1] = first_seat[c + 1] - first_seat[c] - inside[q]
    parts_of, first_part = _sort_parts(lengths, first_intersection, size)
    parts = np.empty(first_part[-1], np.int32)
    for q in range(count):
        for side in range(2):
            c = sides[q, side]
            within = first_part[parts_of[q, 2 * side]]
            without = first_part[parts_of[q, 2 * side + 1]]
            for s in range(first_seat[c], first_seat[c + 1]):
                member = False
                for other in intersections_of[occupants[s]]:
                    member |= other == q
                if member:
                    parts[within] = s
                    within += 1
                else:
                    parts[without] = s
                    without += 1
    return parts_of, first_part, parts


@inner
def _sort_parts(lengths, first_intersection, size):
    """Number the lists of each board by their lengths, and say where they begin."""
    parts_of = np.empty(lengths.shape, np.int32)
    first_part = np.empty(lengths.size + 1, np.int32)
    number = seat = 0
    for b in range(len(first_intersection) - 1):
        for length in range(size + 1):
            for q in range(first_intersection[b], first_intersection[b + 1]):
                for part in range(4):
                    if lengths[q, part] == length:
                        parts_of[q, part], first_part[number] = number, seat
                        number += 1
                        seat += length
    first_part[number] = seat
    return parts_of, first_part
