"""The rules follow the paper's equations and its schedule, step by step."""

from functools import partial
from itertools import permutations

import numpy as np
import pytest

from sudoku_baselines.belief_propagation.engine import initial_support
from sudoku_baselines.belief_propagation.solver import BeliefPropagation, max_product, sum_product
from sudoku_gym import puzzles
from sudoku_gym.geometry import Geometry

FOUR = Geometry.standard(4)
ASSIGNMENTS = np.array(list(permutations(range(4))))  # [24, 4], a digit for each cell of a unit
MINIMAL = puzzles.load("4x4", "test")[::100].puzzles


def normalised(weights):
    return weights / weights.sum(-1, keepdims=True)


def equation_1(incoming, combine):
    """Return equation 1 for the messages `[4, 4]` of four cells, by all ways to fill a unit."""
    outgoing = np.zeros((4, 4))
    for cell in range(4):
        others = [other for other in range(4) if other != cell]
        weights = np.prod([incoming[other, ASSIGNMENTS[:, other]] for other in others], 0)
        for digit in range(4):
            outgoing[cell, digit] = combine(weights[ASSIGNMENTS[:, cell] == digit])
    return outgoing


def equation_5(incoming):
    return np.array([np.prod(1 - np.delete(incoming, cell, 0), 0) for cell in range(4)])


def flooded(puzzle, iterations, messages_of_unit):
    """Return beliefs `[16, 4]`: all messages of an iteration are made of those of the last one."""
    prior = normalised(initial_support(puzzle[None], FOUR)[0].astype(float))
    messages = np.ones((12, 4, 4))  # from each unit to each of its cells
    for _ in range(iterations):
        beliefs_without = np.empty_like(messages)
        for unit, cells in enumerate(FOUR.units):
            for place, cell in enumerate(cells):
                product = prior[cell].copy()
                for other, places in zip(*np.nonzero(FOUR.units == cell), strict=True):
                    if other != unit:
                        product *= messages[other, places]
                beliefs_without[unit, place] = normalised(product)
        for unit in range(12):
            messages[unit] = normalised(messages_of_unit(beliefs_without[unit]))
    beliefs = prior.copy()
    for unit, cells in enumerate(FOUR.units):
        beliefs[cells] *= messages[unit]
    return normalised(beliefs)


@pytest.mark.parametrize("iterations", [1, 2, 3])
@pytest.mark.parametrize(
    ("make", "messages"),
    [
        (sum_product, partial(equation_1, combine=np.sum)),
        (max_product, partial(equation_1, combine=np.max)),
        (partial(BeliefPropagation, rule="polynomial", exact_zeros=False), equation_5),
    ],
    ids=("sum-product", "max-product", "equation-5"),
)
def test_beliefs_are_the_papers_after_each_iteration(make, messages, iterations):
    assert len(MINIMAL) > 10
    found = make(iterations=iterations).predict(MINIMAL, FOUR).reshape(-1, 16, 4)
    for puzzle, beliefs in zip(MINIMAL, found, strict=True):
        np.testing.assert_allclose(beliefs, flooded(puzzle, iterations, messages), atol=1e-9)
