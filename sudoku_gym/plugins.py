"""Find what other packages offer: entry points, and objects named as `module:attribute`.

A stranger's package plugs in the same way ours do: it declares an entry point in one of the
groups below, or is named by the path of its class or function. A name may carry options for the
class or function behind it, as in `dlx?node_limit=1000&item_rule=fewest`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import Parameter, Signature, signature
from operator import attrgetter
from typing import Any

POLICIES = "sudoku_gym.policies"
TRAINERS = "sudoku_gym.trainers"
PLOTTERS = "sudoku_gym.plotters"  # `curves` is what `sudoku-gym plot` calls

EXTRA_OF_MODULE = {
    "torch": "agents",
    "safetensors": "agents",
    "tensorboard": "agents",
    "matplotlib": "agents",
    "stable_baselines3": "sb3",
    "sb3_contrib": "sb3",
    "ray": "rllib",
    "moviepy": "render",
    "pygame": "render",
    "igraph": "splits",
    "pysat": "sat",
}


def available(group: str) -> dict[str, EntryPoint]:
    """Return the installed entry points of `group` by name, in alphabetical order."""
    return {entry.name: entry for entry in sorted(entry_points(group=group), key=_name)}


def load(group: str, name: str) -> Any:
    """Import what the entry point `name` of `group` stands for.

    Raises:
        ValueError: if there is no such entry point; the message lists those there are.
        ModuleNotFoundError: if it needs a package that is not installed; the message names the
            extra that brings it.
    """
    entries = available(group)
    if name not in entries:
        raise ValueError(f"{name!r} is unknown: use {listing(entries)}")
    with naming_the_extra(name):
        return entries[name].load()


def load_attribute(path: str) -> Any:
    """Import an object named as `module:attribute`; the attribute may have dots.

    Raises:
        ValueError: if the text has another form, or the module or the attribute does not exist.
        ModuleNotFoundError: if the module needs a package that is not installed.
    """
    module_name, _, attribute = path.partition(":")
    if not module_name or not attribute:
        raise ValueError(f"{path!r} names no object: write module:attribute")
    try:
        with naming_the_extra(path):
            module = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise ValueError(
            f"{path!r}: there is no module {error.name!r}; install its package, or start Python "
            "where it can be imported"
        ) from None
    try:
        return attrgetter(attribute)(module)
    except AttributeError:
        raise ValueError(f"{path!r}: the module {module_name} has no {attribute!r}") from None


def split_options(text: str) -> tuple[str, dict[str, Any]]:
    """Split `name?key=value&key=value` into the name and its options.

    Args:
        text: a name, with or without options. A value is a number, `true`, `false`, `null` or a
            text in quotes, as in JSON; any other word is a text too.

    Raises:
        ValueError: if the options have another form, or a key stands twice.
    """
    name, mark, written = text.partition("?")
    options: dict[str, Any] = {}
    for part in written.split("&") if mark else ():
        key, _, value = part.partition("=")
        if not key.isidentifier() or not value:
            raise ValueError(f"{text!r}: {part!r} is no option; write name?key=value&key=value")
        if key in options:
            raise ValueError(f"{text!r} gives {key} twice")
        options[key] = _scalar(value, text)
    return name, options


def checked_options(
    factory: Callable[..., Any],
    name: str,
    written: Mapping[str, Any],
    given: Mapping[str, Any],
    by_position: int = 0,
) -> dict[str, Any]:
    """Join the options that stand in a name with those given as arguments, for a factory.

    Args:
        factory: the class or function that is going to be called with them.
        name: what the user calls it, for the messages.
        written: the options in the name.
        given: the keyword arguments beside it.
        by_position: how many arguments of the factory are given by position.

    Raises:
        ValueError: if an option is given both ways, is none of the factory's (the message lists
            those that it takes), or one that it needs is missing.
    """
    twice = sorted(written.keys() & given.keys())
    if twice:
        raise ValueError(f"{name!r}: {', '.join(twice)} stands in the name and as an argument too")
    options = {**written, **given}
    try:
        shape = signature(factory)
    except ValueError:  # some of what is written in C tells no signature
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


@contextmanager
def naming_the_extra(what: str) -> Iterator[None]:
    """Turn 'No module named torch' into the command that installs it, for `what` needs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRA_OF_MODULE:
            raise
        extra = EXTRA_OF_MODULE[package]
        raise ModuleNotFoundError(
            f"{what} needs {package}: pip install 'sudoku-gym[{extra}]'", name=error.name
        ) from None


def listing(names: dict[str, EntryPoint]) -> str:
    """Format names for an error message: `a, b or c`."""
    *most, last = list(names) or ["(none is installed)"]
    return f"{', '.join(most)} or {last}" if most else last


def _name(entry: EntryPoint) -> str:
    return entry.name


def _scalar(text: str, where: str) -> Any:
    """Read a value as JSON, or as the bare word that it is."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if isinstance(value, dict | list):
        raise ValueError(f"{where!r}: {text} is a {type(value).__name__}, no single value")
    return value


def _keywords(shape: Signature, by_position: int) -> list[str] | None:
    """Return the keywords that a factory takes, None if it takes all."""
    parameters = list(shape.parameters.values())[by_position:]
    kinds = {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY}
    if any(each.kind == Parameter.VAR_KEYWORD for each in parameters):
        return None
    return [each.name for each in parameters if each.kind in kinds]
