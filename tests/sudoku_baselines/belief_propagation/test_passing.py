from functools import cache
from itertools import permutations, product

import numpy as np
import pytest

from sudoku_baselines.belief_propagation.engine import FactorTables
from sudoku_baselines.belief_propagation.passing import OUTCOMES, propagate_batch
from sudoku_baselines.belief_propagation.solver import BeliefPropagationConfig

# Three constraints in a row, each sharing one cell with the next: a tree.
TREE = np.array([[0, 1, 2, 3], [3, 4, 5, 6], [6, 7, 8, 9]], np.int32)
CELLS, SIZE = 10, 4
SCHEDULES = [{"schedule": "flooding"}, {"schedule": "residual"}, {"damping": 0.5}]


def tree_tables(tree=TREE):
    cell_units = np.full((CELLS, 2), len(tree), np.int32)
    edges = np.full((CELLS, 2), tree.size, np.int32)
    peers = np.repeat(np.arange(CELLS, dtype=np.int32)[:, None], 6, axis=1)
    for cell in range(CELLS):
        units, places = np.nonzero(tree == cell)
        cell_units[cell, : len(units)] = units
        edges[cell, : len(units)] = units * SIZE + places
        others = np.setdiff1d(tree[units], [cell])
        peers[cell, : len(others)] = others
    for table in (tree, cell_units, peers):
        table.setflags(write=False)  # as a geometry's, or the kernel is compiled once more
    return FactorTables(tree, cell_units, peers, edges, np.empty((0, 3), np.int32))


@cache
def assignments():
    """List all ways to fill the tree, digits `[M, 10]`: one permutation a constraint."""
    found = []
    for parts in product(permutations(range(SIZE)), repeat=len(TREE)):
        digits = np.full(CELLS, -1)
        agrees = True
        for unit, part in zip(TREE, parts, strict=True):
            agrees = agrees and all(digits[c] in (-1, d) for c, d in zip(unit, part, strict=True))
            digits[unit] = part
        if agrees:
            found.append(digits)
    return np.array(found)


def exact_marginals(support, combine):
    """Sum (or maximise) over all assignments of the tree."""
    marginals = np.zeros((CELLS, SIZE))
    for digits in assignments():
        if support[np.arange(CELLS), digits].all():
            for cell, digit in enumerate(digits):
                marginals[cell, digit] = combine(marginals[cell, digit], 1.0)
    return marginals


def run(support, tree=TREE, iterations=80, **changes):
    supports = support[None].copy()
    beliefs = np.zeros((1, CELLS, SIZE))
    grids, outcome = np.zeros((1, CELLS), np.int8), np.zeros(1, np.int64)
    config = BeliefPropagationConfig(iterations=iterations, check_every=0, **changes)
    made = np.zeros(1, np.int64)
    numbers = config.as_numbers(SIZE)
    outputs = grids, beliefs, outcome, made
    propagate_batch(supports, tree_tables(tree), numbers, *outputs)
    return beliefs[0], OUTCOMES[outcome[0]]


def random_support(seed):
    return np.random.default_rng(seed).random((CELLS, SIZE)) < 0.75


@pytest.mark.parametrize("changes", SCHEDULES, ids=str)
@pytest.mark.parametrize("seed", range(8))
def test_marginals_are_exact_on_a_tree(seed, changes):
    support = random_support(seed)
    marginals = exact_marginals(support, lambda a, b: a + b)
    beliefs, status = run(support, **changes)
    if not marginals.any():
        assert status == "contradiction"
        return
    np.testing.assert_allclose(beliefs, marginals / marginals.sum(1, keepdims=True), atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_max_marginals_are_exact_on_a_tree(seed):
    support = random_support(seed)
    marginals = exact_marginals(support, max)
    if marginals.any():
        beliefs, _ = run(support, rule="max-product")
        np.testing.assert_allclose(beliefs, marginals / marginals.sum(1, keepdims=True), atol=1e-9)


def test_flooding_takes_all_units_at_once():
    """Three units pass a decided digit on: from unit 1 to 3 it takes flooding three iterations."""
    support = np.ones((CELLS, SIZE), np.bool_)
    support[:3] = np.eye(SIZE, dtype=np.bool_)[:3]  # so cell 3 has the last digit
    support[4:6] = np.eye(SIZE, dtype=np.bool_)[:2]  # and cell 6 the third
    support[7:9] = np.eye(SIZE, dtype=np.bool_)[:2]  # and cell 9 the last
    decided = set()
    for order in permutations(range(len(TREE))):
        beliefs, _ = run(support, TREE[list(order)], iterations=1)
        decided.add(int((beliefs == 1).any(1).sum()))
    assert len(decided) == 1  # whatever the order of the units
