"""The network of a GFlowNet: what it says, what it can't see, and how walks help."""

import numpy as np
import pytest
import torch

from sudoku_agents.gflownet.flows import FlowNetwork, distinct
from sudoku_agents.gflownet.orders import Choices, choices
from sudoku_gym import board, puzzles, symmetry
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import ExactCoverConfig, MLPConfig, seeded

FOUR = Geometry.standard(4)
CROSSING = board.parse("1234 34.. .... ....")  # a 1 next leaves 4 completions, a 2 leaves 2
NEXT = [24, 25]  # row 2, column 3: the digits 1 and 2


def network_of(body=None, walks=0, seed=0):
    body = body or ExactCoverConfig(16, 12, walks=walks)
    return seeded(seed, lambda: FlowNetwork(body, FOUR)).eval()


def some_boards(count=60):
    rng = np.random.default_rng(0)
    boards = puzzles.load("4x4", "train").puzzles
    return np.concatenate([boards[rng.integers(len(boards), size=count)], CROSSING[None]])


@pytest.mark.parametrize("body", [ExactCoverConfig(8, 4), MLPConfig((32,))])
@pytest.mark.parametrize("order", ["any", "rows"])
def test_the_policy_is_one_over_what_is_allowed(body, order):
    boards = some_boards()
    found = choices(boards, FOUR, order)
    log_pf = network_of(body).log_policy(boards, found, FOUR)
    assert (np.isfinite(log_pf) == found.allowed).all()
    np.testing.assert_allclose(np.exp(log_pf).sum(1), 1, rtol=1e-5)


@pytest.mark.parametrize("walks", [0, 8])
def test_what_is_not_asked_is_what_would_be_answered(walks):
    boards = np.concatenate([some_boards(), some_boards()])
    found = choices(boards, FOUR, "constrained")
    network = network_of(walks=walks)
    with torch.inference_mode():
        said = network.answer(boards, found, FOUR).log_pf[-1].numpy()
    np.testing.assert_allclose(network.log_policy(boards, found, FOUR), said, atol=1e-5)


def test_each_board_is_found_once():
    boards = np.concatenate([some_boards(), some_boards()])
    index, inverse = distinct(boards)
    np.testing.assert_array_equal(boards[index][inverse], boards)
    assert len(index) == len(np.unique(boards.reshape(len(boards), -1), axis=0))


@pytest.mark.parametrize("seed", range(3))
def test_message_passing_can_not_tell_two_choices_apart_and_walks_can(seed):
    """With 1 in row 2, column 3 there are 4 completions, with 2 there are 2."""
    found = choices(CROSSING[None], FOUR, "rows")
    assert np.flatnonzero(found.allowed[0]).tolist() == NEXT
    blind = network_of(seed=seed).log_policy(CROSSING[None], found, FOUR)[0, NEXT]
    assert abs(blind[0] - blind[1]) < 1e-5
    seeing = network_of(walks=8, seed=seed).log_policy(CROSSING[None], found, FOUR)[0, NEXT]
    assert abs(seeing[0] - seeing[1]) > 1e-4


@pytest.mark.parametrize("walks", [0, 8])
def test_it_stays_equivariant(walks):
    boards = some_boards()
    found = choices(boards, FOUR, "constrained")
    moves = symmetry.sample(FOUR, len(boards), np.random.default_rng(0))
    actions = moves.apply_to_policy
    moved = Choices(actions(found.candidates), actions(found.allowed))
    network = network_of(walks=walks)
    log_pf = network.log_policy(boards, found, FOUR)
    after = network.log_policy(moves.apply(boards), moved, FOUR)
    np.testing.assert_allclose(actions(np.exp(log_pf)), np.exp(after), atol=1e-5)
