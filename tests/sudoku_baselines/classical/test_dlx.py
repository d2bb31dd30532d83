from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_baselines.classical import dlx
from sudoku_baselines.classical.dlx import ITEM_RULES, DancingLinks
from sudoku_baselines.classical.tree_search import COUNTS, FOUND
from sudoku_gym import board
from sudoku_gym.puzzles import load


def first_cover(options, num_items, item_rule="failures"):
    """The cover that the search finds, or None: any exact cover, not only Sudoku's."""
    width = max(map(len, options), default=1)
    table = np.full((len(options), width), num_items, np.int32)
    for row, option in zip(table, options, strict=True):
        row[: len(option)] = option
    nodes = num_items + 2 + len(options) * (width + 1)
    links = tuple(np.zeros(nodes, np.uint32) for _ in range(7))
    dlx._link(links, table, np.zeros(num_items + 1, np.bool_))
    chosen, failures = np.zeros(num_items + 1, np.uint32), np.zeros(num_items + 1, np.int64)
    counts, rule = np.zeros(1, COUNTS)[0], ITEM_RULES.index(item_rule)
    if dlx._search(links, chosen, failures, rule, counts, 10**6) != FOUND:
        return None
    return sorted(links[-1][chosen[: counts["depth"]]].tolist())


def covers_of(options, num_items):
    """All exact covers, by trying every choice of options."""
    items = list(range(num_items))
    return [
        list(choice)
        for count in range(len(options) + 1)
        for choice in combinations(range(len(options)), count)
        if sorted(item for i in choice for item in options[i]) == items
    ]


@st.composite
def problems(draw):
    num_items = draw(st.integers(1, 6))
    option = st.sets(st.integers(0, num_items - 1), min_size=1, max_size=4).map(sorted)
    return draw(st.lists(option, max_size=9)), num_items


@settings(deadline=None)
@given(problems(), st.sampled_from(ITEM_RULES))
def test_any_exact_cover(problem, item_rule):
    options, num_items = problem
    covers = covers_of(options, num_items)
    found = first_cover(options, num_items, item_rule=item_rule)
    assert found in covers if covers else found is None


@pytest.mark.parametrize("name", ["6x6", "x9x9", "9x9", "16x16"])
def test_it_agrees_with_the_suites_solver(name):
    puzzles = load(name, split="test")[:25]
    algorithm = DancingLinks()
    assert (algorithm.solve(puzzles.puzzles, puzzles.geometry) == puzzles.solutions).all()
    assert (algorithm.nodes - algorithm.backtracks == puzzles.blanks).all()
    assert (algorithm.nodes == algorithm.assignments).all()


def test_a_16x16_puzzle_without_a_solution_is_proven_so():
    puzzles = load("16x16", split="test")[:1]
    wrong = puzzles.puzzles.copy()
    row, column = np.argwhere(wrong[0] == 0)[0]
    candidates = board.candidates(wrong, puzzles.geometry)[0, row, column]
    candidates[puzzles.solutions[0, row, column] - 1] = False
    wrong[0, row, column] = candidates.argmax() + 1
    algorithm = DancingLinks()
    assert candidates.any() and not algorithm.solve(wrong, puzzles.geometry).any()
    assert algorithm.status == ["none"] and (algorithm.nodes == algorithm.backtracks).all()
