from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_baselines.classical import dlx
from sudoku_baselines.classical.dlx import ITEM_RULES, DancingLinks
from sudoku_baselines.classical.tree_search import DEPTH, FOUND
from sudoku_gym import board
from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.puzzles import generator, load

KNUTHS_EXAMPLE = [[2, 4], [0, 3, 6], [1, 2, 5], [0, 3, 5], [1, 6], [3, 4, 6]]


def first_cover(options, num_items, item_rule="failures"):
    """The cover that the search finds, or None: any exact cover, not only Sudoku's."""
    links = dlx._new_links(num_items, len(options), max(map(len, options), default=0))
    spacer = dlx._clear(links, num_items)
    for number, option in enumerate(options):
        items = np.array(option, np.uint32) + np.uint32(1)
        spacer = dlx._append_option(links, spacer, items, len(items), number)
    chosen, failures = np.zeros(num_items + 1, np.uint32), np.zeros(num_items + 1, np.int64)
    counts, rule = np.zeros(3, np.int64), ITEM_RULES.index(item_rule)
    chosen[0] = dlx._choose_item(links, failures, rule)
    if dlx._search(links, chosen, failures, rule, counts, 10**6) != FOUND:
        return None
    return sorted(links[-1][chosen[: counts[DEPTH]]].tolist())


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


def test_knuths_example():
    assert first_cover(KNUTHS_EXAMPLE, 7) == [0, 3, 4]
    assert first_cover([[0]], 2) is None  # the last open item has no option


def test_an_unknown_item_rule_is_named():
    with pytest.raises(ValueError, match="item_rule 'best' is unknown"):
        DancingLinks(item_rule="best")


def random_puzzles(geometry):
    """Puzzles of 4 givens in 10 cells; in half of them one was changed, so that many fail."""
    rng = np.random.default_rng(0)
    grids = generator.random_grids(40, geometry, rng)
    puzzles = np.where(rng.random(grids.shape) < 0.4, grids, 0).astype(np.int8)
    puzzles[::2, 0, 0] = grids[::2, 0, 0] % geometry.size + 1
    return puzzles[~board.conflicts(puzzles, geometry).any((1, 2))]


def by_the_book(puzzle, geometry, item_rule):
    """Algorithm X on sets: the grid or None, and the options tried.

    Items are ordered as the docstring says (cells, then the digits of each unit), options by cell
    and digit.
    """
    cells = [("cell", c) for c in range(geometry.num_cells)]
    units = [(u, d) for u in range(len(geometry.units)) for d in range(geometry.size)]
    covers = {
        (c, d): {("cell", c)} | {(u, d) for u in geometry.cell_units[c] if u < len(geometry.units)}
        for c in range(geometry.num_cells)
        for d in range(geometry.size)
    }
    grid = puzzle.ravel().copy()
    given_items = set().union(*(covers[c, grid[c] - 1] for c in np.flatnonzero(grid)))
    failures, tried = dict.fromkeys(cells + units, 0), 0

    def solve(items, options):
        nonlocal tried
        if not items:
            return True
        lists = {item: [o for o in options if item in covers[o]] for item in items}
        if item_rule == "first":
            best = items[0]
        else:
            # a lone option, or none, is taken where it is met first
            forced = [item for item in items if len(lists[item]) <= 1]
            tie = failures if item_rule == "failures" else dict.fromkeys(items, 0)
            best = min(forced[:1] or items, key=lambda item: (len(lists[item]), -tie[item]))
        for option in lists[best]:
            tried += 1
            grid[option[0]] = option[1] + 1
            items_left = [item for item in items if item not in covers[option]]
            options_left = [o for o in options if not covers[o] & covers[option]]
            if solve(items_left, options_left):
                return True
        failures[best] += 1
        return False

    items = [item for item in cells + units if item not in given_items]
    options = [option for option in covers if not covers[option] & given_items]
    return (grid.reshape(puzzle.shape) if solve(items, options) else None), tried


@pytest.mark.parametrize("item_rule", ITEM_RULES)
@pytest.mark.parametrize("geometry", [Geometry.boxes(2, 2), Geometry.boxes(2, 3), sudoku_x(6)])
def test_it_walks_the_tree_of_algorithm_x(geometry, item_rule):
    puzzles = random_puzzles(geometry)
    algorithm = DancingLinks(item_rule=item_rule)
    grids = algorithm.solve(puzzles, geometry)
    for i, puzzle in enumerate(puzzles):
        expected, tried = by_the_book(puzzle, geometry, item_rule)
        assert algorithm.nodes[i] == tried
        assert algorithm.status[i] == ("none" if expected is None else "solved")
        assert (grids[i] == (0 if expected is None else expected)).all()
    assert set(algorithm.status) == {"none", "solved"}


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


def test_the_rule_is_checked():
    with pytest.raises(ValueError, match="item_rule 'best' is unknown: use one of"):
        DancingLinks(item_rule="best")
