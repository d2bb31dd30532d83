"""The loss is equation 5, and updates lower it."""

import numpy as np
import pytest
import torch

from sudoku_agents.calphazero.config import CAlphaZeroConfig, CAlphaZeroLossConfig
from sudoku_agents.calphazero.learner import losses, update_network
from sudoku_agents.calphazero.replay import PositionReplay, Positions, SparsePolicies
from sudoku_agents.calphazero.search import SearchConfig
from sudoku_gym import board, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import BankSource
from sudoku_learning.networks import POLICY_AND_VALUE, FactorGraphConfig, MLPConfig, Network
from sudoku_learning.training import Optimizer, OptimizerConfig


def settings(batch_size, augment=True, actions="legal", **loss):
    return CAlphaZeroConfig(
        augment=augment,
        search=SearchConfig(actions=actions),
        network=MLPConfig((64,)),
        loss=CAlphaZeroLossConfig(**loss),
        optimizer=OptimizerConfig(batch_size=batch_size),
    )


def make(channels, layers):
    config = FactorGraphConfig(channels, layers)
    return Network(config, POLICY_AND_VALUE, Geometry.standard(4))


def solver_positions(count, blanks=6, seed=0, only_singles=False):
    """Positions whose 'search' has found every right placement, or the naked singles alone."""
    source = BankSource(puzzles.load("4x4", "train"))
    boards, solutions = source.sample(count, blanks, np.random.default_rng(seed))
    counts = np.zeros((count, 16, 4), np.float32)
    b, cell = np.nonzero(boards.reshape(count, -1) == 0)
    counts[b, cell, solutions.reshape(count, -1)[b, cell] - 1] = 1
    if only_singles:
        counts[board.candidates(boards).reshape(count, 16, 4).sum(2) > 1] = 0
        found = counts.any((1, 2))
        boards, counts, count = boards[found], counts[found], int(found.sum())
    policies = counts.reshape(count, -1) / counts.sum((1, 2))[:, None]
    return Positions(boards, SparsePolicies.of(policies), np.ones(count, np.float32))


def test_the_terms_are_those_of_equation_5():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(5, 7)).astype(np.float32)
    logits[:, 0] = -1e9  # an illegal action
    policy = rng.random((5, 7)).astype(np.float32) * (logits > -1e8)
    policy /= policy.sum(1, keepdims=True)
    values, returns = rng.random(5).astype(np.float32), rng.random(5).astype(np.float32)
    found = losses(*map(torch.from_numpy, (logits, values, policy, returns)))
    pi = np.exp(logits.astype(np.float64))
    pi /= pi.sum(1, keepdims=True)
    log_pi = np.log(pi, where=pi > 0, out=np.zeros_like(pi))
    wanted = (
        ((returns - values) ** 2).mean(),
        -(policy * log_pi).sum(1).mean(),
        -(pi * log_pi).sum(1).mean(),
    )
    np.testing.assert_allclose([float(term) for term in found], wanted, rtol=1e-5)


@pytest.mark.parametrize("augment", [True, False])
def test_updates_teach_the_right_placements(augment):
    geometry, rng = Geometry.standard(4), np.random.default_rng(0)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = make(16, 3)
    optimizer = Optimizer(network, OptimizerConfig(1e-2))
    config = settings(64, augment=augment, passes=1.0)
    before = update_network(network, optimizer, solver_positions(512), 1, geometry, config, rng)
    for _ in range(8):
        after = update_network(network, optimizer, solver_positions(512), 8, geometry, config, rng)
    assert after["policy"] < before["policy"] - 0.1
    fresh = solver_positions(200, seed=1)
    masks = board.candidates(fresh.boards).reshape(200, -1)
    with torch.inference_mode():
        found = network(torch.from_numpy(fresh.boards), torch.from_numpy(masks), geometry)
    choice = found["policy"].numpy().argmax(1)
    taught = fresh.policies.dense(64) > 0
    assert (masks & ~taught).any(1).mean() > 0.5  # wrong placements were legal, yet
    assert taught[np.arange(200), choice].mean() > 0.97


def test_the_replay_forgets_the_oldest_iteration():
    replay = PositionReplay(iterations=2)
    for seed in range(3):
        replay.add(solver_positions(4, seed=seed))
    assert len(replay) == 8
    kept = np.concatenate([solver_positions(4, seed=seed).boards for seed in (1, 2)])
    np.testing.assert_array_equal(replay.all().boards, kept)
    copy = PositionReplay(iterations=2)
    copy.restore(replay.arrays())
    for one in (replay, copy):
        one.add(solver_positions(4, seed=9))
    wanted = replay.arrays()
    assert copy.arrays().keys() == wanted.keys()
    for name, array in copy.arrays().items():
        np.testing.assert_array_equal(array, wanted[name], strict=True)
