"""Closed walks: what message passing can't see, as some numbers for each placement.

Two placements look alike to any number of rounds of messages if their neighbours do, and their
neighbours' neighbours, and so on. Whether chains of them close to two rings of eight or to one of
sixteen is not seen, but on that may depend how many solutions there are: on the empty 4x4 board,
with 1234 in the first row and 34 after it, a 1 leaves four of them and a 2 leaves two. A random
walk notices: it comes back sooner on a small ring.

So each placement p is told of the board that it would leave behind, where p and whatever shares a
constraint with it are gone. A step of a walk there goes from a placement to one of its K
constraints, each with the chance 1 / K, and from there to one of the others in it; where there is
no other, the walk is over. The matrix T of such a step is symmetric, so the mean chance that a walk
of 2 k steps ends where it began, over the M placements that are left, is

    (1 / M) trace T^2k = |T^k|^2 / M        (the sum of all squares)

For 2 k = 4, 6, ..., L (after 2 steps nothing closes but the way back) p is told the log of that,
and once more how much it differs from the mean over the board's placements, magnified.

All of it depends on the graph alone, so a network that is told stays equivariant. The price is
time: for each of P placements, a matrix of up to P rows, multiplied L / 2 - 1 times. That suits
boards of 4x4.

Source: Dwivedi et al., "Graph neural networks with learnable structural and positional
representations" (2022), for closed walks as an encoding.
"""

from __future__ import annotations

import numpy as np

from sudoku_gym.compiler.jit import njit
from sudoku_learning.networks.factor_graph.vectors import (
    LANES,
    inner,
    load,
    multiply_add,
    spread,
    spread_from,
    store,
)

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,var-annotated"

_FLOOR = 1e-3
_SCALE = 0.5
_MAGNIFIED = 4.0
_BLOCK = 2 * LANES  # columns multiplied at a time


@njit(cache=True, nogil=True)
def count_returns(seats_of, occupants, first_seat, first_placement, first_constraint, longest):
    """Return what each placement is told: float32 `[P, longest - 2]`, `[P, 0]` without walks.

    The first half is 0.5 log(mean chance + 0.001) for 4, 6, ..., `longest` steps, where the chance
    is 1 if nothing is left to walk on; the second half is 4 times the differences of the logs.
    The other arguments are those of `FactorGraph`.
    """
    lengths = max(longest - 2, 0) // 2
    returns = np.zeros((len(seats_of), 2 * lengths), np.float32)
    if lengths == 0 or len(seats_of) == 0:
        return returns
    most, kinds = np.diff(first_placement).max(), seats_of.shape[1]
    now, then = np.empty((2, most * _padded(most)), np.float32)
    steps = np.empty(most * most, np.int64), np.empty(most * most, np.float32)
    place, members, ends = np.empty((3, most), np.int64)
    lanes = np.empty(LANES, np.float32)
    for b in range(len(first_placement) - 1):
        first, last = first_placement[b], first_placement[b + 1]
        constraints = first_constraint[b], first_constraint[b + 1]
        for p in range(first, last):
            count = _leave(p, first, last, occupants, first_seat, constraints, place)
            width = _padded(count)
            now[: count * width] = 0.0
            _fill(now, width, kinds, place, first, occupants, first_seat, constraints, members)
            _list_steps(now, count, width, steps, ends)
            for j in range(lengths):
                _multiply(steps, ends, count, width, now, then)
                now, then = then, now
                chance = _sum_of_squares(now, count * width, lanes) / count if count else 1.0
                returns[p, j] = np.log(chance + _FLOOR)
        for j in range(lengths if last > first else 0):
            mean = returns[first:last, j].mean()
            for p in range(first, last):
                returns[p, lengths + j] = _MAGNIFIED * (returns[p, j] - mean)
                returns[p, j] *= _SCALE
    return returns


@inner
def _padded(count):
    """Return the columns of a matrix of `count`: whole blocks."""
    return (count + _BLOCK - 1) // _BLOCK * _BLOCK


@inner
def _leave(p, first, last, occupants, first_seat, constraints, place):
    """Number what is left of a board without p; write -1 in `place` for what is gone."""
    place[: last - first] = 0
    place[p - first] = -1
    for c in range(constraints[0], constraints[1]):
        met = False
        for s in range(first_seat[c], first_seat[c + 1]):
            met |= occupants[s] == p
        if met:
            for s in range(first_seat[c], first_seat[c + 1]):
                place[occupants[s] - first] = -1
    count = 0
    for q in range(last - first):
        if place[q] == 0:
            place[q] = count
            count += 1
    return count


@inner
def _fill(matrix, width, kinds, place, first, occupants, first_seat, constraints, members):
    """Add the chances of a step from each placement that is left to each other."""
    for c in range(constraints[0], constraints[1]):
        size = 0
        for s in range(first_seat[c], first_seat[c + 1]):
            if place[occupants[s] - first] >= 0:
                members[size] = place[occupants[s] - first]
                size += 1
        chance = np.float32(1.0) / np.float32(max(size - 1, 1) * kinds)
        for i in range(1, size):
            for j in range(i):
                matrix[members[i] * width + members[j]] += chance
                matrix[members[j] * width + members[i]] += chance


@inner
def _list_steps(matrix, count, width, steps, ends):
    """Write where each row is not 0 and what stands there, and where the rows' lists end."""
    columns, chances = steps
    n = 0
    for i in range(count):
        for k in range(count):
            columns[n] = k
            chances[n] = matrix[i * width + k]
            n += matrix[i * width + k] > 0
        ends[i] = n


@inner
def _multiply(steps, ends, count, width, now, then):
    """Write the product of the matrix of steps and another."""
    columns, chances = steps
    start = 0
    for i in range(count):
        for j in range(0, width, _BLOCK):
            left = right = spread(np.float32(0.0))
            for n in range(start, ends[i]):
                chance, at = spread_from(chances, n), columns[n] * width + j
                left = multiply_add(chance, load(now, at), left)
                right = multiply_add(chance, load(now, at + LANES), right)
            store(then, i * width + j, left)
            store(then, i * width + j + LANES, right)
        start = ends[i]


@inner
def _sum_of_squares(numbers, count, lanes):
    total = spread(np.float32(0.0))
    for j in range(0, count, LANES):
        part = load(numbers, j)
        total = multiply_add(part, part, total)
    store(lanes, 0, total)
    return lanes.sum()
