"""The wrappers on a small game of known outcome: counting, promotion, modes, curves, resume."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics
from gymnasium.wrappers.vector import RecordEpisodeStatistics as VectorRecordEpisodeStatistics
from small_game import Game

from sudoku_curricula import make_schedule
from sudoku_curricula.wrappers import CurriculumWrapper, VectorCurriculumWrapper
from sudoku_gym import SudokuEnv, SudokuVectorEnv, sample_actions
from sudoku_gym.wrappers import VectorOneHotBoard

MODES = list(AutoresetMode)


class LongGame(Game):
    """A game of `level` moves; it is won unless a move is 0."""

    def reset(self, *, seed=None, options=None):
        self.sound = True
        return super().reset(seed=seed)

    def step(self, action):
        self.sound &= bool(action)
        return super().step(action)

    def _wins(self):
        return self.sound


class Curves:
    """A writer that remembers."""

    def __init__(self):
        self.points = []

    def add_scalar(self, tag, value, step):
        self.points.append((tag, value, step))


def algorithm_1(**options):
    levels = {"start": 2, "stop": 4, "gamma": 0.9, "metric": "completion"}
    return make_schedule("algorithm-1", **{**levels, **options})


def play(env, actions):
    """Play one move after the other, and reset where an episode ends."""
    for action in actions:
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()


def test_promotes_pushes_the_level_and_draws_both():
    curves = Curves()
    env = CurriculumWrapper(
        RecordEpisodeStatistics(LongGame()), algorithm_1(), episodes_per_update=2, writer=curves
    )
    env.reset(seed=0)
    play(env, [1, 1, 0, 1])  # one game of two blanks won, one lost: no promotion
    assert env.unwrapped.weights == {2: 1.0}
    play(env, [1, 1, 1])  # a win, and one move into the next
    assert env.unwrapped.weights == {2: 1.0}
    play(env, [1])
    assert env.unwrapped.weights == {3: 1.0}
    assert env.unwrapped.level == 3
    assert curves.points == [
        ("curriculum/blanks", 2, 0),
        ("curriculum/success_rate", 0.5, 4),
        ("curriculum/blanks", 2, 4),
        ("curriculum/success_rate", 1.0, 8),
        ("curriculum/blanks", 3, 8),
    ]


def truth_of(envs, actions, seed, mode):
    """Play vector actions without the wrapper's help; return games won and played by level."""
    truth = {}
    running = np.ones(envs.num_envs, bool)
    envs.reset(seed=seed)
    for action in actions:
        if mode == AutoresetMode.DISABLED and not running.all():
            envs.reset(options={"reset_mask": ~running})
            running[:] = True
        _, _, terminated, truncated, infos = envs.step(action)
        ended = terminated | truncated
        info = infos["final_info"] if mode == AutoresetMode.SAME_STEP and ended.any() else infos
        for i in np.flatnonzero(ended):
            won, played = truth.get(info["level"][i], (0, 0))
            truth[info["level"][i]] = won + int(info["is_success"][i]), played + 1
        running = ~ended
    return truth


@pytest.mark.parametrize("mode", MODES)
def test_counts_each_episode_once_in_every_mode(mode):
    schedule = make_schedule("uniform", tasks="blanks=2..3")
    envs = SyncVectorEnv([LongGame] * 5, autoreset_mode=mode)
    envs = VectorCurriculumWrapper(
        VectorRecordEpisodeStatistics(envs), schedule, episodes_per_update=10**9
    )
    actions = (np.random.default_rng(0).random((200, 5)) < 0.8).astype(np.int64)
    truth = truth_of(envs, actions, 7, mode)
    tally = np.array(envs.curriculum.state_dict()["tally"])
    assert (tally[:, 0].sum() > 200) and envs.curriculum.steps == 1000
    for level, (won, played) in truth.items():  # some wait for episodes that began before them
        counted = tally[schedule.tasks.blanks == level, :2].sum(0)
        assert 0 <= played - counted[0] <= 10 and counted[1] <= won


def test_async_workers_get_the_level():
    envs = AsyncVectorEnv([LongGame] * 2)
    envs = VectorCurriculumWrapper(envs, algorithm_1(), episodes_per_update=2)
    envs.reset(seed=0)
    levels = [envs.step(np.ones(2, np.int64))[-1]["level"].tolist() for _ in range(3)]
    assert levels == [[2, 2], [2, 2], [3, 3]]  # promoted at the second step, reset in the third
    envs.close()


def test_an_environment_without_levels_is_refused():
    with pytest.raises(AttributeError, match="set_blanks"):
        CurriculumWrapper(gym.make("CartPole-v1"), algorithm_1())
    with pytest.raises(AttributeError, match="wrap a SudokuVectorEnv"):
        VectorCurriculumWrapper(gym.make_vec("CartPole-v1", num_envs=2), algorithm_1())
    with pytest.raises(AttributeError, match="set_blanks"):
        VectorCurriculumWrapper(SyncVectorEnv([lambda: gym.make("CartPole-v1")]), algorithm_1())


def test_an_episode_without_its_result_is_refused():
    env = CurriculumWrapper(Game({"told": ["level"]}), algorithm_1(start=1))
    env.reset()
    with pytest.raises(KeyError, match="is_success"):
        env.step(1)


def test_layers_between_pass_a_curriculum_on():
    def make():
        return SudokuEnv("4x4")

    for envs in (SyncVectorEnv([make] * 2), SudokuVectorEnv(2, "4x4")):
        shown = VectorOneHotBoard(envs)
        inner = VectorCurriculumWrapper(shown, make_schedule("success-rate", start=3))
        VectorCurriculumWrapper(inner, make_schedule("success-rate", start=5))
        assert inner.reset(seed=0)[1]["level"].tolist() == [5, 5]
    with pytest.raises(AttributeError, match="set_blanks"):
        plain = SyncVectorEnv([lambda: gym.make("CartPole-v1")])
        VectorCurriculumWrapper(plain, make_schedule("success-rate"))


@pytest.mark.parametrize("mode", MODES)
def test_a_player_never_passes_a_threshold_above_its_success(mode):
    """Boards in step end in waves: at 20 blanks a third is solved, all of them at the last step."""
    schedule = make_schedule("success-rate", start=20, stop=40, threshold=0.5)
    envs = SudokuVectorEnv(4096, autoreset_mode=mode)
    envs = VectorCurriculumWrapper(envs, schedule)
    rng = np.random.default_rng(0)
    _, infos = envs.reset(seed=0)
    rates, masks = [], infos["action_mask"]
    for _ in range(80):
        *_, terminated, truncated, infos = envs.step(sample_actions(masks, rng))
        masks, over = infos["action_mask"].copy(), terminated | truncated
        if mode == AutoresetMode.DISABLED and over.any():
            masks[over] = envs.reset(options={"reset_mask": over})[1]["action_mask"][over]
        rates.append(schedule.rate)
    assert schedule.level == 20
    assert schedule.updates > 25
    assert 0.25 < rates[-1] < 0.45
