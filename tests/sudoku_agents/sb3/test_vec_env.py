"""Our VecEnv shows Stable-Baselines3 what its own DummyVecEnv would, and takes its calls."""

import gymnasium as gym
import numpy as np
import pytest
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor

from sudoku_agents.sb3 import SudokuVecEnv, make_vec_env
from sudoku_gym.puzzles import load
from sudoku_gym.wrappers import FlatObservation, OneHotBoard, VectorSymmetryAugmentation

BOARDS = 5
WRAPPERS = {"board": lambda env: env, "one-hot": lambda env: FlatObservation(OneHotBoard(env))}


def singles(form, **options):
    return DummyVecEnv([lambda: WRAPPERS[form](gym.make("Sudoku4x4-v0", **options))] * BOARDS)


def assert_same(ours, theirs):
    assert ours.keys() == theirs.keys()
    for key, value in theirs.items():
        np.testing.assert_array_equal(ours[key], value, err_msg=key)
        assert np.asarray(ours[key]).dtype == np.asarray(value).dtype, key


@pytest.mark.parametrize("form", WRAPPERS)
@pytest.mark.parametrize(
    "options",
    [
        {"blanks": (2, 6)},
        {"blanks": 9, "reward": "dense", "end_at_dead_end": True},
        {"blanks": 9, "illegal_reward": -1.0, "max_steps": 5},
        {"blanks": 4, "erase": True, "actions": "blank", "max_steps": 9},
    ],
    ids=["plain", "dead-ends", "truncated", "erase"],
)
def test_it_equals_single_environments_step_for_step(form, options):
    ours = make_vec_env("Sudoku4x4-v0", BOARDS, observation=form, **options)
    theirs = singles(form, **options)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    rng = np.random.default_rng(3)
    assert ours.seed(7) == theirs.seed(7)
    np.testing.assert_array_equal(ours.reset(), theirs.reset())
    ended = 0
    for _ in range(60):
        masks = get_action_masks(ours)
        np.testing.assert_array_equal(masks, get_action_masks(theirs))
        # mostly legal; one in ten at random, hence illegal
        actions = (masks * rng.random(masks.shape)).argmax(1)
        actions = np.where(rng.random(BOARDS) < 0.1, rng.integers(64, size=BOARDS), actions)
        mine, others = ours.step(actions), theirs.step(actions)
        np.testing.assert_array_equal(mine[0], others[0])
        np.testing.assert_array_equal(mine[1], others[1])
        assert mine[1].dtype == others[1].dtype
        np.testing.assert_array_equal(mine[2], others[2])
        for told, expected in zip(mine[3], others[3], strict=True):
            assert_same(told, expected)
        for told, expected in zip(ours.reset_infos, theirs.reset_infos, strict=True):
            assert_same(told, expected)
        ended += mine[2].sum()
    assert ended > 5


def test_masks_are_those_of_the_boards_shown():
    env = make_vec_env("Sudoku4x4-v0", 3, blanks=1)
    assert is_masking_supported(env)
    observations = env.reset()
    for _ in range(4):  # every step ends every episode
        masks = get_action_masks(env)
        assert masks.dtype == np.bool_ and masks.shape == (3, 64)
        cells = masks.argmax(1) // 4
        assert (observations.reshape(3, 16)[np.arange(3), cells] == 0).all()
        observations, _, dones, _ = env.step(masks.argmax(1))
        assert dones.all()


def test_seeds_and_options_count_once():
    env = make_vec_env("Sudoku4x4-v0", 2)
    boards = load("4x4").puzzles[:2]
    env.seed(1)
    with pytest.raises(ValueError, match="give one dict"):
        env.set_options([{"puzzle": board} for board in boards])
        env.reset()
    env.set_options({"puzzle": boards})
    np.testing.assert_array_equal(env.reset(), boards)
    later = env.reset()
    assert not np.array_equal(later, boards)
    env.seed(1)
    env.set_options({"blanks": 3})
    first = env.reset()
    assert ((first == 0).sum((1, 2)) == 3).all()
    env.seed(1)
    env.set_options({"blanks": 3})
    np.testing.assert_array_equal(env.reset(), first)


def test_calls_reach_all_boards_through_wrappers():
    envs = gym.make_vec("Sudoku4x4-v0", num_envs=3, autoreset_mode="SameStep")
    env = VecMonitor(SudokuVecEnv(VectorSymmetryAugmentation(envs)))
    env.env_method("set_blanks", {2: 1.0})
    assert ((env.reset() == 0).sum((1, 2)) == 2).all()
    assert len(env.env_method("action_masks", indices=[0, 2])) == 2
    assert env.get_attr("max_steps", 1) == [32]
    envs.unwrapped.told = 0
    env.set_attr("told", 7)
    assert envs.unwrapped.told == 7
    assert env.env_is_wrapped(VectorSymmetryAugmentation) == [True] * 3
    assert env.env_is_wrapped(gym.wrappers.TimeLimit) == [False] * 3
