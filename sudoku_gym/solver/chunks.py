"""Many boards in chunks that take a fraction of a second each, so that progress can be told."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

_SECONDS = 0.2


def in_chunks(count: int, most: int | None = None) -> Iterator[slice]:
    """Yield slices of so many boards, one after the other, longer while they are quick.

    Args:
        count: number of boards.
        most: boards in a slice; None for any number.
    """
    start, size = 0, 1
    while start < count:
        began, end = perf_counter(), min(start + size, count)
        yield slice(start, end)  # the caller takes its time
        is_quick = perf_counter() - began < _SECONDS
        start, size = end, min(2 * size, most or count) if is_quick else max(size // 2, 1)
