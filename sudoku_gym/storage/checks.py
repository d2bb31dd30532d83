"""Checks of the values in a configuration: an error names the field and what it must be."""

from __future__ import annotations


def check_counts(config: object, *names: str) -> None:
    """Raise ValueError unless each of these fields is at least 1, or None."""
    for name in names:
        value = getattr(config, name)
        if value is not None and value < 1:
            raise ValueError(f"{name} must be at least 1, not {value}")


def check_seed(config: object) -> None:
    """Raise ValueError unless the field `seed`, if there is one, is at least 0, or None."""
    seed = getattr(config, "seed", None)
    if seed is not None and seed < 0:
        raise ValueError(f"seed must be at least 0, not {seed}")


def check_positive(config: object, *names: str) -> None:
    """Raise ValueError unless each of these fields is above 0, or None."""
    for name in names:
        value = getattr(config, name)
        if value is not None and not value > 0:
            raise ValueError(f"{name} must be positive, not {value}")


def check_shares(config: object, *names: str) -> None:
    """Raise ValueError unless each of these fields lies in [0, 1]."""
    for name in names:
        if not 0 <= getattr(config, name) <= 1:
            raise ValueError(f"{name} must lie in [0, 1], not {getattr(config, name)}")
