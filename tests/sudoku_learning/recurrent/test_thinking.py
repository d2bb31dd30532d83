"""Learning to think: boards under training, and the losses of the updates."""

import numpy as np
import pytest
import torch

from sudoku_gym import board, puzzles, solver
from sudoku_learning.networks import FactorGraphConfig, Network, PolicyConfig, seeded
from sudoku_learning.networks.factor_graph.recurrent_state import nothing
from sudoku_learning.recurrent import Stream, Thinking, UpdatesConfig, update, updates
from sudoku_learning.training import Optimiser


def pool_of(bank="4x4", count=50):
    return puzzles.load(bank, "train")[:count]


def thinking(pool, count=20, segments=3, linger=0.0, revealed=0.5, seed=0):
    return Thinking(pool, count, segments, linger, revealed, np.random.default_rng(seed))


def states(count):
    return [nothing(8) for _ in range(count)]


@pytest.mark.parametrize("bank", ["4x4", "6x6", "x9x9"])
def test_boards_under_training_keep_to_their_solutions(bank):
    pool = pool_of(bank)
    boards = thinking(pool)
    rng = np.random.default_rng(1)
    for _ in range(30):
        size = pool.geometry.size
        candidates = board.candidates(boards.boards, pool.geometry).reshape(20, -1)
        np.testing.assert_array_equal(boards.masks, candidates)
        cells = boards.right.reshape(20, size, size, size)
        np.testing.assert_array_equal(cells.sum(3), boards.boards == 0)
        whole = np.where(boards.boards > 0, boards.boards, cells.argmax(3) + 1)
        assert board.is_solved(whole, pool.geometry).all()
        boards.advance(rng.normal(scale=4, size=boards.masks.shape).astype(np.float32), states(20))


def test_a_board_that_is_read_moves_on():
    boards = thinking(pool_of())
    before = boards.boards.copy()
    share = boards.advance(np.where(boards.right, 1.0, -1.0).astype(np.float32), states(20))
    assert share == 1
    assert boards.recurrent_states == [None] * 20
    assert (boards.boards != before).any((1, 2)).mean() > 0.9  # other puzzles


def test_a_board_that_is_read_may_linger():
    boards = thinking(pool_of(), count=400, linger=0.25)
    boards.advance(np.where(boards.right, 1.0, -1.0).astype(np.float32), states(400))
    assert 60 < sum(state is not None for state in boards.recurrent_states) < 140


def test_a_board_that_is_not_read_has_its_segments_and_moves_on_all_the_same():
    boards = thinking(pool_of(), segments=3, revealed=0)
    start = boards.boards.copy()
    logits = np.full(boards.masks.shape, -1, np.float32)
    rows = np.arange(20)
    surest = boards.right.argmax(1)
    logits[rows, surest] = -0.5
    for _ in range(2):
        assert boards.advance(logits, states(20)) == 0
        np.testing.assert_array_equal(boards.boards, start)
        assert all(state is not None for state in boards.recurrent_states)
    boards.advance(logits, states(20))
    changed = boards.boards != start
    assert (changed.sum((1, 2)) == 1).all()  # the best right placement, and no other
    assert (changed.reshape(20, -1).argmax(1) == surest // 4).all()
    assert boards.recurrent_states == [None] * 20


def test_spoiled_boards_have_no_solution():
    pool = pool_of("9x9", 30)
    boards = thinking(pool)
    found = updates.spoiled(boards, 12, np.random.default_rng(0))
    assert found.shape == (12, 9, 9)
    assert not board.conflicts(found, pool.geometry).any()
    assert (solver.count_solutions(found, 1, pool.geometry) == 0).all()


def test_where_nothing_can_be_spoiled():
    pool = pool_of("4x4", 1)
    boards = thinking(pool, count=3)
    boards.masks = boards.right.copy()
    assert updates.spoiled(boards, 2, np.random.default_rng(0)).shape == (0, 4, 4)


def test_the_losses():
    right = torch.tensor([[True, False, False, False]])
    masks = torch.tensor([[True, True, False, False]])
    logits = torch.tensor([[[0.0, 0.0, -1e9, -1e9]]])
    placements, policy = updates.placement_losses(logits, masks, right)
    assert placements.item() == pytest.approx(2 * np.log(2) / 100)
    assert policy.item() == pytest.approx(np.log(2))
    certain = torch.tensor([[[30.0, -30.0, -1e9, -1e9]]])
    placements, policy = updates.placement_losses(certain, masks, right)
    assert placements.item() == pytest.approx(0, abs=1e-6)
    assert policy.item() == pytest.approx(0, abs=1e-6)


def test_a_network_without_a_value_learns_to_read_boards():
    pool = pool_of()
    body = FactorGraphConfig(8, 4, intersections=True)
    network = seeded(0, lambda: Network(body, {"policy": PolicyConfig()}, pool.geometry))
    optimiser = Optimiser(network, 4e-3)
    rng = np.random.default_rng(0)
    stream = Stream(pool.geometry, thinking(pool, segments=4, linger=0.5), 1.0)
    config = UpdatesConfig(count=30)
    first = update(network, optimiser, [stream], config, rng)
    last = update(network, optimiser, [stream], config, rng)
    assert first.value == last.value == 0
    assert first.boards == 30 * 20
    assert last.placements < 0.5 * first.placements and last.read > max(0.3, first.read)


def test_the_learning_rate_falls_once_its_constant_share_is_over():
    config = UpdatesConfig(learning_rate=0.1, constant_share=0.4)
    rates = [config.learning_rate_at(done) for done in (0, 0.4, 0.7, 1)]
    assert rates == pytest.approx([0.1, 0.1, 0.05, 0.002])
