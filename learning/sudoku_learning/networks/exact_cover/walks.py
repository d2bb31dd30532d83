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

from sudoku_gym.kernels.compiler import njit
from sudoku_learning.networks.exact_cover.vectors import inner

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

_FLOOR = 1e-3
_SCALE = 0.5
_MAGNIFIED = 4.0


@njit(cache=True, nogil=True)
def count_returns(seats_of, occupants, first_seat, first_placement, first_constraint, longest):
    """Return what each placement is told: float32 `[P, longest - 2]`, `[P, 0]` without walks.

    The first half is 0.5 log(mean chance + 0.001) for 4, 6, ..., `longest` steps, where the chance
    is 1 if nothing is left to walk on; the second half is 4 times the differences of the logs.
    The other arguments are those of `ExactCoverGraph`.
    """
    lengths = max(longest - 2, 0) // 2
    returns = np.zeros((len(seats_of), 2 * lengths), np.float32)
    if lengths == 0 or len(seats_of) == 0:
        return returns
    most = np.diff(first_placement).max()
    matrices = np.empty((3, most, most), np.float32)
    place, members = np.empty(most, np.int64), np.empty(most, np.int64)
    for b in range(len(first_placement) - 1):
        first, last = first_placement[b], first_placement[b + 1]
        constraints = first_constraint[b], first_constraint[b + 1]
        for p in range(first, last):
            count = _leave(p, first, last, occupants, first_seat, constraints, place)
            step = matrices[0, :count, :count]
            _fill_step(step, place, first, occupants, first_seat, constraints, members)
            step /= seats_of.shape[1]
            now, then = matrices[1, :count, :count], matrices[2, :count, :count]
            now[:] = step
            for j in range(lengths):
                _multiply(step, now, then)
                now, then = then, now
                chance = (now * now).sum() / count if count else 1.0
                returns[p, j] = np.log(chance + _FLOOR)
        for j in range(lengths if last > first else 0):
            mean = returns[first:last, j].mean()
            for p in range(first, last):
                returns[p, lengths + j] = _MAGNIFIED * (returns[p, j] - mean)
                returns[p, j] *= _SCALE
    return returns


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
def _fill_step(step, place, first, occupants, first_seat, constraints, members):
    """Write K times the chances of a step from each placement that is left to each other."""
    step[:] = 0.0
    for c in range(constraints[0], constraints[1]):
        size = 0
        for s in range(first_seat[c], first_seat[c + 1]):
            if place[occupants[s] - first] >= 0:
                members[size] = place[occupants[s] - first]
                size += 1
        for i in range(size):
            for j in range(size):
                if i != j:
                    step[members[i], members[j]] += np.float32(1.0) / np.float32(size - 1)


@inner
def _multiply(step, now, then):
    """Write the product of a matrix with many zeros and another."""
    then[:] = 0.0
    for i in range(len(step)):
        for k in range(len(step)):
            chance = step[i, k]
            if chance > 0:
                for j in range(len(step)):
                    then[i, j] += chance * now[k, j]
