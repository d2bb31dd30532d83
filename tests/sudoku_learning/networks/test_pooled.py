"""The network sees nothing but the exact-cover structure, so symmetry and size can't matter."""

import numpy as np
import pytest
import torch

from sudoku_gym import board
from sudoku_gym.geometry import Geometry, sudoku_x, symmetry
from sudoku_gym.puzzles.generator import generate
from sudoku_learning.networks import ILLEGAL_LOGIT, POLICY_AND_VALUE, Network, PooledConfig

GEOMETRIES = [Geometry.standard(4), Geometry.standard(6), Geometry.standard(9), sudoku_x(9)]


def make(channels, layers):
    config = PooledConfig(channels, layers)
    return Network(config, POLICY_AND_VALUE, Geometry.standard(4))


@pytest.fixture(scope="module")
def network():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return make(16, 3).eval()


def positions(geometry, count=6):
    """Puzzles with some random legal placements; dead ends are among them."""
    rng = np.random.default_rng(1)
    boards = np.repeat(generate(1, geometry, rng=rng).puzzles, count, axis=0)
    for i in range(count):
        for _ in range(2 * i):
            placements = np.argwhere(board.candidates(boards[i : i + 1], geometry)[0])
            if not len(placements):
                break
            row, column, digit = placements[rng.integers(len(placements))]
            boards[i, row, column] = digit + 1
    return boards, board.candidates(boards, geometry).reshape(count, -1)


def answer(network, boards, masks, geometry):
    with torch.inference_mode():
        found = network(torch.from_numpy(boards), torch.from_numpy(masks), geometry)
    return found["policy"].numpy(), found["value"].numpy()


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=repr)
def test_equivariant_under_the_whole_group(network, geometry):
    boards, masks = positions(geometry)
    moves = symmetry.sample(geometry, len(boards), np.random.default_rng(2))
    logits, values = answer(network, boards, masks, geometry)
    moved_logits, moved_values = answer(
        network, moves.apply(boards), moves.apply_to_policy(masks), geometry
    )
    np.testing.assert_allclose(moves.apply_to_policy(logits), moved_logits, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(values, moved_values, rtol=1e-4, atol=1e-5)
    assert np.ptp(logits[masks]) > 1e-3  # it does tell placements apart


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=repr)
def test_boards_of_a_batch_do_not_touch_each_other(network, geometry):
    boards, masks = positions(geometry)
    logits, values = answer(network, boards, masks, geometry)
    for i in range(len(boards)):
        one_logits, one_value = answer(network, boards[i : i + 1], masks[i : i + 1], geometry)
        np.testing.assert_allclose(one_logits[0], logits[i], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(one_value[0], values[i], rtol=1e-4, atol=1e-5)


def test_illegal_placements_have_no_chance(network):
    geometry = Geometry.standard(4)
    boards, masks = positions(geometry)
    logits, _ = answer(network, boards, masks, geometry)
    assert (logits[~masks] == ILLEGAL_LOGIT).all()
    assert (logits[masks] > ILLEGAL_LOGIT / 2).all()


def test_finished_boards_and_empty_batches_are_no_trouble(network):
    geometry = Geometry.standard(4)
    solved = np.array([[[1, 2, 3, 4], [3, 4, 1, 2], [2, 1, 4, 3], [4, 3, 2, 1]]], np.int8)
    logits, values = answer(network, solved, np.zeros((1, 64), np.bool_), geometry)
    assert (logits == ILLEGAL_LOGIT).all() and np.isfinite(values).all()
    logits, values = answer(network, solved[:0], np.zeros((0, 64), np.bool_), geometry)
    assert logits.shape == (0, 64) and values.shape == (0,)


def test_gradients_reach_every_weight():
    geometry = Geometry.standard(4)
    boards, masks = positions(geometry)
    network = make(8, 2)
    found = network(torch.from_numpy(boards), torch.from_numpy(masks), geometry)
    logits, values = found["policy"], found["value"]
    (
        torch.log_softmax(logits, 1)[torch.from_numpy(masks)].square().mean() + values.mean()
    ).backward()
    for name, weight in network.named_parameters():
        assert weight.grad is not None and weight.grad.abs().sum() > 0, name
