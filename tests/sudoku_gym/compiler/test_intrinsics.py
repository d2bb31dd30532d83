"""A few instructions of the machine, against the same in plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from sudoku_gym.compiler import intrinsics

WORDS = st.integers(0, 2**64 - 1)
TYPES = st.sampled_from([np.uint32, np.uint64])


@njit
def popcount(word):
    return intrinsics.popcount(word)


@njit
def lowest_bit(word):
    return intrinsics.lowest_bit(word)


@njit
def nonzero_bits(array):
    return intrinsics.nonzero_bits(array, 0, 0)


@njit
def spread_and_gather(word, array, row, column):
    intrinsics.spread_bits(word, array, row, column)
    intrinsics.prefetch(array, row, column)
    return intrinsics.nonzero_bits(array, row, column)


@njit
def sums_and_fill(array, others):
    first, (second, third) = intrinsics.uncounted(array), intrinsics.uncounted(others)
    sums = first.sum(), second.sum(), third.sum()
    first[0], third[1] = 7, 0.5
    return sums


def test_borrowed_arrays_and_tuples_are_the_same_arrays():
    array, others = np.arange(4), (np.ones((2, 3), np.uint64), np.ones(3))
    assert sums_and_fill(array, others) == (6, 6, 3)
    assert array.tolist() == [7, 1, 2, 3] and others[1].tolist() == [1, 0.5, 1]


@njit
def fill_as_rows(array, count):
    rows = intrinsics.uncounted_rows(array, count)
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            rows[i, j] = 100 * i + j
    return rows.shape


@pytest.mark.parametrize("shape", [(6, 4), (2, 3, 4), (24,), (2, 0)])
@pytest.mark.parametrize("count", [1, 2])
def test_rows_are_those_of_reshape(shape, count):
    array = np.zeros(shape, np.int16)
    assert fill_as_rows(array, count) == array.reshape(count, -1 if array.size else 0).shape
    wanted = 100 * np.arange(count)[:, None] + np.arange(array.size // count)
    np.testing.assert_array_equal(array.ravel(), wanted.ravel())


@settings(deadline=None)
@given(word=WORDS, kind=TYPES)
def test_bits_are_counted(word, kind):
    word &= np.iinfo(kind).max
    assert popcount(kind(word)) == word.bit_count()


@settings(deadline=None)
@given(word=st.integers(1, 2**32 - 1) | WORDS.filter(bool))
def test_the_lowest_bit_is_found(word):
    for kind in (np.uint32, np.uint64) if word < 2**32 else (np.uint64,):
        assert lowest_bit(kind(word)) == (word & -word).bit_length() - 1


@settings(deadline=None)
@given(word=WORDS, column=st.integers(0, 13))
def test_bits_become_bytes_and_bytes_become_bits(word, column):
    array = np.full((3, 77), 5, np.int8)
    assert spread_and_gather(np.uint64(word), array, 1, column) == word
    wanted = np.full((3, 77), 5, np.int8)
    wanted[1, column : column + 64] = [word >> i & 1 for i in range(64)]
    np.testing.assert_array_equal(array, wanted)


def test_any_byte_but_0_counts():
    array = np.zeros((1, 64), np.int8)
    array[0, [0, 7, 63]] = -1, 2, -128
    assert nonzero_bits(array) == 1 | 1 << 7 | 1 << 63


@njit
def equal_bytes(array, row, column, value):
    return intrinsics.equal_bytes(array, row, column, value)


@njit
def put_bytes(array, row, column, value, bits):
    intrinsics.put_bytes(array, row, column, value, bits)


@given(st.binary(min_size=120, max_size=120), st.integers(0, 28), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_bytes_are_compared_and_written(content, column, bits):
    array = np.frombuffer(content, np.int8).reshape(2, 60) % 3
    for value in range(3):
        found = equal_bytes(array, 1, column, value)
        assert found == sum(1 << i for i in range(32) if array[1, column + i] == value)
    expected = array.copy()
    expected[1, column : column + 32][[bool(bits >> i & 1) for i in range(32)]] = 5
    put_bytes(array, 1, column, 5, np.uint32(bits))
    assert (array == expected).all()
