"""Configurations as JSON, tagged with type and version, so that old files stay readable.

A configuration is a frozen dataclass. In JSON it carries its tag and version beside its fields:

    {"type": "factor-graph", "version": 1, "channels": 16, ...}

A field that a file lacks takes its default, so adding a field changes no version. Renaming or
removing one does: raise the version, and register a function that turns the fields of the version
before into those of the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from math import isnan
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

T = TypeVar("T")
Upgrade = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True)
class _Kind:
    of: type[Any]
    version: int
    upgrades: Mapping[int, Upgrade]


_KINDS: dict[str, _Kind] = {}
_TAGS: dict[type[Any], str] = {}


def registered(
    tag: str, version: int = 1, upgrades: Mapping[int, Upgrade] | None = None
) -> Callable[[type[T]], type[T]]:
    """Give a configuration its tag in JSON: a decorator for frozen dataclasses.

    Args:
        tag: its name in files; it never changes.
        version: of its fields.
        upgrades: `{v: function}`, each of which turns the fields of version v into those of v + 1.

    Raises:
        ValueError: if the tag is another class's, or an upgrade from some version is missing.
    """
    steps = dict(upgrades or {})
    if steps.keys() != set(range(1, version)):
        raise ValueError(f"{tag!r} needs an upgrade from each version before {version}")

    def register(of: type[T]) -> type[T]:
        known = _KINDS.get(tag)
        if known is not None and known.of.__qualname__ != of.__qualname__:
            raise ValueError(f"the tag {tag!r} belongs to {known.of.__qualname__}")
        _KINDS[tag] = _Kind(of, version, steps)
        _TAGS[of] = tag
        return of

    return register


def to_json(config: Any) -> Any:
    """Return a registered configuration, or what its fields hold, fit for JSON.

    Raises:
        TypeError: if it is a dataclass without a tag, or nothing that JSON can say.
    """
    if is_dataclass(config) and not isinstance(config, type):
        tag = _TAGS.get(type(config))
        if tag is None:
            raise TypeError(f"{type(config).__name__} has no tag: register it")
        values = {field.name: to_json(getattr(config, field.name)) for field in fields(config)}
        return {"type": tag, "version": _KINDS[tag].version, **values}
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
    """Make the configuration that `to_json` wrote, in this version or an earlier one.

    Args:
        data: the JSON's content.
        expected: what the caller can use; None takes any registered configuration.

    Raises:
        ValueError: if it is no such configuration: an unknown type, a version of the future, a
            missing or unknown field, a value out of range.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("type"), str):
        raise ValueError(f"no configuration: it has no type, but is {_shortened(data)}")
    values = {str(name): value for name, value in data.items()}
    tag, version = values.pop("type"), values.pop("version", 1)
    if tag not in _KINDS:
        raise ValueError(
            f"a configuration of type {_shortened(tag)} is unknown: use {', '.join(_KINDS)}"
        )
    kind = _KINDS[tag]
    if not isinstance(version, int) or not 1 <= version <= kind.version:
        raise ValueError(
            f"{tag!r} has version {_shortened(version)}, and this release reads 1 to "
            f"{kind.version}: install a newer one"
        )
    try:
        for step in range(version, kind.version):
            values = kind.upgrades[step](values)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(
            f"{tag!r} is no configuration of version {version} ({type(error).__name__}: {error})"
        ) from error
    config = _construct(kind.of, tag, values)
    if expected is not None and not isinstance(config, expected):
        raise ValueError(f"a configuration of type {tag!r} has no place here")
    return config


def _construct(of: type[Any], tag: str, values: dict[str, Any]) -> Any:
    known = {field.name: field for field in fields(of)}
    if unknown := values.keys() - known.keys():
        raise ValueError(f"{tag!r} has no field {', '.join(sorted(unknown))}")
    missing = [
        name
        for name, field in known.items()
        if name not in values and field.default is MISSING and field.default_factory is MISSING
    ]
    if missing:
        raise ValueError(f"{tag!r} lacks the field {', '.join(missing)}")
    hints = get_type_hints(of)
    read = {name: _read(value, hints[name]) for name, value in values.items()}
    for name, value in read.items():
        _check_kind(f"{tag}.{name}", value, known[name], hints[name])
    try:
        return of(**read)
    except TypeError as error:
        raise ValueError(f"{tag!r}: {error}") from None


def _read(value: Any, hint: Any) -> Any:
    if isinstance(value, Mapping):
        if "type" in value:
            return from_json(value)
        return {name: _read(each, None) for name, each in value.items()}
    if isinstance(value, list):
        return tuple(_read(each, None) for each in value)
    return Path(value) if _may_be_path(hint) and isinstance(value, str) else value


def _may_be_path(hint: Any) -> bool:
    return hint is Path or Path in get_args(hint)


def _check_kind(name: str, value: Any, field: Any, hint: Any) -> None:
    """Refuse a value of another kind than the default's, e.g. a text where a number belongs."""
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    if is_dataclass(default):
        allowed = tuple(kind for kind in get_args(hint) or (hint,) if kind in _TAGS)
        if not isinstance(value, allowed):
            found = _TAGS.get(type(value)) or _shortened(value)
            raise ValueError(f"{name}: {found} has no place here")
    elif _may_be_path(hint):
        if not isinstance(value, Path) and not (value is None and hint is not Path):
            raise ValueError(f"{name} must be a path, not {_shortened(value)}")
    elif default is not MISSING and default is not None and value is not None:
        kinds = (int, float) if type(default) is float else type(default)
        mistaken = isinstance(value, bool) and not isinstance(default, bool)
        if not isinstance(value, kinds) or mistaken:
            kind = type(default).__name__
            raise ValueError(f"{name} must be of type {kind}, not {_shortened(value)}")
        if isinstance(value, float) and isnan(value):
            raise ValueError(f"{name} must be a number, not NaN")
        for each in value if isinstance(value, tuple) else ():
            if default and type(each) is not type(default[0]):
                kind = type(default[0]).__name__
                raise ValueError(f"{name} must hold the type {kind}, not {_shortened(each)}")


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
