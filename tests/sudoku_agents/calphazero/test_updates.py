"""The loss is equation 5, and updates lower it."""

import numpy as np
import pytest
import torch

from sudoku_agents.calphazero.batch import SelfPlayBatch, losses
from sudoku_agents.calphazero.config import CAlphaZeroConfig, CAlphaZeroLossConfig
from sudoku_agents.calphazero.self_play import PositionReplay, Positions
from sudoku_gym import board, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import BankSource
from sudoku_learning.networks import POLICY_AND_VALUE, FactorGraphConfig, Network
from sudoku_learning.recurrent import run_updates
from sudoku_learning.training import Optimizer, OptimizerConfig


def make(channels, layers):
    config = FactorGraphConfig(channels, layers)
    return Network(config, POLICY_AND_VALUE, Geometry.standard(4))


def solver_positions(count, blanks=6, seed=0, is_proven=False):
    """Positions whose search has found every right placement, or a solved board too."""
    source = BankSource(puzzles.load("4x4", "train"))
    boards, solutions = source.sample(count, blanks, np.random.default_rng(seed))
    right = (solutions[..., None] == np.arange(1, 5)) & (boards == 0)[..., None]
    policies = (right / right.sum((1, 2, 3), keepdims=True)).reshape(count, -1)
    won = solutions if is_proven else np.zeros_like(boards)
    return Positions(boards, policies.astype(np.float32), np.ones(count, np.float32), won)


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
@pytest.mark.parametrize("is_proven", [True, False])
@pytest.mark.parametrize("segments", [1, 3])
def test_updates_teach_the_right_placements(augment, is_proven, segments):
    geometry, rng = Geometry.standard(4), np.random.default_rng(0)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = make(16, 3)
    optimizer = Optimizer(network, OptimizerConfig(1e-2))
    config = CAlphaZeroConfig(
        augment=augment,
        segments=segments,
        revealed=0.3,
        ruled_out=0.2,
        loss=CAlphaZeroLossConfig(placement_weight=3.0 * is_proven),
        optimizer=OptimizerConfig(batch_size=64),
    )
    positions = solver_positions(2048, is_proven=is_proven)
    batch = SelfPlayBatch(network, positions, geometry, config, rng)
    before = run_updates(network, optimizer, [batch])
    after = [run_updates(network, optimizer, [batch] * 8) for _ in range(9)][-1]
    assert after["policy"] < before["policy"] - 0.1
    assert after["accuracy"] > 0.9
    fresh = solver_positions(200, seed=1, is_proven=True)
    masks = board.candidates(fresh.boards).reshape(200, -1)
    with torch.inference_mode():
        found = network(torch.from_numpy(fresh.boards), torch.from_numpy(masks), geometry)
    logits = found["policy"].numpy()
    right = fresh.policies > 0
    assert (masks & ~right).any(1).mean() > 0.5  # wrong placements were legal, yet
    assert right[np.arange(200), logits.argmax(1)].mean() > 0.97
    if is_proven:  # each logit says of its placement whether it is right
        assert ((logits > 0) == right)[masks].mean() > 0.9


def test_the_replay_forgets_the_oldest_iteration():
    replay = PositionReplay(iterations=2)
    for seed in range(3):
        replay.add(solver_positions(4, seed=seed))
    assert len(replay.all()) == 8
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
