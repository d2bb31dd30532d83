import numpy as np
import pytest

from sudoku_baselines.belief_propagation.messages import placement_graph, placement_messages
from sudoku_gym.geometry import Geometry, sudoku_x

SMALL = [Geometry.standard(4), Geometry.boxes(2, 3), sudoku_x(4)]


def all_placements(geometry):
    """Every set of N cells that has one cell in each unit, row by row."""
    found = [[]]
    for row in range(geometry.size):
        cells = range(row * geometry.size, (row + 1) * geometry.size)
        found = [
            [*chosen, cell]
            for chosen in found
            for cell in cells
            if not np.isin(chosen, geometry.peers[cell]).any()
        ]
    placed = np.array(found)
    holds = np.zeros((len(placed), geometry.num_cells), np.bool_)
    holds[np.arange(len(placed))[:, None], placed] = True
    return holds[(holds[:, geometry.units].sum(2) == 1).all(1)]


def send(geometry, weights):
    edges = placement_graph(geometry).copy()
    nodes = edges[-1, 1] + 1
    messages = np.zeros(geometry.num_cells)
    first = placement_messages(edges, 0, weights, np.zeros(nodes), np.zeros(nodes), messages)
    return messages, edges, first


@pytest.mark.parametrize("geometry", SMALL, ids=repr)
def test_messages_sum_over_every_placement(geometry):
    rng = np.random.default_rng(0)
    holds = all_placements(geometry)
    for density in (1, 0.8, 0.6):
        weights = rng.random(geometry.num_cells) * (rng.random(geometry.num_cells) < density)
        messages, edges, first = send(geometry, weights)
        for cell in np.flatnonzero(weights):
            through = holds[holds[:, cell]].copy()
            through[:, cell] = False
            expected = np.where(through, weights, 1.0).prod(1).sum()
            assert messages[cell] == pytest.approx(expected, abs=1e-15)
        # What was dropped lay on no possible placement.
        cells_left = set(edges[first:, 2].tolist())
        possible = holds[np.where(holds, weights, 1.0).prod(1) > 0]
        assert cells_left == set(np.flatnonzero(possible.any(0)).tolist())


def test_the_empty_9x9_board_has_46656_placements_of_a_digit():
    messages, _, first = send(Geometry.standard(9), np.ones(81))
    assert (messages == 46656 / 9).all() and first == 0
