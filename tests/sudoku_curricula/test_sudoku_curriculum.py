"""The curriculum on the Sudoku environments themselves, played at random among legal moves."""

import re
from pathlib import Path

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


class StandIn:
    """A curriculum with the interface of Syllabus: it leaves a task that was solved twice."""

    def __init__(self, count):
        self.solved, self.episodes = np.zeros(count), 0

    def sample(self, k=1):
        left = np.flatnonzero(self.solved < 2)
        return [int(left[0]) if len(left) else len(self.solved) - 1] * k

    def update_task_progress(self, task, progress, env_id=None):
        self.solved[task] += progress

    def update_on_episode(self, episode_return, length, task, progress, env_id=None):
        assert episode_return == progress
        self.episodes += 1


def test_a_curriculum_of_syllabus_drives_ours():
    page = Path(__file__).parents[2] / "docs/curricula.md"
    (code,) = re.findall(
        r"```python\n([^`]*class Syllabus\(Schedule\).*?)```", page.read_text(), re.S
    )
    names = {}
    exec(code, names)
    theirs = StandIn(3)
    schedule = names["Syllabus"]("blanks=1..3", theirs)
    env = CurriculumWrapper(gym.make("Sudoku4x4-v0"), schedule, episodes_per_update=5)
    levels = []
    for seed in range(15):
        _, info = env.reset(seed=seed)
        levels.append(info["level"])
        terminated = False
        while not terminated:
            action = int(np.flatnonzero(info["action_mask"])[0])
            _, _, terminated, _, info = env.step(action)
    assert levels[:6] == [1] * 5 + [2] and levels[-1] > 1
    assert theirs.episodes == 15 and (theirs.solved[0], theirs.solved[1] >= 2) == (5, True)
