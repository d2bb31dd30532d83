"""RLlib's masked module, without a cluster: masks, geometry, play."""

import pytest
import torch
from ray.rllib.core.columns import Columns

from sudoku_agents.rllib import MaskedActorCritic, RLlibPolicy
from sudoku_agents.rllib.configs import MaskedSudoku
from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.testing import check_policy
from sudoku_learning.networks import ILLEGAL_LOGIT, FactorGraphConfig, MLPConfig

NETWORKS = [FactorGraphConfig(channels=8), MLPConfig(hidden=(16,))]
networks = pytest.mark.parametrize("network", NETWORKS, ids=["exact cover", "dense"])


def make(network=None, env="Sudoku4x4-v0", geometry=None):
    single = MaskedSudoku({"id": env})
    torch.manual_seed(0)
    return MaskedActorCritic(
        observation_space=single.observation_space,
        action_space=single.action_space,
        model_config={"network": network, "geometry": geometry},
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


def test_the_geometry_of_a_variant_counts():
    module = make(env="SudokuX9x9-v0", geometry=sudoku_x(9))
    some = batch(3, "SudokuX9x9-v0", blanks=40)
    logits = module.forward_inference(some)[Columns.ACTION_DIST_INPUTS]
    torch.testing.assert_close(logits > ILLEGAL_LOGIT, masks_of(some))


def test_the_policy_keeps_the_contract():
    check_policy(RLlibPolicy(make()), Geometry.standard(4))
