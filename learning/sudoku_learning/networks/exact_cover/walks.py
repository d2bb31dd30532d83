"""Closed walks: what message passing can't see, a number of numbers for each placement.

Two placements look alike to any number of rounds of messages if their neighbours do, and their
neighbours' neighbours, and so on. Whether chains of them close to two rings of eight or to one of
sixteen is not seen, but on that may depend how many solutions there are: on the empty 4x4 board,
with 1234 in the first row and 34 after it, a 1 leaves four of them and a 2 leaves two. A random
walk notices: it comes back sooner on a small ring.

So each placement p is told of the board that it would leave behind, where p and whatever shares a
constraint with it are gone. A step of a walk there goes from a placement to one of its K
constraints, each with the chance 1 / K, and from there to one of the others in it; where there is
no other, the walk is over. With the matrix T of such a step, p is told how likely walks of 2, 3,
..., L steps come back, as a mean over the starts q: the mean of (T^l)_qq. T is symmetric, so half
of the steps are enough:

    (T^2k)_qq = |T^k e_q|^2        (T^(2k + 1))_qq = T^k e_q . T^(k + 1) e_q

All of it depends on the graph alone, so a network that is told stays equivariant. The price is
time: for each of P placements, P walks of L / 2 steps over all seats. That suits boards of 4x4.

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


@njit(cache=True, nogil=True)
def count_returns(seats_of, occupants, first_seat, first_placement, first_constraint, longest):
    """Return 0.5 log(mean chance + 0.001) for walks of 2 to `longest` steps: `[P, longest - 1]`.

    The other arguments are those of `ExactCoverGraph`; without `longest` it is `[P, 0]`. Where
    nothing would be left to walk on, the chance is 1.
    """
    returns = np.zeros((len(seats_of), max(longest - 1, 0)), np.float32)
    if returns.shape[1] == 0:
        return returns
    placements = np.diff(first_placement).max() if len(first_placement) > 1 else 0
    constraints = np.diff(first_constraint).max() if len(first_constraint) > 1 else 0
    is_left = np.empty(placements, np.bool_)
    met = np.empty((placements, seats_of.shape[1]), np.int64)
    chances = np.empty((2, placements), np.float64)
    sizes, sums = np.empty(constraints, np.int64), np.empty(constraints, np.float64)
    constraint_of = np.empty(len(occupants), np.int64)
    for c in range(len(first_seat) - 1):
        constraint_of[first_seat[c] : first_seat[c + 1]] = c
    for b in range(len(first_placement) - 1):
        first, last = first_placement[b], first_placement[b + 1]
        for p in range(first, last):
            is_left[: last - first] = True
            is_left[p - first] = False
            for seat in seats_of[p]:
                if seat < len(occupants):
                    c = constraint_of[seat]
                    for s in range(first_seat[c], first_seat[c + 1]):
                        is_left[occupants[s] - first] = False
            count = 0
            sizes[:] = 0
            for q in range(first, last):
                if is_left[q - first]:
                    for k, seat in enumerate(seats_of[q]):
                        met[count, k] = -1
                        if seat < len(occupants):
                            met[count, k] = constraint_of[seat] - first_constraint[b]
                            sizes[met[count, k]] += 1
                    count += 1
            told = returns[p]
            for start in range(count):
                _walk(start, met[:count], sizes, sums, chances, told)
            for j in range(len(told)):
                mean = told[j] / count if count else 1.0
                told[j] = _SCALE * np.log(mean + _FLOOR)
    return returns


@inner
def _walk(start, met, sizes, sums, chances, told):
    """Add how likely walks from a placement come back after 2, 3, ... steps to `told`."""
    now, then = chances[0, : len(met)], chances[1, : len(met)]
    now[:] = 0.0
    now[start] = 1.0
    _step(met, sizes, sums, now, then)
    for j in range(len(told)):
        if j % 2 == 0:
            now, then = then, now
            told[j] += (now * now).sum()
        else:
            _step(met, sizes, sums, now, then)
            told[j] += (now * then).sum()


@inner
def _step(met, sizes, sums, now, then):
    """Go a step further, from the chances `now` of being at each placement to those of `then`."""
    sums[:] = 0.0
    for q in range(len(met)):
        for c in met[q]:
            if c >= 0:
                sums[c] += now[q]
    for q in range(len(met)):
        total = 0.0
        for c in met[q]:
            if c >= 0 and sizes[c] > 1:
                total += (sums[c] - now[q]) / (sizes[c] - 1)
        then[q] = total / met.shape[1]
