"""Dataclasses as JSON: tagged configurations, and any dataclass by its type hints.

A registered configuration carries its tag beside its fields; a field that a file lacks takes its
default:

    {"type": "factor-graph", "channels": 16, ...}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
_SCALARS = {int, str, bool, NoneType}

_CLASSES: dict[str, type[Any]] = {}
_TAGS: dict[type[Any], str] = {}
_GROUPS: dict[Any, Callable[[], Iterable[type[Any]]]] = {}


def registered(tag: str) -> Callable[[type[T]], type[T]]:
    """Give a configuration its tag in JSON: a decorator for frozen dataclasses.

    Raises:
        ValueError: if another class has the tag.
    """

    def register(of: type[T]) -> type[T]:
        known = _CLASSES.get(tag, of)
        # Compared by name: a reloaded module registers its classes again.
        if (known.__module__, known.__qualname__) != (of.__module__, of.__qualname__):
            raise ValueError(f"the tag {tag!r} belongs to {known.__module__}.{known.__qualname__}")
        _CLASSES[tag] = of
        _TAGS[of] = tag
        return of

    return register


def registered_group(hint: Any, members: Callable[[], Iterable[type[Any]]]) -> None:
    """Let a field with this hint hold any configuration among `members()`, which may grow."""
    _GROUPS[hint] = members


def to_json(config: Any) -> Any:
    """Convert a registered configuration, or the value of a field, to JSON types.

    Raises:
        TypeError: if it is a dataclass without a tag, or of a type that JSON can't hold.
    """
    if is_dataclass(config) and not isinstance(config, type):
        tag = _TAGS.get(type(config))
        if tag is None:
            raise TypeError(f"{type(config).__name__} has no tag: register it")
        names = [field.name for field in fields(config)]
        return {"type": tag, **{name: to_json(getattr(config, name)) for name in names}}
    if isinstance(config, Path):
        return str(config)
    if isinstance(config, tuple | list):
        return [to_json(each) for each in config]
    if isinstance(config, dict):
        return {str(name): to_json(each) for name, each in config.items()}
    if config is None or isinstance(config, bool | int | float | str):
        return config
    raise TypeError(f"{type(config).__name__} can't be written as JSON")


def from_json(data: Any, expected: type[T] | tuple[type[Any], ...] | None = None) -> T:
    """Build the configuration that `to_json` wrote, of a class in `expected` (None: any).

    Raises:
        ValueError: if it is no such configuration: an unknown type, a missing or unknown field, a
            value of another type or out of range.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("type"), str):
        raise ValueError(f"no configuration: it has no type, but is {_shortened(data)}")
    values = {str(name): value for name, value in data.items()}
    tag = values.pop("type")
    if tag not in _CLASSES:
        raise ValueError(
            f"a configuration of type {_shortened(tag)} is unknown: use {', '.join(_CLASSES)}"
        )
    of = _CLASSES[tag]
    if expected is not None and not issubclass(of, expected):
        raise ValueError(f"a configuration of type {tag!r} has no place here")
    config: T = _construct(of, values, repr(tag))
    return config


def decode_json(hint: Any, data: Any, where: str) -> Any:
    """Decode JSON data to the type that a hint describes.

    The hint is a dataclass, a scalar, `Path`, `Literal`, `list`, `dict`, `tuple` or a union of
    them; of a registered dataclass the JSON holds the tag too. What it doesn't say isn't checked.
    `where`: location, for error messages.

    Raises:
        ValueError: if the data is none of that, a field is unknown or missing, or the dataclass
            refuses it.
    """
    if hint is Any or (hint in _SCALARS and type(data) is hint):
        return data
    if hint is float and type(data) in (float, int) and isfinite(data):
        return float(data)
    kind, parts = get_origin(hint), get_args(hint)
    if kind in (Union, UnionType):
        return _decode_union(parts, data, where)
    if hint in _GROUPS:
        return _decode_tagged(tuple(_GROUPS[hint]()), data, where)
    if hint in _TAGS:
        return _decode_tagged((hint,), data, where)
    if is_dataclass(hint) and isinstance(hint, type):
        if not isinstance(data, Mapping):
            raise ValueError(f"{where} must be an object, not {_shortened(data)}")
        return _construct(hint, data, where)
    if kind is list and isinstance(data, list):
        return [decode_json(parts[0], each, f"{where} {i}") for i, each in enumerate(data)]
    if kind is dict and isinstance(data, dict):
        return {key: decode_json(parts[1], each, f"{where}, {key}") for key, each in data.items()}
    if kind is tuple and isinstance(data, list):
        hints = [parts[0]] * len(data) if parts[1:] == (Ellipsis,) else parts
        if len(hints) == len(data):
            return tuple(decode_json(*pair, where) for pair in zip(hints, data, strict=True))
    if kind is Literal and any(data == part and type(data) is type(part) for part in parts):
        return data
    if hint is Path and isinstance(data, str):
        return Path(data)
    name = hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")
    raise ValueError(f"{where}: {_shortened(data)} is no {name}")


def _decode_union(parts: tuple[Any, ...], data: Any, where: str) -> Any:
    if data is None and NoneType in parts:
        return None
    others = [part for part in parts if part is not NoneType]
    if all(part in _TAGS for part in others):
        return _decode_tagged(tuple(others), data, where)
    for part in others[:-1]:
        try:
            return decode_json(part, data, where)
        except ValueError:
            continue
    return decode_json(others[-1], data, where)


def _decode_tagged(expected: tuple[type[Any], ...], data: Any, where: str) -> Any:
    try:
        return from_json(data, expected)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


_hints_of = cache(get_type_hints)


def _construct(of: type[T], data: Mapping[str, Any], where: str) -> T:
    """Make a dataclass of its fields in JSON."""
    hints = _hints_of(of)  # type: ignore[arg-type]
    values = {
        name: decode_json(hints.get(name, Any), each, f"{where}, {name}")
        for name, each in data.items()
    }
    try:
        return of(**values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from None


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
