"""What each kind of reward pays, and when."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_gym import board
from sudoku_gym.envs import SudokuEnv, SudokuVectorEnv

ALMOST = "123434122143432."
#  1 2 | 3 4
#  3 4 | 1 2
#  ----+----
#  2 1 | 4 3
#  4 3 | 2 .    the last row, the last column and the last box are open: 9 of 12 units hold


def play(env, seed, share_illegal=0.0):
    """Play at random to the end; return the boards and the rewards."""
    observation, info = env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    boards, rewards, over = [observation], [], False
    while not over:
        legal = np.flatnonzero(info["action_mask"])
        is_wild = rng.random() < share_illegal
        action = rng.integers(env.action_space.n) if is_wild else rng.choice(legal)
        observation, reward, terminated, truncated, info = env.step(action)
        boards.append(observation)
        rewards.append(reward)
        over = terminated or truncated
    return np.array(boards), rewards


@settings(deadline=None, max_examples=60)
@given(
    source=st.sampled_from(["4x4", "6x6", "x9x9"]),
    seed=st.integers(0, 2**50),
    actions=st.sampled_from(["legal", "blank"]),
    erase=st.booleans(),
)
def test_the_dense_return_telescopes(source, seed, actions, erase):
    env = SudokuEnv(source, reward="dense", actions=actions, erase=erase, blanks=9, max_steps=40)
    boards, rewards = play(env, seed, share_illegal=0.1)
    fraction = board.constraint_fraction(boards[[0, -1]], env.geometry)
    assert sum(rewards) == pytest.approx(fraction[1] - fraction[0], abs=1e-6)


def test_terminal_pays_the_constraint_fraction_once():
    env = SudokuEnv("4x4")
    for seed in range(20):
        boards, rewards = play(env, seed)
        assert not any(rewards[:-1])
        assert rewards[-1] == pytest.approx(board.constraint_fraction(boards[-1:])[0])


def test_dense_pays_each_unit_as_it_is_satisfied():
    env = SudokuEnv("4x4", reward="dense")
    _, info = env.reset(options={"puzzle": ALMOST})
    assert info["constraint_fraction"] == 9 / 12
    assert env.step(60)[1] == 3 / 12


def test_dense_takes_back_what_erasing_undoes():
    env = SudokuEnv("4x4", reward="dense", erase=True)
    env.reset(options={"puzzle": "12343412214343.."})
    gained = env.step(57)[1]
    assert gained == 1 / 12
    assert env.step(64 + 14)[1] == -gained


def test_illegal_actions_add_their_reward():
    for reward, last in (("terminal", 9 / 12), ("dense", 0.0), ("sparse", 0.0)):
        env = SudokuEnv("4x4", reward=reward, illegal_reward=-1.0, max_steps=2)
        env.reset(options={"puzzle": ALMOST})
        assert [env.step(0)[1], env.step(0)[1]] == [-1.0, -1.0 + last]


def test_a_function_sees_the_boards_before_and_after():
    seen = []

    def reward(before, actions, after, terminated):
        seen.append((before.copy(), actions.copy(), after.copy(), terminated.copy()))
        return np.full(len(actions), 0.5, np.float32)

    env = SudokuEnv("4x4", reward=reward, illegal_reward=-2.0)
    env.reset(options={"puzzle": ALMOST})
    assert env.step(0)[1] == -2.0  # illegal: the function is not asked
    assert seen == []
    assert env.step(60)[1] == 0.5
    before, actions, after, terminated = seen[0]
    assert before.shape == after.shape == (1, 4, 4)
    assert (before[0, 3, 3], after[0, 3, 3]) == (0, 1)
    assert actions.tolist() == [60]
    assert terminated.tolist() == [True]
    assert (before.dtype, actions.dtype, after.dtype, terminated.dtype) == ("i1", "i8", "i1", "?")


def test_a_function_is_asked_only_about_boards_that_were_played():
    sizes = []

    def reward(before, actions, after, terminated):
        sizes.append(len(actions))
        assert ((after > 0).sum((1, 2)) == (before > 0).sum((1, 2)) + 1).all()
        return np.ones(len(actions))

    envs = SudokuVectorEnv(3, "4x4", blanks=1, reward=reward)
    _, infos = envs.reset(seed=0)
    actions = infos["action_mask"].argmax(1)
    actions[1] = (actions[1] + 5) % 64  # illegal, so that this board is not over
    assert envs.step(actions)[1].tolist() == [1.0, 0.0, 1.0]
    actions = envs.action_masks().argmax(1)
    assert envs.step(actions)[1].tolist() == [0.0, 1.0, 0.0]
    assert sizes == [2, 1]


def test_a_function_must_answer_with_a_number_a_board():
    env = SudokuEnv("4x4", reward=lambda before, actions, after, terminated: 1.0)
    env.reset(options={"puzzle": ALMOST})
    with pytest.raises(ValueError, match=r"one number a board, shape \(1,\), not \(\)"):
        env.step(60)
