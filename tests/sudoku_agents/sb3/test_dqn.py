"""Masked DQN: exploration, targets, seeds, saving, learning."""

import numpy as np
import pytest
import torch

from sudoku_agents.sb3 import (
    FactorGraphDQNPolicy,
    MaskedDQN,
    MaskedDQNPolicy,
    SB3Policy,
    make_vec_env,
)
from sudoku_gym import evaluate, puzzles
from sudoku_gym.puzzles.sources import resolve_source
from sudoku_learning.networks import ILLEGAL_LOGIT
from sudoku_learning.training import HeldOut

POLICIES = [MaskedDQNPolicy, FactorGraphDQNPolicy]


def masked(policy=MaskedDQNPolicy, env=None, **options):
    env = env or make_vec_env("Sudoku4x4-v0", 4, observation="one-hot", blanks=8, reward="sparse")
    defaults = {"learning_starts": 100, "seed": 0, "device": "cpu", "buffer_size": 2_000}
    return MaskedDQN(policy, env, **{**defaults, **options})


@pytest.mark.parametrize("policy", POLICIES)
def test_targets_run_over_legal_placements_only(policy):
    model = masked(policy)
    observations = model.env.reset()
    masks = np.stack(model.env.env_method("action_masks"))
    for network in (model.q_net, model.q_net_target):
        with torch.no_grad():
            values = network(torch.from_numpy(observations).float()).numpy()
        assert (values[~masks] == ILLEGAL_LOGIT).all()
        assert (np.abs(values[masks]) < 1e3).all()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_saved_model_answers_the_same(policy, tmp_path):
    model = masked(policy)
    model.save(tmp_path / "dqn.zip")
    again = SB3Policy(MaskedDQN.load(tmp_path / "dqn.zip", device="cpu"))
    boards = puzzles.load("4x4", split="test")[::400]
    first, second = evaluate(SB3Policy(model), boards), evaluate(again, boards)
    np.testing.assert_array_equal(first.solved, second.solved)
    assert first.illegal == 0


@pytest.mark.slow
def test_it_learns():
    env = make_vec_env("Sudoku4x4-v0", 16, blanks=6, reward="sparse")
    model = masked(
        FactorGraphDQNPolicy,
        env,
        learning_rate=2e-3,
        gamma=1.0,
        train_freq=1,
        batch_size=128,
        target_update_interval=320,
        buffer_size=10_000,
        learning_starts=500,
        exploration_fraction=0.5,
    )
    model.learn(8_000)
    rng = np.random.default_rng(0)
    held_out = HeldOut(SB3Policy(model), resolve_source("4x4", "validation"), 256, rng)
    solved, count = held_out(6)
    assert solved / count > 0.9
