"""Both environments in the hands of Gymnasium, Stable-Baselines3 and torch: checkers, wrappers."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode

from sudoku_gym.board.actions import sample_actions
from sudoku_gym.envs import SudokuEnv
from sudoku_gym.registration import ENVIRONMENTS

COUNT = 3


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_gymnasium_checks_every_id_without_a_warning(name):
    check_env(gym.make(name).unwrapped)


@pytest.mark.parametrize("options", [{"erase": True}, {"actions": "blank", "reward": "dense"}])
def test_gymnasium_checks_other_options(options):
    check_env(gym.make("Sudoku6x6-v0", **options).unwrapped, skip_render_check=True)


@pytest.mark.nightly
def test_stable_baselines_checks_it():
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    flat = gym.wrappers.FlattenObservation(gym.make("Sudoku4x4-v0"))
    checker.check_env(flat)


@pytest.mark.parametrize(("options", "limit"), [({}, 32), ({"erase": True}, 128)])
def test_its_spec_knows_the_limit_and_nothing_else_enforces_it(options, limit):
    env = gym.make("Sudoku4x4-v0", **options)
    assert env.spec.max_episode_steps == limit
    assert gym.spec("Sudoku4x4-v0").max_episode_steps is None  # for erasing it is another one
    _, info = env.reset(seed=0)
    illegal = info["action_mask"].argmin()
    steps = 1
    while not env.step(illegal)[3]:
        steps += 1
    assert steps == limit
    envs = gym.make_vec(env.spec, num_envs=2)
    assert envs.unwrapped.max_steps == envs.spec.max_episode_steps == limit
    aware = gym.wrappers.TimeAwareObservation(gym.make("Sudoku4x4-v0"), flatten=False)
    assert aware.reset(seed=0)[0]["time"] == 0


@pytest.mark.parametrize("mode", list(AutoresetMode)[:2], ids=lambda mode: mode.name)
def test_episode_statistics_of_a_batch_are_recorded(mode):
    envs = gym.wrappers.vector.RecordEpisodeStatistics(
        gym.make_vec("Sudoku4x4-v0", num_envs=COUNT, blanks=3, reward="dense", autoreset_mode=mode)
    )
    _, infos = envs.reset(seed=0)
    rng, recorded = np.random.default_rng(0), 0
    for _ in range(20):
        _, _, terminations, _, infos = envs.step(sample_actions(infos["action_mask"], rng))
        if terminations.any():
            np.testing.assert_array_equal(infos["_episode"], terminations)
            assert set(infos["episode"]["l"][terminations].tolist()) <= {2, 3}
            recorded += terminations.sum()
    assert recorded >= 2 * COUNT


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_the_autoreset_mode_is_an_attribute_as_of_gymnasiums_own(mode):
    """TorchRL's `GymWrapper` reads it."""
    envs = gym.make_vec("Sudoku4x4-v0", num_envs=2, autoreset_mode=mode)
    assert envs.unwrapped.autoreset_mode is envs.metadata["autoreset_mode"] is mode


def test_async_vector_env_runs_it():
    envs = AsyncVectorEnv([lambda: SudokuEnv("4x4")] * 2)
    try:
        boards, infos = envs.reset(seed=0)
        np.testing.assert_array_equal(boards[1], SudokuEnv("4x4").reset(seed=1)[0])
        envs.step(infos["action_mask"].argmax(1))
    finally:
        envs.close()


def test_numpy_to_torch_wraps_the_vector_environment():
    torch = pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")  # what Gymnasium converts arrays with
    from gymnasium.wrappers.vector import NumpyToTorch

    envs = NumpyToTorch(gym.make_vec("Sudoku4x4-v0", num_envs=2))
    boards, infos = envs.reset(seed=0)
    actions = infos["action_mask"].int().argmax(1)
    assert isinstance(boards, torch.Tensor)
    assert envs.step(actions)[1].shape == (2,)
