"""Messages of one all-different constraint: sum-product, max-product, and the polynomial one.

Paper: Khan, Jabbari, Jabbari and Ghanbarinejad, "Solving Sudoku using probabilistic graphical
models". Their exact messages cost N! terms; dynamic programming over sets of digits gives the same
numbers in O(N 2^N) for a whole constraint. A message is zero only where no assignment is left.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from sudoku_gym.compiler.jit import njit

MAX_PRODUCT, POLYNOMIAL = 1, 2
RULES = ("sum-product", "max-product", "polynomial")
MAX_EXACT = 20  # cells; 2^20 sets of digits take 16 MiB


def rule_number(rule: str, size: int) -> int:
    """Return the number of a rule; check that it can be used for constraints of `size` cells."""
    if rule not in RULES:
        raise ValueError(f"no rule is called {rule!r}: use {', '.join(RULES)}")
    if rule != "polynomial" and size > MAX_EXACT:
        raise ValueError(
            f"exact messages between {size} cells need 2^{size} sets of digits, and {MAX_EXACT} "
            "cells are the limit: use the rule 'polynomial'"
        )
    return RULES.index(rule)


@njit(cache=True)
def popcounts(size):
    """Return how many digits each set of `size` digits holds: int64 `[2**size]`."""
    counts = np.zeros(1 << size, np.int64)
    for digits in range(1, len(counts)):
        counts[digits] = counts[digits >> 1] + (digits & 1)
    return counts


@njit(cache=True)
def exact_messages(incoming, cells, take_max, counts, forward, backward, outgoing):
    """Write the exact messages of the first `cells` rows and columns of `incoming`.

    `forward[S]` sums (or maximises) over the ways to give the digits S to the first |S| cells,
    `backward[S]` over the ways to give the digits outside S to the others. Cell k gets digit x
    where the k cells before it hold S and those after it the rest. `take_max` is for max-product,
    `counts` are the `popcounts` of at least `cells`, and both scratch arrays have 2**cells places.
    """
    full = (1 << cells) - 1
    forward[0] = 1.0
    for digits in range(1, full + 1):
        cell = counts[digits] - 1
        total = 0.0
        for digit in range(cells):
            if (digits >> digit) & 1:
                term = incoming[cell, digit] * forward[digits ^ (1 << digit)]
                total = max(total, term) if take_max else total + term
        forward[digits] = total
    for cell in range(cells):
        for digit in range(cells):
            outgoing[cell, digit] = 0.0
    backward[full] = 1.0
    for digits in range(full - 1, -1, -1):
        cell = counts[digits]
        total = 0.0
        before = forward[digits]
        for digit in range(cells):
            if not (digits >> digit) & 1:
                after = backward[digits | (1 << digit)]
                term = incoming[cell, digit] * after
                message = before * after
                if take_max:
                    total = max(total, term)
                    outgoing[cell, digit] = max(outgoing[cell, digit], message)
                else:
                    total += term
                    outgoing[cell, digit] += message
        backward[digits] = total


@njit(cache=True)
def polynomial_messages(incoming, cells, outgoing):
    """Write equation 5, prod over the other cells of (1 - incoming), in O(cells^2).

    The first `cells` rows of `incoming` sum to 1.
    """
    for digit in range(cells):
        product = 1.0
        for cell in range(cells):
            outgoing[cell, digit] = product
            product *= max(1.0 - incoming[cell, digit], 0.0)
        product = 1.0
        for cell in range(cells - 1, -1, -1):
            outgoing[cell, digit] *= product
            product *= max(1.0 - incoming[cell, digit], 0.0)
