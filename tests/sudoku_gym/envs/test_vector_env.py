"""The native vector environment against `SyncVectorEnv` over single ones, array for array."""

import pickle

import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_gym.board.actions import sample_actions
from sudoku_gym.envs import SudokuEnv, SudokuVectorEnv
from sudoku_gym.puzzles.sources import resolve_source

COUNT = 3
MODES = list(AutoresetMode)


class OwnSource:
    """A source that only has `sample`, so that every draw goes through Python."""

    def __init__(self, name="4x4"):
        self._bank = resolve_source(name, "train")
        self.geometry, self.max_blanks = self._bank.geometry, self._bank.max_blanks

    def sample(self, count, blanks, rng):
        return self._bank.sample(count, blanks, rng)


def count_filled(before, actions, after, terminated):
    return ((after > 0).sum((1, 2)) + actions + 100 * terminated - before[:, 0, 0]).astype("f4")


def assert_same(ours, theirs, where="result"):
    """Equal in keys, types, dtypes, shapes and values."""
    assert type(ours) is type(theirs), where
    if isinstance(ours, dict):
        assert ours.keys() == theirs.keys(), where
        for key in ours:
            assert_same(ours[key], theirs[key], f"{where}[{key!r}]")
    elif isinstance(ours, tuple):
        assert len(ours) == len(theirs)
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(a, b, f"{where}[{i}]")
    elif isinstance(ours, np.ndarray):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), where
        if ours.dtype == object:
            for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
                assert_same(a, b, f"{where}[{i}]")
        else:
            np.testing.assert_array_equal(ours, theirs, where)
    else:
        assert ours == theirs, where


def random_actions(rng, masks, share_illegal):
    """Mostly legal actions; some of any kind."""
    anything = rng.integers(0, masks.shape[1], len(masks))
    return np.where(rng.random(len(masks)) < share_illegal, anything, sample_actions(masks, rng))


def play_both(mode, steps, seed=0, share_illegal=0.2, **options):
    ours = SudokuVectorEnv(COUNT, autoreset_mode=mode, **options)
    theirs = SyncVectorEnv([lambda: SudokuEnv(**options)] * COUNT, autoreset_mode=mode)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.single_observation_space == theirs.single_observation_space
    assert_same(ours.reset(seed=seed), theirs.reset(seed=seed))
    rng = np.random.default_rng(seed)
    masks = ours.action_masks().view(np.int8)
    episodes = 0
    for _ in range(steps):
        actions = random_actions(rng, masks, share_illegal)
        result = ours.step(actions)
        assert_same(result, theirs.step(actions))
        masks = ours.action_masks().view(np.int8)
        over = result[2] | result[3]
        episodes += over.sum()
        if mode is AutoresetMode.DISABLED and over.any():
            both = [env.reset(options={"reset_mask": over}) for env in (ours, theirs)]
            assert_same(*both)
            masks = ours.action_masks().view(np.int8)
    assert_same(ours.reset(), theirs.reset())
    assert episodes > 0
    return episodes


OPTIONS = [
    {"source": "4x4"},
    {"source": "4x4", "reward": "dense", "illegal_reward": -0.5},
    {"source": "4x4", "reward": "sparse", "blanks": (2, 5)},
    {"source": "4x4", "reward": count_filled},
    {"source": "4x4", "actions": "blank", "blanks": {"4": 1.0, "6": 2.0}},
    {"source": "4x4", "erase": True, "blanks": 3, "reward": "dense"},
    {"source": "4x4", "erase": True, "actions": "blank", "max_steps": 9},
    {"source": "4x4", "end_at_dead_end": True, "augment": False},
    {"source": "6x6", "max_steps": 7},
    {"source": "x9x9", "blanks": 12},
    {"source": "6x6", "propagation": "naked singles", "reward": "dense"},
    {"source": "x9x9", "propagation": "hidden singles", "actions": "blank", "blanks": 50},
    {"source": "4x4", "with_mask": False},
    {"source": "4x4", "with_info": False},
    {"source": "4x4", "with_mask": False, "with_info": False},
    {"source": OwnSource(), "blanks": 6},
    {"source": OwnSource(), "reward": count_filled},
]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("options", OPTIONS, ids=", ".join)
def test_vector_equals_singles_under_every_option(options, mode):
    play_both(mode, steps=40, **options)


@pytest.mark.parametrize("source", ["9x9", "16x16", "25x25"])
def test_vector_equals_singles_at_every_size(source):
    play_both(AutoresetMode.NEXT_STEP, steps=40, source=source, blanks=10)


def test_a_pickled_environment_goes_on_as_the_first_does():
    envs = SudokuVectorEnv(10, "4x4")
    envs.reset(seed=0)
    copy = pickle.loads(pickle.dumps(envs))
    rng = np.random.default_rng(0)
    for _ in range(30):
        actions = random_actions(rng, envs.action_masks().view(np.int8), 0.1)
        assert_same(envs.step(actions), copy.step(actions))


def test_a_closed_environment_refuses_to_go_on():
    envs = SudokuVectorEnv(2, "4x4")
    _, infos = envs.reset(seed=0)
    envs.step(infos["action_mask"].argmax(1))
    envs.close()
    envs.close()
    with pytest.raises(ClosedEnvironmentError, match="make a new one"):
        envs.step(infos["action_mask"].argmax(1))
    with pytest.raises(ClosedEnvironmentError, match="make a new one"):
        envs.reset(seed=0)


def test_a_refused_step_changes_nothing():
    envs = SudokuVectorEnv(2, OwnSource(), blanks=1)
    envs.reset(seed=0)
    actions = sample_actions(envs.action_masks(), np.random.default_rng(0))
    envs.step([actions[0], (actions[1] + 5) % 64])  # the first board is over, the second goes on
    before = envs.get_state()
    with pytest.raises(match="board 1"):
        envs.step([0, 64])
    np.testing.assert_array_equal(envs.get_state().rows, before.rows)


@settings(deadline=None, max_examples=25)
@given(
    mode=st.sampled_from(MODES),
    seed=st.integers(0, 2**40),
    reward=st.sampled_from(["terminal", "dense", "sparse", count_filled]),
    actions=st.sampled_from(["legal", "blank"]),
    erase=st.booleans(),
    end_at_dead_end=st.booleans(),
    augment=st.booleans(),
    illegal_reward=st.sampled_from([0.0, -1.0]),
    blanks=st.sampled_from([None, 1, 7, (3, 9), {"2": 0.5, "8": 0.5}]),
    source=st.sampled_from(["4x4", OwnSource()]),
)
def test_vector_equals_singles_property(mode, seed, **options):
    play_both(mode, steps=25, seed=seed, max_steps=12, **options)


def test_seeds_one_each_and_none_continues():
    envs = SudokuVectorEnv(3, "4x4")
    first, _ = envs.reset(seed=[5, None, 7])
    singles = [SudokuEnv("4x4").reset(seed=seed)[0] for seed in (5, 7)]
    np.testing.assert_array_equal(first[[0, 2]], singles)
    following, _ = envs.reset(seed=[None, 6, None])
    again = SudokuEnv("4x4")
    again.reset(seed=5)
    np.testing.assert_array_equal(following[0], again.reset()[0])
    np.testing.assert_array_equal(following[1], SudokuEnv("4x4").reset(seed=6)[0])


def test_reset_options_for_the_batch():
    envs = SudokuVectorEnv(2, "4x4")
    puzzles = np.zeros((2, 4, 4), np.int8)
    puzzles[1, 0, 0] = 3
    boards, infos = envs.reset(options={"puzzle": puzzles})
    np.testing.assert_array_equal(boards, puzzles)
    assert infos["level"].tolist() == [16, 15]
    boards, _ = envs.reset(options={"puzzle": "1" + "." * 15})
    assert boards[:, 0, 0].tolist() == [1, 1]
    assert (envs.reset(options={"blanks": 5})[1]["blanks"] == 5).all()
    chosen = np.array([False, True])
    kept = envs.reset(seed=1)[0][0]
    boards, infos = envs.reset(options={"reset_mask": chosen, "puzzle": puzzles})
    np.testing.assert_array_equal(boards, [kept, puzzles[1]])
    assert infos["_level"].tolist() == [False, True]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reset_mask": np.zeros(2, bool)}, "chooses no board"),
        ({"reset_mask": [True, False]}, "must be a bool array of shape"),
        ({"reset_mask": np.ones(3, bool)}, "must be a bool array of shape"),
        ({"puzzle": np.zeros((3, 4, 4), np.int8)}, "holds 3 boards for 2"),
        ({"puzzle": "11" + "." * 14}, "stands twice"),
        ({"level": 3}, "no option 'level'"),
        ({"blanks": np.array([2, 5])}, "give None, a whole number, a"),
    ],
)
def test_wrong_reset_options_are_named(options, message):
    envs = SudokuVectorEnv(2, "4x4")
    with pytest.raises((ValueError, TypeError), match=message):
        envs.reset(options=options)


def test_wrong_actions_and_missing_resets_are_named():
    envs = SudokuVectorEnv(2, "4x4", autoreset_mode="Disabled", blanks=1)
    with pytest.raises(ResetNeeded, match="reset"):
        envs.step([0, 0])
    envs.reset(seed=0)
    with pytest.raises(match="board 1: action 64"):
        envs.step([0, 64])
    with pytest.raises(match="integers of shape"):
        envs.step([0.0, 1.0])
    with pytest.raises(match="integers of shape"):
        envs.step([0])
    before = envs.get_state().rows
    envs.step(sample_actions(envs.action_masks(), np.random.default_rng(0)))
    assert (envs.get_state().rows != before).any()
    with pytest.raises(ResetNeeded, match="reset_mask"):
        envs.step([0, 0])


def test_returned_arrays_are_never_reused():
    envs = SudokuVectorEnv(4, "4x4", autoreset_mode="SameStep")
    envs.reset(seed=0)
    rng = np.random.default_rng(0)
    kept = []
    for _ in range(20):
        result = envs.step(sample_actions(envs.action_masks(), rng))
        kept.append((result, pickle.loads(pickle.dumps(result))))
    for result, snapshot in kept:
        assert_same(result, snapshot)


@pytest.mark.parametrize("source", ["4x4", OwnSource()], ids=["bank", "own"])
def test_a_state_leads_to_the_same_future(source):
    envs = SudokuVectorEnv(COUNT, source)
    envs.reset(seed=3)
    other = SudokuVectorEnv(COUNT, source)
    state = envs.get_state()
    other.set_state(state)
    rng = np.random.default_rng(0)
    for _ in range(40):
        actions = sample_actions(envs.action_masks(), rng)
        assert_same(envs.step(actions), other.step(actions))
    envs.set_state(state)
    np.testing.assert_array_equal(envs.get_state().rows, state.rows)
    with pytest.raises(ValueError, match="same number of boards"):
        SudokuVectorEnv(1, source).set_state(state)


def test_set_blanks_holds_from_the_next_reset_of_each_board():
    envs = SudokuVectorEnv(4, "4x4", blanks=3, autoreset_mode="SameStep")
    _, infos = envs.reset(seed=0)
    envs.set_blanks(5)
    rng = np.random.default_rng(0)
    seen = {3}
    for _ in range(10):
        _, _, terminations, truncations, new = envs.step(sample_actions(infos["action_mask"], rng))
        over = terminations | truncations
        np.testing.assert_array_equal(new["level"][~over], infos["level"][~over])
        assert (new["level"][over] == 5).all()
        infos = new
        seen |= set(new["level"].tolist())
    assert seen == {3, 5}
    with pytest.raises(ValueError, match="serves 1 to"):
        envs.set_blanks(17)


def test_blanks_of_a_single_reset_are_no_task():
    envs = SudokuVectorEnv(8, "4x4", blanks="blanks=2..6")
    assert (envs.reset(seed=0)[1]["task"] >= 0).all()
    info = envs.reset(options={"blanks": 3})[1]
    assert (info["blanks"] == 3).all() and (info["task"] == -1).all()
    assert (envs.reset()[1]["task"] >= 0).all()
