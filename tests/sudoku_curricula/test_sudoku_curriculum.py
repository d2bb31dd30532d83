"""The curriculum on the Sudoku environments themselves, played at random among legal moves."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import sudoku_gym
from sudoku_curricula import CurriculumWrapper, VectorCurriculumWrapper, make_schedule

EASY = {"start": 1, "stop": 4, "gamma": 0.5, "max_iterations": 50, "metric": "completion"}


def test_a_single_environment_climbs():
    schedule = make_schedule("algorithm-1", **EASY)
    env = CurriculumWrapper(gym.make("Sudoku4x4-v0"), schedule, episodes_per_update=20)
    levels = set()
    _, info = env.reset(seed=0)
    env.action_space.seed(0)
    while not schedule.finished:
        levels.add(info["level"])
        action = env.action_space.sample(mask=info["action_mask"])
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            _, info = env.reset()
            assert info["level"] == schedule.level
    assert levels == {1, 2, 3, 4}
    assert [advance.reason for advance in schedule.history] == ["success"] * 4
    assert schedule.history[0].rate == 1.0  # one blank has one candidate


@pytest.mark.parametrize("mode", AutoresetMode)
def test_the_native_vector_environment_climbs(mode):
    schedule = make_schedule("success-rate", start=4, stop=7, threshold=0.5)
    envs = gym.make_vec("Sudoku4x4-v0", num_envs=16, autoreset_mode=mode)
    envs = VectorCurriculumWrapper(envs, schedule, episodes_per_update=50)
    rng = np.random.default_rng(0)
    _, infos = envs.reset(seed=0)
    games, won, seen = 0, 0, set()
    while schedule.level < 7:
        seen |= set(infos["level"].tolist())
        actions = sudoku_gym.sample_actions(infos["action_mask"], rng)
        _, _, terminated, truncated, infos = envs.step(actions)
        ended = terminated | truncated
        if ended.any():
            last = infos["final_info"] if mode == AutoresetMode.SAME_STEP else infos
            games, won = games + ended.sum(), won + last["is_success"][ended].sum()
            if mode == AutoresetMode.DISABLED:
                _, infos = envs.reset(options={"reset_mask": ended})
    assert [advance.level for advance in schedule.history] == [4, 5, 6]
    assert seen >= {4, 5, 6}
    assert 0.5 < won / games < 1


def test_a_level_beyond_the_bank_names_its_maximum():
    schedule = make_schedule("constant", blanks=17)
    with pytest.raises(ValueError, match="12"):
        CurriculumWrapper(gym.make("Sudoku4x4-v0"), schedule)
