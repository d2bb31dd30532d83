from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_baselines.belief_propagation.messages import (
    exact_messages,
    polynomial_messages,
    popcounts,
)
from sudoku_baselines.belief_propagation.solver import BeliefPropagationConfig


def messages_of(incoming, rule):
    size, outgoing = len(incoming), np.empty_like(incoming)
    if rule == "polynomial":
        polynomial_messages(incoming, size, outgoing)
    else:
        work = (popcounts(size), np.empty(1 << size), np.empty(1 << size))
        exact_messages(incoming, size, rule == "max-product", *work, outgoing)
    return outgoing


def by_permutations(incoming, combine):
    """Equation 1 term by term: every way to give the other cells different digits."""
    size = len(incoming)
    outgoing = np.zeros((size, size))
    for digits in permutations(range(size)):
        for cell, digit in enumerate(digits):
            others = [incoming[i, digits[i]] for i in range(size) if i != cell]
            outgoing[cell, digit] = combine(outgoing[cell, digit], np.prod(others))
    return outgoing


def with_zeros(seed, size):
    rng = np.random.default_rng(seed)
    matrix = rng.random((size, size)) * (rng.random((size, size)) < 0.7)
    return matrix / np.maximum(matrix.sum(1, keepdims=True), 1e-9)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_exact_messages_are_those_of_all_permutations(seed, size):
    incoming = with_zeros(seed, size)
    sums = messages_of(incoming, "sum-product")
    maxima = messages_of(incoming, "max-product")
    np.testing.assert_allclose(sums, by_permutations(incoming, lambda a, b: a + b), atol=1e-12)
    np.testing.assert_allclose(maxima, by_permutations(incoming, max), atol=1e-12)


@pytest.mark.parametrize("size", [1, 4, 9, 25])
def test_polynomial_messages_are_equation_5(size):
    incoming = with_zeros(size, size)
    expected = np.ones((size, size))
    for cell in range(size):
        for other in range(size):
            if other != cell:
                expected[cell] *= 1 - incoming[other]
    np.testing.assert_allclose(messages_of(incoming, "polynomial"), expected, atol=1e-12)


def test_the_marginal_of_a_permanent_is_a_message_times_the_incoming_one():
    incoming = with_zeros(3, 8)
    marginals = incoming * messages_of(incoming, "sum-product")
    # Each cell has some digit and each digit some cell, so lines share one sum: the permanent.
    np.testing.assert_allclose(marginals.sum(0), marginals.sum(1)[0])
    np.testing.assert_allclose(marginals.sum(1), marginals.sum(1)[0])


def test_what_can_not_be_computed_is_named():
    with pytest.raises(ValueError, match="use the rule 'polynomial'"):
        BeliefPropagationConfig(rule="max-product").as_numbers(25)
