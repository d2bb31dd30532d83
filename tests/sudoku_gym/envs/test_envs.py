"""The single environment: the rules of an episode, its options, seeds and states."""

import inspect
import pickle
from dataclasses import fields

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_gym import board
from sudoku_gym.envs import SudokuEnv
from sudoku_gym.envs.options import EnvOptions

ALMOST = "123434122143432."
TWO_LEFT = "12343412214343.."


def legal_action(mask, rng):
    return np.int64(rng.choice(np.flatnonzero(mask)))


@settings(deadline=None, max_examples=60)
@given(
    source=st.sampled_from(["4x4", "6x6", "x9x9"]),
    seed=st.integers(0, 2**60),
    actions=st.sampled_from(["legal", "blank"]),
    erase=st.booleans(),
)
def test_what_is_updated_step_by_step_equals_what_is_computed_anew(source, seed, actions, erase):
    """Mask, dead end, fraction and success follow from the board alone, whatever was played."""
    env = SudokuEnv(source, actions=actions, erase=erase, blanks=12 if source == "x9x9" else None)
    observation, info = env.reset(seed=seed)
    givens = observation > 0
    rng = np.random.default_rng(seed)
    geometry = env.geometry
    placements = geometry.num_placements
    for _ in range(60):
        batch = observation[None]
        free = board.candidates(batch, geometry)
        blank = np.broadcast_to((batch == 0)[..., None], free.shape)
        expected = (free if actions == "legal" else blank).reshape(-1)
        np.testing.assert_array_equal(info["action_mask"][:placements], expected)
        np.testing.assert_array_equal(info["action_mask"], env.action_masks())
        if erase:
            cleared = ((observation > 0) & ~givens).reshape(-1)
            np.testing.assert_array_equal(info["action_mask"][placements:], cleared)
        assert info["dead_end"] == ((batch == 0) & ~free.any(-1)).any()
        assert info["blanks"] == (observation == 0).sum()
        assert info["constraint_fraction"] == pytest.approx(
            board.constraint_fraction(batch, geometry)[0]
        )
        assert info["is_success"] == board.is_solved(batch, geometry)[0]
        observation, _, terminated, truncated, info = env.step(
            legal_action(info["action_mask"], rng)
        )
        if terminated or truncated:
            break


def test_scalars_are_python_scalars():
    env = SudokuEnv("4x4", reward="dense")
    _, info = env.reset(seed=0)
    _, reward, terminated, truncated, later = env.step(int(info["action_mask"].argmax()))
    assert [type(value) for value in (reward, terminated, truncated)] == [float, bool, bool]
    for shown in (info, later):
        shown = {key: type(value) for key, value in shown.items() if key != "action_mask"}
        assert list(shown.values()) == [int, int, bool, bool, bool, float]


def test_an_action_is_a_cell_and_a_digit():
    env = SudokuEnv("6x6")
    env.reset(options={"puzzle": np.zeros((6, 6), np.int8)})
    observation, *_ = env.step((2 * 6 + 5) * 6 + 4 - 1)
    assert observation[2, 5] == 4
    assert (observation > 0).sum() == 1


def test_an_episode_ends_when_solved():
    env = SudokuEnv("4x4")
    _, info = env.reset(options={"puzzle": ALMOST})
    assert info["action_mask"].nonzero()[0].tolist() == [63 - 3]
    observation, reward, terminated, truncated, info = env.step(60)
    assert board.to_line(observation) == "1234341221434321"
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert info["is_success"]
    assert not info["action_mask"].any()
    assert not env.action_masks().any()


def test_an_episode_ends_at_the_first_dead_end_if_asked():
    puzzle = "12..3.........4."
    step = 3 * 4 + 2  # a 3 in row 1, column 4 leaves row 1, column 3 nothing (4 is in its column)
    for end_at_dead_end in (False, True):
        env = SudokuEnv("4x4", end_at_dead_end=end_at_dead_end)
        _, info = env.reset(options={"puzzle": puzzle})
        assert not info["dead_end"]
        _, _, terminated, _, info = env.step(step)
        assert info["dead_end"]
        assert terminated is end_at_dead_end
        assert info["action_mask"].any() != terminated


def test_erase_takes_back_and_only_success_ends():
    env = SudokuEnv("4x4", erase=True, actions="blank")
    _, info = env.reset(options={"puzzle": ALMOST})
    assert env.action_space.n == 64 + 16
    observation, _, terminated, _, info = env.step(61)  # a wrong 2: the board is full
    assert not terminated
    assert (observation > 0).all()
    assert info["action_mask"].nonzero()[0].tolist() == [64 + 15]
    observation, _, _, _, info = env.step(64 + 15)
    assert observation[3, 3] == 0
    assert not info["illegal_action"]
    assert env.step(64)[4]["illegal_action"]  # a given
    assert env.step(60)[2]


@pytest.mark.parametrize(
    ("propagation", "hidden"), [("naked singles", False), ("hidden singles", True)]
)
@pytest.mark.parametrize("actions", ["legal", "blank"])
def test_propagation_leaves_no_single(propagation, hidden, actions):
    env = SudokuEnv("9x9", propagation=propagation, actions=actions, reward="dense")
    rng, filled = np.random.default_rng(0), 0
    for seed in range(8):
        before, info = env.reset(seed=seed)
        assert info["blanks"] == info["level"] == (before == 0).sum()
        fraction, terminated = info["constraint_fraction"], False
        while not terminated:
            action = legal_action(info["action_mask"], rng)
            after, reward, terminated, _, info = env.step(action)
            assert after.flat[action // 9] == action % 9 + 1
            np.testing.assert_array_equal(after[before > 0], before[before > 0])
            free = board.candidates(after[None])
            assert not (free.sum(-1) == 1).any()
            if hidden:
                places = free.reshape(81, 9)[env.geometry.units].sum(1)
                assert not (places == 1).any()
            assert reward == pytest.approx(info["constraint_fraction"] - fraction)
            filled += (after > 0).sum() - (before > 0).sum() - 1
            before, fraction = after, info["constraint_fraction"]
    assert filled > 50


def test_illegal_actions_leave_the_board_and_count():
    env = SudokuEnv("4x4", illegal_reward=-0.25, max_steps=3)
    before, info = env.reset(options={"puzzle": TWO_LEFT})
    for steps in (1, 2, 3):
        after, reward, terminated, truncated, info = env.step(0)
        np.testing.assert_array_equal(before, after)
        assert info["illegal_action"]
        assert (terminated, truncated) == (False, steps == 3)
    assert reward == -0.25 + info["constraint_fraction"]
    assert info["action_mask"].any()  # a truncated board could be played on


@pytest.mark.parametrize("make", ["single", "sync", "vector"])
def test_the_step_limit_is_the_environment_s_own_and_is_paid(make):
    """Two placements of four: the constraint fraction is the reward of the truncated episode."""
    options = {"blanks": 4, "max_steps": 2}
    if make == "single":
        env = gym.make("Sudoku4x4-v0", **options)
        masks = [env.reset(seed=0)[1]["action_mask"]]
    else:
        mode = {"vectorization_mode": "sync"} if make == "sync" else {}
        env = gym.make_vec("Sudoku4x4-v0", num_envs=2, **options, **mode)
        masks = env.reset(seed=0)[1]["action_mask"]
    for _ in range(2):
        actions = [int(mask.argmax()) for mask in masks]
        result = env.step(actions if len(actions) > 1 else actions[0])
        masks = np.atleast_2d(result[4]["action_mask"])
    _, reward, terminated, truncated, info = result
    assert np.all(truncated) and not np.any(terminated)
    np.testing.assert_array_equal(reward, info["constraint_fraction"])
    assert np.all(np.asarray(reward) > 0)


def test_the_step_limit():
    assert SudokuEnv("4x4").max_steps == 32
    assert SudokuEnv("4x4", erase=True).max_steps == 128
    env = gym.make("Sudoku4x4-v0", max_steps=1)
    env.reset(seed=0)
    assert env.step(0)[3] is True


def test_wrong_calls_are_named():
    env = SudokuEnv("4x4")
    with pytest.raises(ResetNeeded, match=r"call reset\(\) before step"):
        env.step(0)
    assert not env.action_masks().any()
    env.reset(options={"puzzle": ALMOST})
    for action in (-1, 64):
        with pytest.raises(ValueError, match=f"action {action} is none of this board"):
            env.step(action)
    for action in (1.5, float("nan"), "3", None, 10**30, [60, 60], np.array([1, 2])):
        with pytest.raises(ValueError, match="is none of this board: use 0 to 63"):
            env.step(action)
    env.step(60)
    with pytest.raises(ResetNeeded, match="the episode is over"):
        env.step(60)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reward": "solved"}, "reward='solved': use 'terminal', 'dense', 'sparse'"),
        ({"actions": "all"}, "actions='all': use one of 'legal'"),
        ({"reward": ["terminal"]}, "reward="),
        ({"illegal_reward": float("nan")}, "finite"),
        ({"blanks": 17}, "serves 1 to"),
        ({"board": "9x9"}, "source='4x4' holds 4x4 boards, but this environment's are 9x9"),
        ({"propagation": "pairs"}, "propagation='pairs': use one of None, 'naked singles'"),
        ({"propagation": "naked singles", "erase": True}, "use one of the two"),
        ({"split": "half"}, "has no split 'half'"),
        ({"render_mode": "svg"}, "render_mode='svg'"),
        ({"max_steps": 0}, "max_steps=0"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        SudokuEnv("4x4", **options)


def test_both_environments_take_the_same_options_and_refuse_others():
    names = [field.name for field in fields(EnvOptions)]
    arguments = inspect.getdoc(SudokuEnv).partition("## Arguments")[2]
    assert [name for name in names if f"`{name}`" not in arguments] == []
    for make in (gym.make, gym.make_vec):
        with pytest.raises(TypeError, match="unexpected keyword argument 'blank'"):
            make("Sudoku4x4-v0", blank=4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"puzle": "1"}, "no option 'puzle': use 'puzzle'"),
        ({"puzzle": "12"}, "expected as many symbols"),
        ({"puzzle": np.zeros((9, 9), int)}, "9 x 9 cells, the geometry is 4x4"),
        ({"puzzle": np.full((4, 4), 7)}, "row 1, column 1: 7 is no digit"),
        ({"puzzle": "1..1" + "." * 12}, "1 stands twice in a unit"),
        ({"puzzle": ALMOST, "blanks": 3}, "a puzzle has its own blanks"),
        ({"blanks": 40}, "serves 1 to"),
    ],
)
def test_wrong_reset_options_are_named(options, message):
    env = SudokuEnv("4x4")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=message):
        env.reset(options=options)


def test_a_puzzle_of_ones_own():
    puzzle = np.zeros((9, 9), np.int8)
    puzzle[0, :3] = 9, 8, 7
    env = SudokuEnv("x9x9")
    for form in (puzzle, puzzle.astype(np.int64), puzzle.tolist(), board.to_line(puzzle)):
        observation, info = env.reset(options={"puzzle": form})
        np.testing.assert_array_equal(observation, puzzle)
        assert info["level"] == 78
    assert not info["action_mask"].reshape(9, 9, 9)[8, 8, 8]  # 9 stands on its diagonal


def test_equal_seeds_give_equal_episodes_and_others_do_not():
    def episode(seed):
        env = gym.make("Sudoku9x9-v0")
        boards = [env.reset(seed=seed)[0]]
        boards += [env.reset()[0] for _ in range(5)]
        return np.array(boards)

    first = episode(4)
    np.testing.assert_array_equal(first, episode(4))
    assert len({one.tobytes() for one in first}) == 6
    assert (first != episode(5)).any((1, 2)).all()


def test_a_state_leads_to_the_same_future():
    env, other = SudokuEnv("4x4"), SudokuEnv("4x4")
    env.reset(seed=1)
    state = env.get_state()
    rng = np.random.default_rng(0)
    futures = []
    for one in (env, other, env):
        one.set_state(state)
        rng = np.random.default_rng(0)
        line = []
        for _ in range(30):
            mask = one.action_masks()
            if not mask.any():
                line.append(one.reset()[0])
                continue
            line.append(one.step(legal_action(mask, rng))[0])
        futures.append(np.array(line))
    np.testing.assert_array_equal(futures[0], futures[1])
    np.testing.assert_array_equal(futures[0], futures[2])
    with pytest.raises(ValueError, match="use one with the same number of boards"):
        SudokuEnv("6x6").set_state(state)


def test_it_pickles_and_its_spec_survives_json():
    env = gym.make("Sudoku6x6-v0", blanks={"5": 0.5, "6": 0.5}, reward="dense")
    env.reset(seed=3)
    copy = pickle.loads(pickle.dumps(env))
    np.testing.assert_array_equal(env.reset()[0], copy.reset()[0])
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    np.testing.assert_array_equal(env.reset(seed=9)[0], again.reset(seed=9)[0])


def test_a_closed_environment_refuses_to_go_on():
    env = gym.make("Sudoku4x4-v0")
    _, info = env.reset(seed=0)
    env.close()
    env.close()
    with pytest.raises(ClosedEnvironmentError, match="make a new one"):
        env.step(info["action_mask"].argmax())
    with pytest.raises(ClosedEnvironmentError, match="make a new one"):
        env.reset()
