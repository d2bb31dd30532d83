"""The packed graph is the open part of the exact-cover problem, no more and no less."""

import numpy as np
import pytest

from sudoku_gym import board
from sudoku_gym.geometry import Geometry, latin_square, sudoku_x, windows
from sudoku_gym.geometry.exact_cover import constraint_members, intersection_table
from sudoku_gym.puzzles.generator import generate
from sudoku_learning.networks.factor_graph.graph import FactorGraph


def constraints_of(graph):
    """The constraint of each edge."""
    return np.repeat(np.arange(len(graph.factor_ptr) - 1), np.diff(graph.factor_ptr))


def described(graph, geometry, b):
    """The constraints of board b as a sorted list of sets of positions in its mask."""
    p = graph.positions % geometry.num_placements
    first, last = graph.board_factor_ptr[b : b + 2]
    return sorted(
        sorted(p[graph.edge_variable[graph.factor_ptr[c] : graph.factor_ptr[c + 1]]].tolist())
        for c in range(first, last)
    )


def open_constraints(cells, mask, geometry):
    """The same from the rules."""
    size = geometry.size
    found = []
    for cell in np.flatnonzero(cells == 0):
        found.append([cell * size + d for d in range(size) if mask[cell * size + d]])
    for unit in geometry.units:
        for digit in set(range(1, size + 1)) - set(cells[unit].tolist()):
            places = sorted(c * size + digit - 1 for c in unit)
            found.append([p for p in places if mask[p]])
    return sorted(found)


def test_placements_meet_the_open_constraints(geometry, positions):
    boards, masks = positions(geometry)
    graph = FactorGraph.of(boards, masks, geometry)
    np.testing.assert_array_equal(graph.positions, np.flatnonzero(masks))
    for b in range(len(boards)):
        flat = boards[b].ravel()
        blank = np.repeat(flat == 0, geometry.size)
        assert described(graph, geometry, b) == open_constraints(flat, masks[b] & blank, geometry)
        lengths = np.diff(graph.factor_ptr)[
            graph.board_factor_ptr[b] : graph.board_factor_ptr[b + 1]
        ]
        assert (np.diff(lengths) >= 0).all()


def test_both_directions_hold_the_same_edges(geometry, positions):
    graph = FactorGraph.of(*positions(geometry), geometry)
    edges = graph.variable_edges[graph.variable_edges < len(graph.edge_variable)]
    assert sorted(edges.tolist()) == list(range(len(graph.edge_variable)))
    placement = np.nonzero(graph.variable_edges < len(graph.edge_variable))[0]
    np.testing.assert_array_equal(graph.edge_variable[edges], placement)


def test_wide_masks_meet_fulfilled_constraints():
    geometry = Geometry.standard(4)
    boards = board.parse_many(["1..............."])
    masks = np.repeat(boards.reshape(1, 16) == 0, 4, axis=1)
    graph = FactorGraph.of(boards, masks, geometry)
    fulfilled = (graph.variable_edges == len(graph.edge_variable) + 1).sum(1)
    cell, digit = np.divmod(graph.positions, 4)
    row, column = np.divmod(cell, 4)
    same = (row == 0).astype(int) + (column == 0) + ((row < 2) & (column < 2))
    np.testing.assert_array_equal(fulfilled, np.where(digit == 0, same, 0))


@pytest.mark.parametrize(
    ("geometry", "pairs"),
    [
        (Geometry.standard(4), 16),
        (Geometry.standard(6), 6 * 2 + 6 * 3),  # boxes of 2 x 3 cells
        (Geometry.standard(9), 54),
        (sudoku_x(9), 54 + 6),  # each diagonal crosses three boxes
        (latin_square(5), 0),
        (Geometry.boxes(1, 5), 0),  # boxes that are rows
    ],
    ids=repr,
)
def test_pairs_of_units_that_cross(geometry, pairs):
    table = intersection_table(geometry)
    assert len(set(table[:, :, 0][table[:, :, 0] >= 0].tolist())) == pairs


@pytest.mark.parametrize("geometry", [Geometry.standard(6), sudoku_x(9), windows(9)], ids=repr)
def test_parts_of_intersections(geometry):
    puzzle = generate(2, geometry, rng=np.random.default_rng(3))
    masks = board.candidates(puzzle.puzzles, geometry).reshape(2, -1)
    graph = FactorGraph.of(puzzle.puzzles, masks, geometry, intersections=True)
    constraint = constraints_of(graph)
    units = np.zeros((len(geometry.units), geometry.num_cells), bool)
    np.put_along_axis(units, geometry.units.astype(np.int64), True, 1)
    count = graph.board_intersection_ptr[-1]
    expected = 0
    for b in range(2):
        for i, first in enumerate(units):
            for second in units[:i]:
                if (first & second).sum() > 1:
                    shared = masks[b].reshape(-1, geometry.size)[first & second]
                    expected += shared.any(0).sum()  # one for each digit that has a place there
    assert len(graph.intersection_lists) == count == expected
    for q in range(count):
        parts = [
            graph.list_edges[graph.list_ptr[i] : graph.list_ptr[i + 1]]
            for i in graph.intersection_lists[q]
        ]
        members = np.flatnonzero((graph.variable_intersections == q).any(1))
        for inside, outside in (parts[:2], parts[2:]):
            assert sorted(graph.edge_variable[inside].tolist()) == members.tolist()
            c = constraint[inside[0]]
            everyone = np.flatnonzero(constraint == c)
            assert sorted([*inside.tolist(), *outside.tolist()]) == everyone.tolist()


def test_what_does_not_fit_is_refused():
    boards, masks = np.zeros((1, 4, 4), np.int8), np.ones((1, 64), bool)
    with pytest.raises(ValueError, match=r"are not \[B, 9, 9\]"):
        FactorGraph.of(boards, masks, Geometry.standard(9))
    with pytest.raises(ValueError, match=r"\[B, 64\]"):
        FactorGraph.of(boards, masks[:, :-1], Geometry.standard(4))
    with pytest.raises(ValueError, match="are 0 \\(blank\\) to 4, not 0 to 5"):
        FactorGraph.of(boards + np.int8(5) * np.eye(4, dtype=np.int8), masks, Geometry.standard(4))


def test_constraints_have_their_members():
    for geometry in (Geometry.standard(4), Geometry.standard(6), sudoku_x(9)):
        size, members = geometry.size, constraint_members(geometry)
        assert members.shape == (geometry.num_cells + len(geometry.units) * size, size)
        for cell in range(geometry.num_cells):
            assert set(members[cell]) == set(range(cell * size, (cell + 1) * size))
        of_units = members[geometry.num_cells :].reshape(len(geometry.units), size, size)
        for unit, placements in zip(geometry.units, of_units, strict=True):
            for digit in range(size):
                assert set(placements[digit] // size) == set(unit)
                assert set(placements[digit] % size) == {digit}
