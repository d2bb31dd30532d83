"""States: taken over only if an environment can have written them."""

from dataclasses import replace

import numpy as np
import pytest

from sudoku_gym.board.actions import sample_actions
from sudoku_gym.envs.batch import EnvState
from sudoku_gym.envs.episodes import LAST_CELL, PHASE, RENEWED, START_BLANKS, STEPS_DONE, UNUSED
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.envs.vector import SudokuVectorEnv

FIELDS = ("rows", "candidates", "counts", "streams")


def started(**options):
    envs = SudokuVectorEnv(3, "4x4", **options)
    envs.reset(seed=0)
    return envs


def changed(state, name, index, value):
    array = getattr(state, name).copy()
    array[index] = value
    return replace(state, **{name: array})


@pytest.mark.parametrize("options", [{}, {"actions": "blank"}, {"erase": True, "blanks": 6}])
def test_a_state_of_any_moment_comes_back_as_it_was(options):
    envs, other = started(**options), SudokuVectorEnv(3, "4x4", **options)
    rng = np.random.default_rng(0)
    for _ in range(60):
        envs.step(sample_actions(envs.action_masks(), rng))
        state = envs.get_state()
        other.set_state(state)
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(other.get_state(), name), getattr(state, name))


def test_a_state_from_before_the_first_reset():
    fresh = SudokuVectorEnv(3, "4x4").get_state()
    envs = started()
    envs.set_state(fresh)
    assert (envs.get_state().counts == UNUSED).all() and not envs.get_state().rows.any()


@pytest.mark.parametrize(
    ("name", "index", "value", "message"),
    [
        ("rows", (1, 2), 120, "board 1, row 1, column 3: 120 is no digit"),
        ("rows", (1, 2), -96, "board 1, row 1, column 3: -96 is no digit"),
        ("rows", (0, slice(0, 4)), 1, "board 0 of the state: 1 stands twice in a unit"),
        ("rows", (0, slice(16, 32)), 1, "as the mark of a given"),
        ("counts", (2, PHASE), 9, "board 2 of the state: 9 is no phase of an episode"),
        ("counts", (2, PHASE), RENEWED, "is no phase"),
        ("counts", (2, STEPS_DONE), -1, "steps done -1; it is 0 to"),
        ("counts", (2, START_BLANKS), 17, "blanks at the start 17; it is 0 to 16"),
        ("counts", (2, LAST_CELL), 16, "last cell 16; it is -1 to 15"),
    ],
)
def test_values_that_no_environment_writes(name, index, value, message):
    envs = started()
    before = envs.get_state()
    with pytest.raises(ValueError, match=message):
        envs.set_state(changed(before, name, index, value))
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(envs.get_state(), field), getattr(before, field))


def test_what_follows_from_the_boards_is_computed():
    envs = started()
    state = envs.get_state()
    envs.set_state(changed(state, "candidates", slice(None), 2**64 - 1))
    np.testing.assert_array_equal(envs.get_state().candidates, state.candidates)


@pytest.mark.parametrize("name", FIELDS)
def test_other_types_and_shapes(name):
    envs = started()
    state = envs.get_state()
    for wrong in (getattr(state, name).astype(float), getattr(state, name)[:2], [1, 2], None):
        with pytest.raises(ValueError, match=f"other {name}"):
            envs.set_state(replace(state, **{name: wrong}))


def test_other_objects_and_generators():
    envs = started()
    with pytest.raises(TypeError, match="what get_state returned, not a dict"):
        envs.set_state({})
    state = envs.get_state()
    assert isinstance(state, EnvState)
    with pytest.raises(ValueError, match="1 generators for 3 boards"):
        envs.set_state(replace(state, generators=({},)))
    with pytest.raises(ValueError, match="the state of a generator does not fit"):
        envs.set_state(replace(state, generators=({},) * 3))
    with pytest.raises(ValueError, match="same number of boards"):
        SudokuEnv("4x4").set_state(state)
