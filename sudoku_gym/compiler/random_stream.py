"""A counter-based random stream for compiled code: uint64 `[2]`, a key and a counter.

Draw number i is the SplitMix64 mix of `key + i * GOLDEN`, so a stream can be copied and continued.
Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (OOPSLA 2014).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.jit import inlined

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_TO_UNIT = 1.0 / (1 << 53)

KEY, COUNTER = 0, 1


def new_stream(rng: np.random.Generator) -> NDArray[np.uint64]:
    """Return a stream, uint64 `[2]`, whose key is drawn from `rng` and whose counter is 0."""
    stream = np.zeros(2, np.uint64)
    stream[KEY] = rng.integers(0, 2**64, dtype=np.uint64)
    return stream


@inlined
def next_uint64(stream):  # type: ignore[no-untyped-def]
    """Advance the stream and return its next uint64."""
    stream[COUNTER] += np.uint64(1)
    z = stream[KEY] + stream[COUNTER] * _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


@inlined
def next_below(stream, bound):  # type: ignore[no-untyped-def]
    """Return an integer in `[0, bound)`, `0 < bound < 2**31`.

    The upper 32 bits are scaled, not rejected: each value's chance is off by at most 2**-32.
    """
    return np.int64(((next_uint64(stream) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@inlined
def next_unit(stream):  # type: ignore[no-untyped-def]
    """Return a float64 in `[0, 1)` with 53 random bits."""
    return np.float64(next_uint64(stream) >> np.uint64(11)) * _TO_UNIT
