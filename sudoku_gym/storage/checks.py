"""Checks of the numbers in a configuration: None passes, and what is not finite never does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isfinite


def _check(wanted: str, holds: Callable[[float], bool], config: object, *names: str) -> None:
    """Raise ValueError unless each of these fields of a configuration is as wanted."""
    for name in names:
        value = getattr(config, name)
        if value is not None and not (isfinite(value) and holds(value)):
            wanted = wanted if isfinite(value) else "be finite"
            raise ValueError(f"{name} must {wanted}, not {value}")


check_counts = partial(_check, "be at least 1", lambda value: value >= 1)
check_not_negative = partial(_check, "be at least 0", lambda value: value >= 0)
check_positive = partial(_check, "be positive", lambda value: value > 0)
check_shares = partial(_check, "lie in [0, 1]", lambda value: 0 <= value <= 1)
