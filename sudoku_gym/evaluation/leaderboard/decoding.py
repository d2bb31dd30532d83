"""Dataclasses from JSON, checked field by field."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

_MOST = 1e12

T = TypeVar("T")


def decode(kind: type[T], data: Any, where: str) -> T:
    """Build a dataclass of what a file holds, checked field by field."""
    if not isinstance(data, dict):
        raise ValueError(f"{where} must be an object, not {_shown(data)}")
    hints = get_type_hints(kind)
    known = fields(kind)  # type: ignore[arg-type]
    unknown = sorted(data.keys() - {each.name for each in known})
    if unknown:
        raise ValueError(f"{where} has an unknown key {unknown[0]!r}")
    values = {}
    for each in known:
        if each.name in data:
            values[each.name] = _value(hints[each.name], data[each.name], f"{where}, {each.name}")
        elif each.default is MISSING and each.default_factory is MISSING:
            raise ValueError(f"{where} lacks {each.name!r}")
    try:
        return kind(**values)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _value(hint: Any, value: Any, where: str) -> Any:
    kind, parts = get_origin(hint), get_args(hint)
    if kind is UnionType:  # something, or None
        if value is None and NoneType in parts:
            return None
        return _value(next(part for part in parts if part is not NoneType), value, where)
    if kind is Literal and value in parts and isinstance(value, str):
        return value
    if kind is list and isinstance(value, list):
        return [_value(parts[0], each, f"{where} {i}") for i, each in enumerate(value)]
    if kind is dict and isinstance(value, dict):
        return {key: _value(parts[1], each, f"{where}, {key}") for key, each in value.items()}
    if kind is tuple and isinstance(value, list):
        wanted = [parts[0]] * len(value) if parts[1] is Ellipsis else parts
        if len(wanted) == len(value):
            return tuple(_value(*pair, where) for pair in zip(wanted, value, strict=True))
    if is_dataclass(hint) and isinstance(hint, type):
        return decode(hint, value, where)
    if hint is float and type(value) in (int, float) and abs(value) < _MOST:  # nor is it NaN
        return float(value)
    if hint in (int, str) and type(value) is hint:
        return value
    raise ValueError(f"{where}: {_shown(value)} is no {getattr(hint, '__name__', hint)}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
