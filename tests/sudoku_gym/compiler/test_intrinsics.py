"""Instructions of the machine, vectors of 16 words and random streams, against plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_gym.compiler import intrinsics, lanes
from sudoku_gym.compiler.jit import njit
from sudoku_gym.compiler.random_stream import (
    COUNTER,
    new_stream,
    next_below,
    next_uint64,
    next_unit,
)

WORDS = st.integers(0, 2**64 - 1)
ROWS = st.lists(st.integers(0, 2**32 - 1), min_size=lanes.NUM_LANES, max_size=lanes.NUM_LANES)
quick = settings(deadline=None, max_examples=50)


@njit(cache=True)
def borrow_and_fill(array, others):
    first, (second, third) = intrinsics.borrowed(array), intrinsics.borrowed(others)
    sums = first.sum(), second.sum(), third.sum()
    first[0], third[1] = 7, 0.5
    return sums


def test_borrowed_arrays_and_tuples_are_the_same_arrays():
    array, others = np.arange(4), (np.ones((2, 3), np.uint64), np.ones(3))
    assert borrow_and_fill(array, others) == (6, 6, 3)
    assert array.tolist() == [7, 1, 2, 3] and others[1].tolist() == [1, 0.5, 1]


@njit(cache=True)
def fill_as_rows(array, count):
    rows = intrinsics.borrowed_rows(array, count)
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            rows[i, j] = 100 * i + j
    return rows.shape


@pytest.mark.parametrize("shape", [(2, 3, 4), (24,), (2, 0)])
def test_rows_are_those_of_reshape(shape):
    array = np.zeros(shape, np.int16)
    assert fill_as_rows(array, 2) == (2, array.size // 2)
    wanted = 100 * np.arange(2)[:, None] + np.arange(array.size // 2)
    np.testing.assert_array_equal(array.ravel(), wanted.ravel())


@njit(cache=True)
def bits_of(word):
    return intrinsics.popcount(word), intrinsics.lowest_bit(word)


@quick
@given(word=st.integers(1, 2**32 - 1) | WORDS.filter(bool))
def test_bits_are_counted_and_the_lowest_is_found(word):
    for kind in (np.uint32, np.uint64) if word < 2**32 else (np.uint64,):
        assert bits_of(kind(word)) == (word.bit_count(), (word & -word).bit_length() - 1)


@njit(cache=True)
def spread_and_gather(word, array, row, column):
    intrinsics.spread_bits(word, array, row, column)
    intrinsics.prefetch(array, row, column)
    return intrinsics.nonzero_bits(array, row, column)


@quick
@given(word=WORDS, column=st.integers(0, 13))
def test_bits_become_bytes_and_bytes_become_bits(word, column):
    array = np.full((3, 77), 5, np.int8)
    assert spread_and_gather(np.uint64(word), array, 1, column) == word
    wanted = np.full((3, 77), 5, np.int8)
    wanted[1, column : column + 64] = [word >> i & 1 for i in range(64)]
    np.testing.assert_array_equal(array, wanted)


@njit(cache=True)
def find_and_put(array, column, value, bits):
    found = intrinsics.equal_bytes(array, 1, column, value)
    intrinsics.put_bytes(array, 1, column, np.uint8(5), bits)
    return found


@quick
@given(st.binary(min_size=120, max_size=120), st.integers(0, 28), st.integers(0, 2**32 - 1))
def test_bytes_are_compared_and_written(content, column, bits):
    array = np.frombuffer(content, np.int8).reshape(2, 60) % 3
    expected = array.copy()
    expected[1, column : column + 32][[bool(bits >> i & 1) for i in range(32)]] = 5
    ones = sum(1 << i for i in range(32) if array[1, column + i] == 1)
    assert find_and_put(array, column, np.uint8(1), np.uint32(bits)) == ones
    assert (array == expected).all()


@njit(cache=True)
def every_operator(rows, out, word, shift):
    left, right = lanes.load_lanes(rows, 0), lanes.load_lanes(rows, 1)
    lanes.store_lanes(out, 0, left & right)
    lanes.store_lanes(out, 1, left | right)
    lanes.store_lanes(out, 2, left ^ right)
    lanes.store_lanes(out, 3, ~left)
    lanes.store_lanes(out, 4, left << shift)
    lanes.store_lanes(out, 5, left >> shift)
    lanes.store_lanes(out, 6, left & word)
    lanes.store_lanes(out, 7, (left ^ left) | 7)
    return lanes.nonzero_lanes(left & right & word)


@quick
@given(ROWS, ROWS, st.integers(0, 2**32 - 1), st.integers(0, 31))
def test_operators_of_lanes_are_those_of_numpy(left, right, word, shift):
    rows, out = lanes.empty_rows(2), lanes.empty_rows(8)
    assert rows.ctypes.data % rows[0].nbytes == 0
    rows[:] = left, right
    left, right, word = rows[0], rows[1], np.uint32(word)
    nonzero = every_operator(rows, out, word, shift)
    expected = [left & right, left | right, left ^ right, ~left, left << shift, left >> shift]
    assert (out == np.array([*expected, left & word, np.full_like(left, 7)])).all()
    assert nonzero == sum(1 << i for i in range(lanes.NUM_LANES) if left[i] & right[i] & word)


def test_a_stream_is_its_key_and_counter():
    stream = new_stream(np.random.default_rng(3))
    first = [int(next_uint64(stream)) for _ in range(4)]
    assert stream[COUNTER] == 4
    stream[COUNTER] = 2
    assert [int(next_uint64(stream)) for _ in range(2)] == first[2:]
    stream[:] = 0  # the published sequence of SplitMix64 for seed 0
    assert next_uint64(stream) == 0xE220A8397B1DCDAF
    assert next_uint64(stream) == 0x6E789E6AA1B965F4


def test_draws_are_even_and_in_range():
    stream = new_stream(np.random.default_rng(0))
    counts = np.bincount([next_below(stream, 7) for _ in range(14_000)])
    assert len(counts) == 7
    assert abs(counts - 2_000).max() < 250  # more than five standard deviations
    units = np.array([next_unit(stream) for _ in range(4_000)])
    assert 0 <= units.min() < units.max() < 1
    assert abs(units.mean() - 0.5) < 0.03
