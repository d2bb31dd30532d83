"""Random legal actions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_gym import sample_actions
from sudoku_gym.compiler.random_stream import new_stream, next_below


@settings(deadline=None)
@given(
    shape=st.tuples(st.integers(0, 5), st.sampled_from([1, 63, 64, 65, 729, 4096])),
    share=st.floats(0.0, 1.0),
    seed=st.integers(0, 2**32),
    dtype=st.sampled_from([np.int8, np.bool_]),
)
def test_only_legal_actions_are_drawn(shape, share, seed, dtype):
    rng = np.random.default_rng(seed)
    masks = (rng.random(shape) < share).astype(dtype)
    actions = sample_actions(masks, rng)
    assert (actions.dtype, actions.shape) == (np.int64, shape[:1])
    for mask, action in zip(masks, actions, strict=True):
        assert mask[action] if mask.any() else action == 0


def test_draws_are_uniform():
    mask = np.zeros(200, np.int8)
    legal = [0, 3, 63, 64, 130, 199]
    mask[legal] = 1
    drawn = sample_actions(np.tile(mask, (60_000, 1)), np.random.default_rng(0))
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == legal
    # 10,000 each are expected; the standard deviation is 91
    assert np.abs(counts - 10_000).max() < 5 * 91


def test_a_part_of_an_array_will_do():
    masks = np.zeros((6, 130), np.int8)[::2, ::2]
    masks[:, 7] = 1
    assert sample_actions(masks, np.random.default_rng(0)).tolist() == [7, 7, 7]


def test_wrong_masks_are_named():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"masks must be \[B, A\], not \[64\]"):
        sample_actions(np.ones(64, np.int8), rng)
    with pytest.raises(TypeError, match="int8 or bool, not float64"):
        sample_actions(np.ones((1, 64)), rng)


def test_the_draw_is_the_legal_action_of_that_number():
    rng = np.random.default_rng(5)
    masks = (rng.random((300, 729)) < 0.1).astype(np.int8)
    stream = new_stream(np.random.default_rng(6))
    wanted = [np.flatnonzero(mask)[next_below(stream, mask.sum())] for mask in masks]
    assert sample_actions(masks, np.random.default_rng(6)).tolist() == wanted
