"""Recurrent batches of labelled boards, and the losses of their updates."""

import numpy as np
import pytest
import torch

from sudoku_gym import board, puzzles, solver
from sudoku_learning.networks import FactorGraphConfig, Network, PolicyConfig, seeded
from sudoku_learning.networks.factor_graph.recurrent_state import zero_states
from sudoku_learning.recurrent import (
    LabelledBatch,
    RecurrentConfig,
    draw_batches,
    placement_losses,
    run_updates,
)
from sudoku_learning.training import Optimizer, OptimizerConfig

BODY = FactorGraphConfig(8, 2, intersections=True)


def pool_of(bank="4x4", count=50):
    return puzzles.load(bank, "train")[:count]


def batch_of(pool, count=20, segments=3, stay=0.0, revealed=0.5, network=None):
    config = RecurrentConfig(segments=segments, stay_probability=stay, revealed=revealed)
    return LabelledBatch(network, pool, config, count, np.random.default_rng(0))


def advance(boards, logits):
    """Go on as after a segment with these logits; return the share of solved boards."""
    is_solved = boards.solved(logits)
    boards.advance(logits, is_solved, states(len(boards)))
    return is_solved.mean()


def states(count):
    return [zero_states(None, 8) for _ in range(count)]


@pytest.mark.parametrize("bank", ["4x4", "6x6", "x9x9"])
def test_boards_under_training_keep_to_their_solutions(bank):
    pool = pool_of(bank)
    boards = batch_of(pool)
    rng = np.random.default_rng(1)
    for _ in range(30):
        size = pool.geometry.size
        candidates = board.candidates(boards.boards, pool.geometry).reshape(20, -1)
        np.testing.assert_array_equal(boards.masks, candidates)
        cells = boards.targets.reshape(20, size, size, size)
        np.testing.assert_array_equal(cells.sum(3), boards.boards == 0)
        whole = np.where(boards.boards > 0, boards.boards, cells.argmax(3) + 1)
        assert board.is_solved(whole, pool.geometry).all()
        advance(boards, rng.normal(scale=4, size=boards.masks.shape).astype(np.float32))


def test_a_solved_board_is_replaced():
    boards = batch_of(pool_of())
    before = boards.boards.copy()
    share = advance(boards, np.where(boards.targets, 1.0, -1.0).astype(np.float32))
    assert share == 1
    assert boards.states == [None] * 20
    assert (boards.boards != before).any((1, 2)).mean() > 0.9  # other puzzles


def test_a_solved_board_may_stay():
    boards = batch_of(pool_of(), count=400, stay=0.25)
    advance(boards, np.where(boards.targets, 1.0, -1.0).astype(np.float32))
    assert 60 < sum(state is not None for state in boards.states) < 140


def test_corrupted_boards_have_no_solution():
    pool = pool_of("9x9", 30)
    boards = batch_of(pool)
    found = boards.corrupted(12)
    assert found.shape == (12, 9, 9)
    assert not board.conflicts(found, pool.geometry).any()
    assert (solver.count_solutions(found, 1, pool.geometry) == 0).all()


def test_the_losses():
    right = torch.tensor([[True, False, False, False]])
    masks = torch.tensor([[True, True, False, False]])
    logits = torch.tensor([[[0.0, 0.0, -1e9, -1e9]]])
    placements, policy = placement_losses(logits, masks, right)
    assert placements.item() == pytest.approx(2 * np.log(2) / 100)
    assert policy.item() == pytest.approx(np.log(2))
    certain = torch.tensor([[[30.0, -30.0, -1e9, -1e9]]])
    placements, policy = placement_losses(certain, masks, right)
    assert placements.item() == pytest.approx(0, abs=1e-6)
    assert policy.item() == pytest.approx(0, abs=1e-6)


def test_a_network_without_a_value_learns_to_solve_boards():
    pool = pool_of()
    body = FactorGraphConfig(8, 4, intersections=True)
    network = seeded(0, lambda: Network(body, {"policy": PolicyConfig()}, pool.geometry))
    optimizer = Optimizer(network, OptimizerConfig(4e-3))
    rng = np.random.default_rng(0)
    boards = batch_of(pool, segments=4, stay=0.5, network=network)
    batches = draw_batches([boards], 30, rng)
    assert batches == [boards] * 30
    first = run_updates(network, optimizer, batches)
    last = run_updates(network, optimizer, batches)
    assert first["value"] == last["value"] == 0
    assert last["placements"] < 0.5 * first["placements"]
    assert last["solved"] > max(0.3, first["solved"])
