"""Interpretation of type hints."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints


def hints_of(factory: Callable[..., Any]) -> dict[str, Any]:
    """Return the hints of a function's, or a constructor's, parameters; empty if it has none."""
    called: Any = factory
    try:
        return get_type_hints(called.__init__ if isinstance(factory, type) else called)
    except (TypeError, NameError, AttributeError):  # a callable object, a type not imported
        return {}


def fits(value: object, hint: Any) -> bool:
    """Whether a value matches a hint; a hint that cannot be checked matches any value."""
    kind, parts = get_origin(hint), get_args(hint)
    if is_union(hint):
        return any(fits(value, part) for part in parts)
    if kind is Annotated:
        return fits(value, parts[0])
    if kind is Literal:
        return value in parts
    if hint in (int, float):
        number = Integral if hint is int else Real  # numpy's too
        return isinstance(value, number) and not isinstance(value, bool)
    try:
        return isinstance(value, kind or hint)
    except TypeError:
        return True


def is_union(hint: Any) -> bool:
    """Whether a hint is a union, or optional."""
    return get_origin(hint) in (Union, UnionType)


def name_of(hint: Any) -> str:
    """Return the name of a hint for error messages."""
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")
