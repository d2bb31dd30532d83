"""Vectors of 16 words, against numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from sudoku_gym.compiler import lanes

WORDS = st.lists(st.integers(0, 2**32 - 1), min_size=lanes.NUM_LANES, max_size=lanes.NUM_LANES)


@njit
def every_operator(rows, out, word, shift):
    left, right = lanes.load_lanes(rows, 0), lanes.load_lanes(rows, 1)
    lanes.store_lanes(out, 0, left & right)
    lanes.store_lanes(out, 1, left | right)
    lanes.store_lanes(out, 2, left ^ right)
    lanes.store_lanes(out, 3, ~left)
    lanes.store_lanes(out, 4, left << shift)
    lanes.store_lanes(out, 5, left >> shift)
    lanes.store_lanes(out, 6, left & word)
    lanes.store_lanes(out, 7, lanes.zero_lanes() | 7)
    both = left
    both &= right
    either = left
    either |= right
    lanes.store_lanes(out, 8, both ^ either)
    return lanes.nonzero_lanes(left & right & word)


@given(WORDS, WORDS, st.integers(0, 2**32 - 1), st.integers(0, 31))
@settings(deadline=None)
def test_operators_are_those_of_numpy(left, right, word, shift):
    rows, out = lanes.empty_rows(2), lanes.empty_rows(9)
    rows[:] = left, right
    left, right, word = rows[0], rows[1], np.uint32(word)
    nonzero = every_operator(rows, out, word, shift)
    expected = [left & right, left | right, left ^ right, ~left, left << shift, left >> shift]
    expected += [left & word, np.full_like(left, 7), left ^ right]
    assert (out == np.array(expected)).all()
    assert nonzero == sum(1 << i for i in range(lanes.NUM_LANES) if left[i] & right[i] & word)


@pytest.mark.parametrize("count", [1, 2, 67])
def test_rows_are_aligned(count):
    for _ in range(10):
        rows = lanes.empty_rows(count)
        assert rows.shape == (count, lanes.NUM_LANES)
        assert rows.dtype == np.uint32
        assert rows.ctypes.data % rows[0].nbytes == 0


@njit
def shift_into_a_number(rows):
    return 1 << lanes.load_lanes(rows, 0)


def test_what_has_no_meaning_is_refused():
    with pytest.raises(Exception, match="No implementation of function"):
        shift_into_a_number(lanes.empty_rows(1))
