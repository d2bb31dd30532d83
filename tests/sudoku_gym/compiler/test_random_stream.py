import numpy as np

from sudoku_gym.compiler.random_stream import (
    COUNTER,
    new_stream,
    next_below,
    next_uint64,
    next_unit,
)


def test_a_stream_is_its_key_and_counter():
    stream = new_stream(np.random.default_rng(3))
    first = [int(next_uint64(stream)) for _ in range(4)]
    assert stream[COUNTER] == 4
    again = new_stream(np.random.default_rng(3))
    again[COUNTER] = 2
    assert [int(next_uint64(again)) for _ in range(2)] == first[2:]


def test_known_values_of_splitmix64():
    stream = np.zeros(2, np.uint64)
    # the published sequence for seed 0
    assert next_uint64(stream) == 0xE220A8397B1DCDAF
    assert next_uint64(stream) == 0x6E789E6AA1B965F4


def test_draws_are_even_and_in_range():
    stream = new_stream(np.random.default_rng(0))
    numbers = np.array([next_below(stream, 7) for _ in range(14_000)])
    counts = np.bincount(numbers)
    assert len(counts) == 7
    assert abs(counts - 2_000).max() < 250  # more than five standard deviations
    units = np.array([next_unit(stream) for _ in range(4_000)])
    assert 0 <= units.min() < units.max() < 1
    assert abs(units.mean() - 0.5) < 0.03
