"""Queued moves are played without another evaluation, as long as the game follows them."""

import numpy as np
import pytest
import torch

from sudoku_gym import board, evaluate, load_policy, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.testing import check_policy
from sudoku_learning.networks import (
    NO_RESTARTS,
    POLICY_AND_VALUE,
    FactorGraphConfig,
    Network,
    NetworkPolicy,
    Restarts,
    evaluate_boards,
    seeded,
)
from sudoku_learning.networks.policy import MoveQueue

FOUR = Geometry.standard(4)


def rated(**ratings):
    """Ratings of a 4x4 board's placements, by 'p' and their number; the others are not queued."""
    table = np.full((1, 64), -np.inf, np.float32)
    for name, rating in ratings.items():
        table[0, int(name[1:])] = rating
    return table


def masks_of(boards):
    return board.candidates(boards, FOUR).reshape(len(boards), -1)


def play(queue, boards, placement):
    queue.expect(boards, np.array([placement]))
    boards = boards.copy()
    boards[0].reshape(-1)[placement // 4] = placement % 4 + 1
    return boards


def test_the_best_is_played_first_until_the_queue_is_empty():
    boards = np.zeros((1, 4, 4), np.int8)
    queue = MoveQueue(boards)
    assert queue.next_moves(boards, masks_of(boards)) == [-1]
    queue.fill(np.array([0]), rated(p1=3, p30=5, p63=4))
    played = []
    while (placement := queue.next_moves(boards, masks_of(boards))[0]) >= 0:
        played.append(int(placement))
        boards = play(queue, boards, placement)
    assert played == [30, 63, 1]


def test_a_cell_gets_its_better_digit_and_what_became_illegal_is_left_out():
    boards = np.zeros((1, 4, 4), np.int8)
    queue = MoveQueue(boards)
    queue.fill(np.array([0]), rated(p0=2, p1=3, p5=1, p8=0.5))  # 5: the same digit in the row
    assert queue.next_moves(boards, masks_of(boards)) == [1]
    boards = play(queue, boards, 1)
    assert queue.next_moves(boards, masks_of(boards)) == [8]


@pytest.mark.parametrize("change", ["another placement", "a digit taken back"])
def test_a_queue_ends_where_the_game_goes_another_way(change):
    boards = np.zeros((1, 4, 4), np.int8)
    boards[0, 3, 3] = 4
    queue = MoveQueue(boards)
    queue.fill(np.array([0]), rated(p1=3, p30=2))
    boards = play(queue, boards, 1)
    assert queue.next_moves(boards, masks_of(boards)) == [30]
    boards[0, 3] = (0, 0, 1, 4) if change == "another placement" else 0
    assert queue.next_moves(boards, masks_of(boards)) == [-1]


class Asked(NetworkPolicy):
    """Counts the boards that the network is asked about."""

    asked = 0

    def choose(self, boards, masks, games):
        self.asked += len(boards)
        return super().choose(boards, masks, games)


def test_what_is_above_the_threshold_is_played_without_asking_again():
    network = load_policy("expert-iteration").network
    bank = puzzles.load("9x9", "validation")
    easy = bank[bank.grades <= 1][:6]
    asked = {}
    for threshold in (None, 1e9, 5.0):
        policy = Asked(network, threshold=threshold)
        assert evaluate(policy, easy).solved.all()
        asked[threshold] = policy.asked
    assert asked[None] == asked[1e9] == easy.blanks.sum()
    assert asked[5.0] <= 2 * len(easy)


def test_a_queueing_policy_keeps_the_rules_of_policies():
    network = load_policy("expert-iteration").network
    check_policy(NetworkPolicy(network, threshold=5.0), FOUR)
    check_policy(NetworkPolicy(network, threshold=-5.0), FOUR)  # queues much that is wrong


def read_grids(network, boards, geometry, rounds=None, restarts=NO_RESTARTS):
    legal = board.candidates(boards, geometry)
    given = boards, legal.reshape(len(boards), -1), geometry, ["policy"], rounds, restarts
    output = evaluate_boards(network, *given)
    digits = output.outputs["policy"].reshape(legal.shape).argmax(3) + 1
    return np.where(boards > 0, boards, digits), output


def test_converged_grids_are_those_to_trust():
    network = load_policy("expert-iteration").network
    test = puzzles.load("9x9-hard", "test")[:24]
    grids, output = read_grids(network, test.puzzles, test.geometry, rounds=64)
    right = (grids == test.solutions).all((1, 2))
    assert 0 < output.converged.sum() < len(test)
    assert right[output.converged].all() and not right[~output.converged].all()
    assert (output.rounds[~output.converged] == 64).all()
    _, again = read_grids(network, test.puzzles, test.geometry, 64, Restarts(2))
    assert (again.rounds[~output.converged] > 64).all()
    assert (again.converged >= output.converged).all()


def test_a_network_without_rounds_never_converges():
    geometry = puzzles.load("4x4").geometry
    network = seeded(0, lambda: Network(FactorGraphConfig(8, 2), POLICY_AND_VALUE, geometry)).eval()
    boards = puzzles.load("4x4").puzzles[:3]
    assert not read_grids(network, boards, geometry)[1].converged.any()
    with pytest.raises(ValueError, match="never converge"):
        read_grids(network, boards, geometry, restarts=Restarts(1))


@pytest.mark.parametrize("name", ["expert-iteration", "gflownet", "mlp"])
@pytest.mark.parametrize("factor", [1e20, 1e38])
def test_weights_that_make_no_numbers_are_told_of(name, factor):
    policy = load_policy(name)
    network = policy.predictor.model if hasattr(policy, "predictor") else policy.network
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_((parameter * factor).clamp(-1e38, 1e38))
    with pytest.raises(ValueError, match=r"weights are damaged|NaN"):
        evaluate(policy, puzzles.load("4x4", "test")[:2])
