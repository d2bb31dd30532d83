"""RLlib's masked modules, without a cluster: masks, targets, exploration, play."""

import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
import torch
from ray.rllib.algorithms.dqn.dqn_learner import QF_NEXT_PREDS, QF_PREDS, QF_TARGET_NEXT_PREDS
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis import TARGET_NETWORK_ACTION_DIST_INPUTS

from sudoku_agents.rllib import (
    MaskedActorCritic,
    MaskedQNetwork,
    RLlibPolicy,
)
from sudoku_agents.rllib.environment import MaskedSudoku
from sudoku_gym import puzzles
from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.testing import check_policy
from sudoku_learning.networks import ILLEGAL_LOGIT, FactorGraphConfig, MLPConfig, ValueConfig

NETWORKS = [FactorGraphConfig(channels=8), MLPConfig(hidden=(16,))]
networks = pytest.mark.parametrize("network", NETWORKS, ids=["exact cover", "dense"])


def make(kind=MaskedActorCritic, network=None, env="Sudoku4x4-v0", geometry=None, **config):
    single = MaskedSudoku({"id": env})
    torch.manual_seed(0)
    return kind(
        observation_space=single.observation_space,
        action_space=single.action_space,
        model_config={"network": network, "geometry": geometry, "epsilon": 1.0, **config},
    )


def batch(count=6, env="Sudoku4x4-v0", blanks=8):
    observations, _ = MaskedSudoku({"id": env, "num_envs": count, "blanks": blanks}).reset(seed=0)
    return {Columns.OBS: {name: torch.from_numpy(array) for name, array in observations.items()}}


def full_boards():
    boards = torch.from_numpy(puzzles.load("4x4").solutions[:3])
    masks = torch.zeros(3, 64, dtype=torch.int8)
    return {Columns.OBS: {"observations": boards, "action_mask": masks}}


def masks_of(some):
    return some[Columns.OBS]["action_mask"].bool()


@networks
def test_no_weight_on_illegal_placements(network):
    module, some = make(network=network), batch()
    for forward in (module.forward_inference, module.forward_exploration, module.forward_train):
        logits = forward(some)[Columns.ACTION_DIST_INPUTS].detach()
        distribution = module.get_train_action_dist_cls().from_logits(logits)
        torch.testing.assert_close(distribution._dist.probs > 0, masks_of(some))
        assert torch.isfinite(distribution.entropy()).all()
        assert masks_of(some)[torch.arange(6), distribution.sample()].all()


@networks
def test_a_training_pass_tells_the_values_too(network):
    module, some = make(network=network), batch()
    values = module.compute_values(some)
    assert values.shape == (6,)
    told = module.forward_train(some)[Columns.EMBEDDINGS]
    torch.testing.assert_close(module.compute_values(some, told), values)


def test_the_exact_covers_values_lie_in_their_range():
    module = make(value=ValueConfig(-2.0, -1.0))
    values = module.compute_values(batch())
    assert ((values > -2) & (values < -1)).all()


@networks
def test_full_boards_have_finite_answers(network):
    module, q_network = make(network=network), make(MaskedQNetwork, network)
    assert torch.isfinite(module.forward_train(full_boards())[Columns.ACTION_DIST_INPUTS]).all()
    assert torch.isfinite(module.compute_values(full_boards())).all()
    assert torch.isfinite(q_network.compute_q_values(full_boards())[QF_PREDS]).all()


@networks
def test_the_target_stays_when_the_network_moves(network):
    module, some = make(network=network), batch()
    module.make_target_networks()
    before = module.forward_inference(some)[Columns.ACTION_DIST_INPUTS]
    with torch.no_grad():
        for weights in module.network.parameters():
            weights.add_(0.1)
    target = module.forward_target(some)[TARGET_NETWORK_ACTION_DIST_INPUTS]
    torch.testing.assert_close(target, before)
    assert not torch.allclose(module.forward_inference(some)[Columns.ACTION_DIST_INPUTS], before)
    ((main, old),) = module.get_target_network_pairs()
    assert main is module.network and old is module.target


@networks
def test_q_learnings_targets_run_over_legal_placements_only(network):
    module = make(MaskedQNetwork, network)
    module.make_target_networks()
    some, following = batch(blanks=8), batch(blanks=7)
    answer = module.forward_train({**some, Columns.NEXT_OBS: following[Columns.OBS]})
    for name, masks in (
        (QF_PREDS, masks_of(some)),
        (QF_NEXT_PREDS, masks_of(following)),
        (QF_TARGET_NEXT_PREDS, masks_of(following)),
    ):
        assert (answer[name][~masks] == ILLEGAL_LOGIT).all()
        assert (answer[name][masks].abs() < 1e3).all()
    assert answer[QF_PREDS].requires_grad
    assert not answer[QF_NEXT_PREDS].requires_grad


@networks
def test_q_learning_explores_all_that_is_legal_and_nothing_else(network):
    module, some = make(MaskedQNetwork, network), batch(1)
    observations = {name: t.repeat(2_000, *[1] * (t.ndim - 1)) for name, t in some["obs"].items()}
    torch.manual_seed(0)
    actions = module.forward_exploration({Columns.OBS: observations}, t=0)[Columns.ACTIONS]
    assert set(actions.tolist()) == set(masks_of(some)[0].nonzero().flatten().tolist())


def test_each_board_tosses_its_own_coin():
    module, some = make(MaskedQNetwork, epsilon=0.5), batch(1)
    observations = {name: t.repeat(400, *[1] * (t.ndim - 1)) for name, t in some["obs"].items()}
    torch.manual_seed(0)
    greedy = module.forward_inference({Columns.OBS: observations})[Columns.ACTIONS]
    mixed = module.forward_exploration({Columns.OBS: observations}, t=0)[Columns.ACTIONS]
    assert len(set(greedy.tolist())) == 1
    assert 0.4 < (mixed == greedy).float().mean() < 0.7


def test_epsilon_falls_with_the_steps():
    module, some = make(MaskedQNetwork, epsilon=[(0, 1.0), (100, 0.0)]), batch(64)
    greedy = module.forward_inference(some)[Columns.ACTIONS]
    assert (module.forward_exploration(some, t=100)[Columns.ACTIONS] == greedy).all()
    assert not (module.forward_exploration(some, t=0)[Columns.ACTIONS] == greedy).all()


def test_a_board_whose_episode_is_over_does_not_stop_exploration():
    actions = make(MaskedQNetwork).forward_exploration(full_boards(), t=0)[Columns.ACTIONS]
    assert actions.shape == (3,)


def test_the_geometry_of_a_variant_counts():
    module = make(env="SudokuX9x9-v0", geometry=sudoku_x(9))
    some = batch(3, "SudokuX9x9-v0", blanks=40)
    logits = module.forward_inference(some)[Columns.ACTION_DIST_INPUTS]
    torch.testing.assert_close(logits > ILLEGAL_LOGIT, masks_of(some))


def test_what_is_no_board_is_refused():
    with pytest.raises(ValueError, match="80 actions: need N\\*\\*3"):
        env = MaskedSudoku({"id": "Sudoku4x4-v0", "erase": True})
        MaskedActorCritic(
            observation_space=env.observation_space, action_space=env.action_space, model_config={}
        )
    with pytest.raises(ValueError, match="use num_atoms=1"):
        make(MaskedQNetwork, num_atoms=51)
    with pytest.raises(ValueError, match="env_config names no environment"):
        MaskedSudoku({"blanks": 3})


@pytest.mark.parametrize("kind", [MaskedActorCritic, MaskedQNetwork])
def test_the_policy_keeps_the_contract(kind):
    check_policy(RLlibPolicy(make(kind)), Geometry.standard(4))


def test_a_policy_refuses_boards_of_another_size():
    policy = RLlibPolicy(make())
    with pytest.raises(ValueError, match="boards of shape \\(4, 4\\), not 9x9"):
        boards = np.zeros((1, 9, 9), np.int8)
        policy.reset(boards, Geometry.standard(9), np.random.default_rng(0))


def test_the_environment_is_the_native_one():
    env = MaskedSudoku({"id": "Sudoku4x4-v0", "num_envs": 3})
    assert type(env.unwrapped).__name__ == "SudokuVectorEnv"
    assert env.metadata["autoreset_mode"] is gym.vector.AutoresetMode.NEXT_STEP


def test_a_missing_extra_is_named():
    code = "import sys; sys.modules['ray'] = None; import sudoku_agents.rllib"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install -c constraints.txt '.[rllib]'" in result.stderr.splitlines()[-1]
