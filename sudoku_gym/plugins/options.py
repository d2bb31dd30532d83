"""Options that stand in a name, as in `dlx?node_limit=1000&item_rule=fewest`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any, get_type_hints

from sudoku_gym.storage.configs import decode_json


def split_options(text: str) -> tuple[str, dict[str, Any]]:
    """Split `name?key=value&key=value` into the name and its options.

    A value is a number, `true`, `false`, `null` or a text in quotes, as in JSON; any other word is
    a text too. Without options the whole text is the name.

    Raises:
        ValueError: if the options have another form, or a key stands twice.
    """
    name, mark, written = text.partition("?")
    options: dict[str, Any] = {}
    for part in written.split("&") if mark else ():
        key, _, value = part.partition("=")
        if not key.isidentifier() or not value or key in options:
            raise ValueError(f"{text!r}: {part!r} is no option; write name?key=value&key=value")
        try:
            options[key] = json.loads(value)
        except ValueError:
            options[key] = value
    return name, options


def checked_options(
    factory: Callable[..., Any],
    name: str,
    written: Mapping[str, Any],
    given: Mapping[str, Any],
) -> dict[str, Any]:
    """Join the options written in a name with the keyword arguments given, for a factory.

    Raises:
        ValueError: if an option is none of the factory's (the message lists those that it takes),
            one in the name has another type than the factory says or is given as an argument too,
            or one that it needs is missing.
    """
    options = {**given, **written}
    hints = _hints_of(factory)
    parameters = signature(factory).parameters.values()
    taken = [each.name for each in parameters if each.kind is not Parameter.VAR_KEYWORD]
    for key, value in options.items():
        if key not in taken and len(taken) == len(parameters):
            raise ValueError(f"{name!r} has no option {key}: use {', '.join(taken) or 'none'}")
        if key in written and key in given:
            raise ValueError(f"{name!r}: {key} stands in the name and as an argument too")
        if key in written:
            options[key] = decode_json(hints.get(key, Any), value, f"{name!r}, {key}")
    try:
        signature(factory).bind(**options)
    except TypeError as error:
        raise ValueError(f"{name!r}: {error}; write {name}?key=value") from None
    return options


def _hints_of(factory: Callable[..., Any]) -> dict[str, Any]:
    """Return the hints of a function's, or a constructor's, parameters; empty if it has none."""
    called: Any = getattr(factory, "func", factory)  # of a partial
    is_class = isinstance(called, type)
    try:
        return get_type_hints(called.__init__ if is_class else called)
    except (TypeError, NameError, AttributeError):  # a callable object, a type not imported
        return {}
