"""Options that stand in a name, as in `dlx?node_limit=1000&item_rule=fewest`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, signature
from typing import Any

from sudoku_gym.storage.type_hints import fits, hints_of, name_of


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
        if not key.isidentifier() or not value:
            raise ValueError(
                f"{text!r:.200}: {part!r:.200} is no option; write name?key=value&key=value"
            )
        if key in options:
            raise ValueError(f"{text!r:.200} gives {key:.200} twice")
        options[key] = _scalar(value, text)
    return name, options


def checked_options(
    factory: Callable[..., Any],
    name: str,
    written: Mapping[str, Any],
    given: Mapping[str, Any],
    by_position: int = 0,
) -> dict[str, Any]:
    """Join the options written in a name with the keyword arguments given, for a factory.

    `by_position` is how many arguments of the factory are given by position.

    Raises:
        ValueError: if an option is given both ways, is none of the factory's (the message lists
            those that it takes), one in the name has another type than the factory says, or one
            that it needs is missing.
    """
    twice = sorted(written.keys() & given.keys())
    if twice:
        raise ValueError(f"{name!r}: {', '.join(twice)} stands in the name and as an argument too")
    options = {**written, **given}
    _check_types(factory, name, written)
    try:
        shape = signature(factory)
    except ValueError:  # some of what is written in C, and subclasses of it, tell no signature
        return options
    taken = _keywords(shape, by_position)
    unknown = [key for key in options if taken is not None and key not in taken]
    if unknown:
        known = f"use {', '.join(taken)}" if taken else "it takes none"
        raise ValueError(f"{name!r} has no option {', '.join(unknown)}: {known}")
    try:
        shape.bind(*[None] * by_position, **options)
    except TypeError as error:
        raise ValueError(f"{name!r}: {error}; write {name}?key=value") from None
    return options


def takes_first(factory: Callable[..., Any], value: object) -> bool:
    """Whether a class or function may be called with `value` as its first argument."""
    try:
        parameters = list(signature(factory).parameters.values())
    except ValueError:  # some of what is written in C tells no signature
        return True
    by_position = (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD)
    if not parameters or parameters[0].kind in by_position:
        return False
    return fits(value, hints_of(factory).get(parameters[0].name, Any))


def _scalar(text: str, where: str) -> Any:
    """Read a value as JSON, or as the bare word that it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, dict | list):
        kind = type(value).__name__
        raise ValueError(f"{where!r:.200}: {text:.200} is a {kind}, no single value")
    if isinstance(value, int | float) and not -(2**63) <= value < 2**63:  # nor is NaN
        raise ValueError(f"{where!r:.200}: {text:.200} is no number of 64 bits")
    return value


def _check_types(factory: Callable[..., Any], name: str, written: Mapping[str, Any]) -> None:
    hints = hints_of(factory) if written else {}
    for key, value in written.items():
        if not fits(value, hints.get(key, Any)):
            raise ValueError(f"{name!r}: {key}={value!r:.200} is no {name_of(hints[key])}")


def _keywords(shape: Signature, by_position: int) -> list[str] | None:
    """Return the keywords that a factory takes, None if it takes all."""
    parameters = list(shape.parameters.values())[by_position:]
    kinds = {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY}
    if any(each.kind == Parameter.VAR_KEYWORD for each in parameters):
        return None
    return [each.name for each in parameters if each.kind in kinds]
