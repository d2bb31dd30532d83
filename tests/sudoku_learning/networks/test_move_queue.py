"""Queued moves are played without another evaluation, as long as the game follows them."""

import numpy as np
import pytest

from sudoku_gym import board, evaluate, load_policy, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.testing import check_policy
from sudoku_learning.networks import NetworkPolicy
from sudoku_learning.networks.move_queue import MoveQueue

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


def test_one_game_leaves_the_others_queues_alone():
    boards = np.zeros((3, 4, 4), np.int8)
    queue = MoveQueue(boards)
    queue.fill(np.array([0, 2]), np.concatenate([rated(p1=3), rated(p30=2)]))
    np.testing.assert_array_equal(queue.next_moves(boards, masks_of(boards)), [1, -1, 30])


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


def test_other_boards_than_those_of_the_games_are_refused():
    policy = NetworkPolicy(load_policy("expert-iteration").network, threshold=5.0)
    boards = np.zeros((2, 4, 4), np.int8)
    with pytest.raises(RuntimeError, match="call reset"):
        policy.act(boards, masks_of(boards))
    policy.reset(boards, FOUR, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"boards \[1, 4, 4\], but the games .* \[2, 4, 4\]"):
        policy.act(boards[:1], masks_of(boards[:1]))


@pytest.mark.parametrize("search", ["search=best-first", "simulations=4"])
def test_a_search_plays_nothing_unseen(search):
    with pytest.raises(ValueError, match="threshold=2: a search does not play"):
        load_policy(f"expert-iteration?threshold=2&{search}")


def test_the_option_reaches_the_policy():
    assert load_policy("expert-iteration").threshold == 5.0
    assert load_policy("expert-iteration?threshold=2").threshold == 2
