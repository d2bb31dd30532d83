"""Confidence intervals of measured shares."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist


def wilson_interval(successes: int, count: int) -> tuple[float, float]:
    """Return the Wilson score interval of a share, which covers the true one with 95 %.

    Unlike the normal interval it stays within [0, 1] and has a width at shares of 0 and 1.

    Args:
        successes: how many of the trials succeeded.
        count: the number of trials; with none the interval is (0, 1).

    Returns:
        (low, high).

    Source: Wilson, "Probable inference, the law of succession, and statistical inference" (1927).
    """
    if not 0 <= successes <= count:
        raise ValueError(f"{successes} successes of {count}: need 0 <= successes <= count")
    if count == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.975)
    share = successes / count
    denominator = 1 + z**2 / count
    centre = (share + z**2 / (2 * count)) / denominator
    margin = z * sqrt(share * (1 - share) / count + z**2 / (4 * count**2)) / denominator
    # At the ends the formula is exact up to rounding, which would report 1e-18 for 0.
    low = 0.0 if successes == 0 else centre - margin
    high = 1.0 if successes == count else centre + margin
    return low, high
