"""Policies of Stable-Baselines3 that know the rules: forms of the board, PPO, play, saving."""

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.vec_env import VecMonitor

from sudoku_agents.sb3 import FactorGraphPolicy, SB3Policy, make_vec_env
from sudoku_agents.sb3.play import boards_and_legal, decode, encode
from sudoku_curricula import make_schedule
from sudoku_curricula.sb3 import CurriculumCallback
from sudoku_gym import board, evaluate, load_policy
from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.puzzles import load
from sudoku_gym.puzzles.sources import resolve_source
from sudoku_gym.testing import check_policy
from sudoku_learning.networks import FactorGraphConfig, ValueConfig
from sudoku_learning.training import HeldOut

FORMS = ("board", "one-hot")


def ppo(env, **options):
    defaults = {"n_steps": 8, "batch_size": 32, "n_epochs": 1, "seed": 0, "device": "cpu"}
    return MaskablePPO(FactorGraphPolicy, env, **{**defaults, **options})


@pytest.mark.parametrize("geometry", [Geometry.standard(4), Geometry.standard(6), sudoku_x(9)])
def test_legal_placements_are_the_candidates(geometry):
    rng = np.random.default_rng(0)
    size = geometry.size
    boards = rng.integers(0, size + 1, (50, size, size), dtype=np.int8)
    boards[rng.random(boards.shape) < 0.7] = 0
    legal = boards_and_legal(torch.from_numpy(boards), geometry)[1].numpy()
    np.testing.assert_array_equal(legal, board.candidates(boards, geometry).reshape(50, -1))
    assert legal.any() and not legal.all()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [torch.int8, torch.float32])
def test_observations_are_read_back(form, dtype):
    env = make_vec_env("Sudoku9x9-v0", 4, observation=form, blanks=30)
    env.seed(0)
    observations = env.reset()
    boards = decode(torch.from_numpy(observations).to(dtype), 9).numpy()
    assert ((boards == 0).sum((1, 2)) == 30).all()
    for count in (0, 4):
        encoded = encode(boards[:count], env.observation_space)
        np.testing.assert_array_equal(encoded, observations[:count])


def test_the_policy_puts_no_weight_on_illegal_placements():
    env = make_vec_env("Sudoku4x4-v0", 6, blanks=8)
    env.seed(0)
    observations = torch.from_numpy(env.reset())
    policy = ppo(env, policy_kwargs={"value": ValueConfig(-2.0, -1.0)}).policy
    masks = np.stack(env.env_method("action_masks"))
    with torch.no_grad():
        probs = policy.get_distribution(observations).distribution.probs.numpy()
        actions, values, log_probs = policy(observations, action_masks=masks)
        again, same, entropy = policy.evaluate_actions(observations, actions, torch.tensor(masks))
    assert (probs[~masks] == 0).all() and (probs[masks] > 0).all()
    assert masks[np.arange(6), actions].all()
    np.testing.assert_allclose(log_probs.exp(), probs[np.arange(6), actions], rtol=1e-5)
    assert ((values > -2) & (values < -1)).all()
    torch.testing.assert_close(values, again)
    torch.testing.assert_close(log_probs, same)
    np.testing.assert_allclose(
        entropy, [-(p[p > 0] * np.log(p[p > 0])).sum() for p in probs], rtol=1e-5
    )


def test_the_geometry_of_a_variant_counts():
    env = make_vec_env("SudokuX9x9-v0", 3, blanks=40)
    env.seed(0)
    observations = torch.from_numpy(env.reset())
    policy = ppo(env, policy_kwargs={"geometry": sudoku_x(9)}).policy
    masks = np.stack(env.env_method("action_masks"))
    probs = policy.get_distribution(observations).distribution.probs.detach().numpy()
    np.testing.assert_array_equal(probs > 0, masks)


@pytest.mark.slow
def test_ppo_learns_to_complete_boards_it_has_not_seen():
    env = VecMonitor(make_vec_env("Sudoku4x4-v0", 64, blanks=7, reward="sparse"))
    model = ppo(env, n_steps=32, batch_size=512, n_epochs=4, gamma=1.0, learning_rate=1e-3)
    rng = np.random.default_rng(0)
    held_out = HeldOut(SB3Policy(model), resolve_source("4x4", "validation"), 256, rng)
    model.learn(14_000)
    solved, count = held_out(7)
    floor = evaluate(
        load_policy("masked-random"),
        resolve_source("4x4", "validation").sample(256, 7, np.random.default_rng(0))[0],
    ).completion_rate
    assert count == 256
    assert solved / count > 0.9 > 0.7 > floor


def test_a_saved_model_plays_on_as_a_policy(tmp_path):
    model = ppo(make_vec_env("Sudoku4x4-v0", 4), policy_kwargs={"network": FactorGraphConfig(8, 1)})
    model.save(tmp_path / "model.zip")
    policy = SB3Policy(MaskablePPO.load(tmp_path / "model.zip", device="cpu"))
    assert policy.model.policy.network_config == FactorGraphConfig(8, 1)
    puzzles = load("4x4", split="test")[::400]
    first, second = (evaluate(p, puzzles) for p in (SB3Policy(model), policy))
    np.testing.assert_array_equal(first.solved, second.solved)
    assert first.illegal == second.illegal == 0


def test_the_policy_keeps_the_contract():
    env = make_vec_env("Sudoku4x4-v0", 4)
    check_policy(SB3Policy(ppo(env)), Geometry.standard(4))


@pytest.mark.parametrize("algorithm", [MaskablePPO, PPO, DQN])
def test_a_model_that_may_erase_is_a_policy(algorithm):
    """Placements are chosen by the policy alone; one without masks may answer with an erasure."""
    env = make_vec_env("Sudoku4x4-v0", 4, erase=True)
    policy = SB3Policy(algorithm("MlpPolicy", env, seed=0, device="cpu"))
    if algorithm is MaskablePPO:
        for erase in (False, True):
            check_policy(policy, Geometry.standard(4), erase=erase)
    result = evaluate(policy, load("4x4", "test")[::400], erase=True)
    assert (result.illegal == 0) == (algorithm is MaskablePPO)


def test_games_that_began_before_a_curriculum_are_of_none_of_its_tasks():
    envs = make_vec_env("Sudoku9x9-v0", 4, blanks=30)
    model = PPO("MlpPolicy", envs, n_steps=8, batch_size=32, n_epochs=1, seed=0, device="cpu")
    callback = CurriculumCallback(make_schedule("uniform", tasks="grade"))
    with pytest.warns(UserWarning, match="without an update"):
        model.learn(32, callback)
    assert callback.curriculum.state_dict()["tally"] == [[0, 0]] * 5
