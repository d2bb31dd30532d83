"""Dataclasses as JSON: tagged configurations, and any dataclass by its type hints.

A registered one carries its tag: `{"type": "factor-graph", "channels": 16}`. A field that a file
lacks takes its default.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

_hints_of = cache(get_type_hints)
_CLASSES: dict[str, type[Any]] = {}
_TAGS: dict[type[Any], str] = {}
_GROUPS: dict[Any, Callable[[], Collection[type[Any]]]] = {}


def registered(tag: str) -> Callable[[type[T]], type[T]]:
    """Give a frozen dataclass its tag in JSON; a ValueError if another class has the tag."""

    def register(of: type[T]) -> type[T]:
        known = _CLASSES.get(tag, of)
        # Compared by name: a reloaded module registers its classes again.
        if (known.__module__, known.__qualname__) != (of.__module__, of.__qualname__):
            raise ValueError(f"the tag {tag!r} belongs to {known.__module__}.{known.__qualname__}")
        _CLASSES[tag] = of
        _TAGS[of] = tag
        return of

    return register


def registered_group(hint: Any, members: Callable[[], Collection[type[Any]]]) -> None:
    """Let a field with this hint hold any configuration among `members()`, which may grow."""
    _GROUPS[hint] = members


def to_json(config: Any) -> Any:
    """Convert a registered configuration, or the value of a field, to JSON types.

    A TypeError tells of a dataclass without a tag; `json` refuses what it can't hold itself.
    """
    if is_dataclass(config):
        if type(config) not in _TAGS:
            raise TypeError(f"{type(config).__name__} has no tag: register it")
        values = {each.name: to_json(getattr(config, each.name)) for each in fields(config)}
        return {"type": _TAGS[type(config)], **values}
    if isinstance(config, Path):
        return str(config)
    if isinstance(config, tuple | list):
        return [to_json(each) for each in config]
    if isinstance(config, dict):
        return {str(name): to_json(each) for name, each in config.items()}
    return config


def from_json(data: Any, expected: type[T] | tuple[type[Any], ...] | None = None) -> T:
    """Build the configuration that `to_json` wrote, of a class in `expected` (None: any).

    A ValueError says which type or field is unknown, missing, of another type or out of range.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("type"), str):
        raise ValueError(f"no configuration: it has no type, but is {_shortened(data)}")
    of: type[T] | None = _CLASSES.get(data["type"])
    tag = _shortened(data["type"])
    if of is None:
        raise ValueError(f"a configuration of type {tag} is unknown: use {', '.join(_CLASSES)}")
    if expected is not None and not issubclass(of, expected):
        raise ValueError(f"a configuration of type {tag} has no place here")
    return _construct(of, {name: data[name] for name in data if name != "type"}, tag)


def decode_json(hint: Any, data: Any, where: str) -> Any:
    """Decode JSON data to the type that a hint describes.

    The hint is a dataclass, a scalar, `Path`, `Literal`, `list`, `dict`, `tuple` or a union of
    them; of a registered dataclass the JSON holds the tag too. What it doesn't say isn't checked.
    A ValueError begins with the place, `where`, of what is none of that.
    """
    if hint is Any or (hint in (int, str, bool, NoneType) and type(data) is hint):
        return data
    if hint is float and type(data) in (float, int) and isfinite(data):
        return float(data)
    kind, parts = get_origin(hint), get_args(hint)
    if kind in (Union, UnionType):
        return _decode_union(parts, data, where)
    if hint in _GROUPS or hint in _TAGS:
        return _decode_union(_GROUPS[hint]() if hint in _GROUPS else (hint,), data, where)
    if is_dataclass(hint) and isinstance(hint, type) and isinstance(data, Mapping):
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


def _decode_union(parts: Collection[Any], data: Any, where: str) -> Any:
    others = tuple(part for part in parts if part is not NoneType)
    if data is None and NoneType in parts:
        return None
    if all(part in _TAGS for part in others):
        try:
            return from_json(data, others)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
    for part in others[:-1]:
        with suppress(ValueError):
            return decode_json(part, data, where)
    return decode_json(others[-1], data, where)


def _construct(of: type[T], data: Mapping[str, Any], where: str) -> T:
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
