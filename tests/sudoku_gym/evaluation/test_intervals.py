"""Wilson intervals against published values and their laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_gym.evaluation.intervals import wilson_interval


@pytest.mark.parametrize(
    ("successes", "count", "low", "high"),
    [
        # Newcombe (1998), "Two-sided confidence intervals for the single proportion", table I.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_published_values(successes, count, low, high):
    assert wilson_interval(successes, count) == pytest.approx((low, high), abs=5e-5)


def test_no_trials_say_nothing():
    assert wilson_interval(0, 0) == (0.0, 1.0)


@settings(deadline=None)
@given(st.integers(1, 10**6), st.data())
def test_interval_holds_the_share_and_mirrors(count, data):
    successes = data.draw(st.integers(0, count))
    low, high = wilson_interval(successes, count)
    assert 0 <= low <= successes / count <= high <= 1
    mirrored = wilson_interval(count - successes, count)
    np.testing.assert_allclose(mirrored, (1 - high, 1 - low), atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((-1, 5), "0 <= successes <= count"), ((6, 5), "0 <= successes <= count")],
)
def test_wrong_numbers_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        wilson_interval(*arguments)
