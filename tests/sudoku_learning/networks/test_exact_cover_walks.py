"""What random walks tell is what the powers of their matrix say."""

import numpy as np
import pytest
import torch

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import ExactCoverConfig
from sudoku_learning.networks.exact_cover.graph import ExactCoverGraph

FOUR = Geometry.standard(4)


def steps_of(board, geometry):
    """The matrix of a step between the candidates of a board."""
    graph = ExactCoverGraph.of(board[None], candidates(board, geometry)[None], geometry)
    constraint_of = np.repeat(np.arange(len(graph.first_seat) - 1), np.diff(graph.first_seat))
    count = len(graph.positions)
    matrix = np.zeros((count, count))
    for p, row in enumerate(graph.seats_of):
        for c in constraint_of[row[row < len(graph.occupants)]]:
            members = graph.occupants[graph.first_seat[c] : graph.first_seat[c + 1]]
            for q in members[members != p]:
                matrix[p, q] += 1 / len(row) / (len(members) - 1)
    return matrix


def candidates(one, geometry):
    return board.candidates(one[None], geometry).reshape(-1)


@pytest.mark.parametrize("longest", [2, 5, 6])
def test_returns_are_the_diagonals_of_powers(geometry, positions, longest):
    boards, _ = positions(geometry, count=2)
    masks = board.candidates(boards, geometry).reshape(2, -1)
    graph = ExactCoverGraph.of(boards, masks, geometry, walks=longest)
    assert graph.returns.shape == (len(graph.positions), longest - 1)
    rng = np.random.default_rng(0)
    for p in rng.choice(len(graph.positions), 6):
        which, placement = divmod(graph.positions[p], geometry.num_placements)
        left = boards[which].copy()
        left.reshape(-1)[placement // geometry.size] = placement % geometry.size + 1
        matrix = steps_of(left, geometry)
        power = matrix
        for length in range(2, longest + 1):
            power = power @ matrix
            wanted = 0.5 * np.log(np.diag(power).mean() + 1e-3)
            assert graph.returns[p, length - 2] == pytest.approx(wanted, abs=1e-5)


def test_walks_tell_two_rings_of_eight_from_one_of_sixteen():
    crossing = board.parse("1234 34.. .... ....")
    mask = candidates(crossing, FOUR)
    graph = ExactCoverGraph.of(crossing[None], mask[None], FOUR, walks=8)
    of = dict(zip(graph.positions.tolist(), graph.returns, strict=True))
    one, two = of[24], of[25]  # the digits 1 and 2 in row 2, column 3
    assert one[6] > two[6] + 0.05
    for row in (of[28], of[29]):  # what follows from them, in column 4, leaves the same boards
        assert min(abs(row - one).max(), abs(row - two).max()) < 1e-6


def test_the_last_placement_leaves_nothing_to_walk_on():
    last = board.parse("1234 3412 2143 432.")
    graph = ExactCoverGraph.of(last[None], candidates(last, FOUR)[None], FOUR, walks=4)
    np.testing.assert_allclose(graph.returns, 0.5 * np.log(1.001), rtol=1e-5)


def test_without_walks_there_is_nothing(positions, geometry):
    graph = ExactCoverGraph.of(*positions(geometry), geometry)
    assert graph.returns.shape == (len(graph.positions), 0)


@pytest.mark.parametrize("walks", [-1, 1, 10])
def test_walks_that_make_no_sense(walks):
    with pytest.raises(ValueError, match="walks must be 0, or 2 to 9 for 8 channels"):
        ExactCoverConfig(8, walks=walks)


def test_the_start_is_learned_all_the_same(positions, geometry):
    body = ExactCoverConfig(8, 3, walks=5).build(geometry)
    boards, masks = positions(geometry)
    features = body(torch.from_numpy(boards), torch.from_numpy(masks), geometry)
    features.placements.sum().backward()
    assert body.start.grad.abs().sum() > 0
