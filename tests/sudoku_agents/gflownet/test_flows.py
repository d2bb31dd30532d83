"""The network of a GFlowNet: what it says of boards."""

import numpy as np
import pytest
import torch

from sudoku_agents.gflownet.flows import FlowNetwork
from sudoku_agents.gflownet.orders import ForwardMasks, forward_masks
from sudoku_gym import board, puzzles
from sudoku_gym.geometry import Geometry, symmetry
from sudoku_learning.networks import FactorGraphConfig, MLPConfig, seeded

FOUR = Geometry.standard(4)
CROSSING = board.parse("1234 34.. .... ....")  # a 1 next leaves 4 completions, a 2 leaves 2


def network_of(body=None, seed=0):
    body = body or FactorGraphConfig(16, 12)
    return seeded(seed, lambda: FlowNetwork(body, FOUR)).eval()


def some_boards(count=60):
    rng = np.random.default_rng(0)
    boards = puzzles.load("4x4", "train").puzzles
    return np.concatenate([boards[rng.integers(len(boards), size=count)], CROSSING[None]])


@pytest.mark.parametrize("body", [FactorGraphConfig(8, 4), MLPConfig((32,))])
@pytest.mark.parametrize("order", ["any", "rows"])
def test_the_policy_is_one_over_what_is_allowed(body, order):
    boards = some_boards()
    found = forward_masks(boards, FOUR, order)
    log_pf = network_of(body).log_policy(boards, found, FOUR)
    assert (np.isfinite(log_pf) == found.allowed).all()
    np.testing.assert_allclose(np.exp(log_pf).sum(1), 1, rtol=1e-5)


def test_what_is_not_asked_is_what_would_be_answered():
    boards = np.concatenate([some_boards(), some_boards()])
    found = forward_masks(boards, FOUR, "constrained")
    network = network_of()
    with torch.inference_mode():
        said = network.evaluate_states(boards, found, FOUR).log_pf[-1].numpy()
    np.testing.assert_allclose(network.log_policy(boards, found, FOUR), said, atol=1e-5)


def test_it_stays_equivariant():
    boards = some_boards()
    found = forward_masks(boards, FOUR, "constrained")
    moves = symmetry.sample(FOUR, len(boards), np.random.default_rng(0))
    actions = moves.apply_to_policy
    moved = ForwardMasks(actions(found.candidates), actions(found.allowed))
    network = network_of()
    log_pf = network.log_policy(boards, found, FOUR)
    after = network.log_policy(moves.apply(boards), moved, FOUR)
    np.testing.assert_allclose(actions(np.exp(log_pf)), np.exp(after), atol=1e-5)
