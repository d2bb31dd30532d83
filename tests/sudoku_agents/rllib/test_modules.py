"""RLlib's masked modules, without a cluster: masks, targets, exploration, play."""

import pytest
import torch
from ray.rllib.algorithms.dqn.dqn_learner import QF_NEXT_PREDS, QF_PREDS, QF_TARGET_NEXT_PREDS
from ray.rllib.core.columns import Columns

from sudoku_agents.rllib import (
    MaskedActorCritic,
    MaskedQNetwork,
    RLlibPolicy,
)
from sudoku_agents.rllib.configs import MaskedSudoku
from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.testing import check_policy
from sudoku_learning.networks import ILLEGAL_LOGIT, FactorGraphConfig, MLPConfig

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


def test_the_geometry_of_a_variant_counts():
    module = make(env="SudokuX9x9-v0", geometry=sudoku_x(9))
    some = batch(3, "SudokuX9x9-v0", blanks=40)
    logits = module.forward_inference(some)[Columns.ACTION_DIST_INPUTS]
    torch.testing.assert_close(logits > ILLEGAL_LOGIT, masks_of(some))


@pytest.mark.parametrize("kind", [MaskedActorCritic, MaskedQNetwork])
def test_the_policy_keeps_the_contract(kind):
    check_policy(RLlibPolicy(make(kind)), Geometry.standard(4))
