"""What random walks tell is what the powers of their matrix say."""

import numpy as np
import pytest

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import FactorGraphConfig
from sudoku_learning.networks.factor_graph.graph import FactorGraph

FOUR = Geometry.standard(4)


def steps_of(board, geometry):
    """The matrix of a step between the candidates of a board."""
    graph = FactorGraph.of(board[None], candidates(board, geometry)[None], geometry)
    constraint_of = np.repeat(np.arange(len(graph.factor_ptr) - 1), np.diff(graph.factor_ptr))
    count = len(graph.positions)
    matrix = np.zeros((count, count))
    for p, row in enumerate(graph.variable_edges):
        for c in constraint_of[row[row < len(graph.edge_variable)]]:
            members = graph.edge_variable[graph.factor_ptr[c] : graph.factor_ptr[c + 1]]
            for q in members[members != p]:
                matrix[p, q] += 1 / len(row) / (len(members) - 1)
    return matrix


def candidates(one, geometry):
    return board.candidates(one[None], geometry).reshape(-1)


@pytest.mark.parametrize("longest", [4, 8])
def test_they_are_told_the_traces_of_powers(geometry, positions, longest):
    boards = positions(geometry, count=3)[0][:2]
    masks = board.candidates(boards, geometry).reshape(2, -1)
    graph = FactorGraph.of(boards, masks, geometry, walks=longest)
    assert graph.walk_features.shape == (len(graph.positions), longest - 2)
    logs = 2 * graph.walk_features[:, : longest // 2 - 1]
    rng = np.random.default_rng(0)
    for p in rng.choice(len(graph.positions), 6):
        which, placement = divmod(graph.positions[p], geometry.num_placements)
        left = boards[which].copy()
        left.reshape(-1)[placement // geometry.size] = placement % geometry.size + 1
        step = steps_of(left, geometry)
        for length in range(4, longest + 1, 2):
            chance = np.trace(np.linalg.matrix_power(step, length)) / len(step)
            assert logs[p, length // 2 - 2] == pytest.approx(np.log(chance + 1e-3), abs=1e-4)
    whose = graph.positions // geometry.num_placements
    means = np.stack([logs[whose == which].mean(0) for which in range(2)])
    np.testing.assert_allclose(
        graph.walk_features[:, longest // 2 - 1 :], 4 * (logs - means[whose]), atol=1e-4
    )


def test_walks_tell_two_rings_of_eight_from_one_of_sixteen():
    crossing = board.parse("1234 34.. .... ....")
    mask = candidates(crossing, FOUR)
    graph = FactorGraph.of(crossing[None], mask[None], FOUR, walks=8)
    of = dict(zip(graph.positions.tolist(), graph.walk_features, strict=True))
    one, two = of[24], of[25]  # the digits 1 and 2 in row 2, column 3
    assert one[2] > two[2] + 0.05 and one[5] > two[5] + 0.4
    for row in (of[28], of[29]):  # what follows from them, in column 4, leaves the same boards
        assert min(abs(row - one).max(), abs(row - two).max()) < 1e-6


@pytest.mark.parametrize("walks", [-2, 2, 5, 12])
def test_walks_that_make_no_sense(walks):
    with pytest.raises(ValueError, match="an even number from 4 to 10 for 8 channels"):
        FactorGraphConfig(8, walks=walks)
