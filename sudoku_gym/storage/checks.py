"""Checks of the numbers in a configuration: None passes, and what is not finite never does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isfinite


def check_counts(config: object, *names: str) -> None:
    """Raise ValueError unless each of these fields is at least 1."""
    _check(config, names, lambda value: value >= 1, "be at least 1")


def check_not_negative(config: object, *names: str) -> None:
    """Raise ValueError unless each of these fields is at least 0."""
    _check(config, names, lambda value: value >= 0, "be at least 0")


def check_positive(config: object, *names: str) -> None:
    """Raise ValueError unless each of these fields is above 0."""
    _check(config, names, lambda value: value > 0, "be positive")


def check_shares(config: object, *names: str) -> None:
    """Raise ValueError unless each of these fields lies in [0, 1]."""
    _check(config, names, lambda value: 0 <= value <= 1, "lie in [0, 1]")


def _check(config: object, names: Iterable[str], holds: Callable[..., bool], wanted: str) -> None:
    for name in names:
        value = getattr(config, name)
        if value is not None and not (isfinite(value) and holds(value)):
            wanted = wanted if isfinite(value) else "be finite"
            raise ValueError(f"{name} must {wanted}, not {value}")
