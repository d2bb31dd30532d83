"""Plugins of other packages, found by name, and the options that a name may carry."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from inspect import Parameter, Signature, signature
from operator import attrgetter
from typing import Any

from sudoku_gym.storage.type_hints import fits, hints_of, name_of

# The groups of entry points:
POLICIES = "sudoku_gym.policies"  # make policies
TRAINERS = "sudoku_gym.trainers"  # `sudoku-gym train` calls them with the rest of the command line
PLOTTERS = "sudoku_gym.plotters"  # what `sudoku-gym plot` calls: `curves`
LEADERBOARD = "sudoku_gym.leaderboard"  # `{policy: kind}`, the rows of `sudoku-gym leaderboard`
DEFAULT_POLICIES = "sudoku_gym.default_policies"  # by command, see `default_policies`

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
    "gradio": "app",
}
"""The extra of this package that installs each optional module."""

_users_folders: set[str] = set()


def import_from(folder: str) -> None:
    """Let `module:attribute` find files in a folder, after everything that is installed.

    The folder comes onto Python's path only when a module that is not installed is asked for by
    name. What calls itself installed *there* is left out by `available`, so that nobody's agent
    comes in with a folder of checkpoints.
    """
    if os.path.realpath(folder) not in map(os.path.realpath, sys.path):
        _users_folders.add(os.path.realpath(folder))


def available(group: str) -> dict[str, EntryPoint]:
    """Return the installed entry points of `group` by name, in alphabetical order."""
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=group), key=attrgetter("name")):
        if _place(entry) not in _users_folders:
            found.setdefault(entry.name, entry)  # the first on the path, as for modules
    return found


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


def default_policies(command: str) -> tuple[str, ...]:
    """Return the names of the policies that a command takes if none is given, () if none is known.

    They are those of the entry point `command` of the group `DEFAULT_POLICIES`: a tuple of names.
    """
    entry = available(DEFAULT_POLICIES).get(command)
    return () if entry is None else tuple(entry.load())


def load_attribute(path: str) -> Any:
    """Import an object named as `module:attribute`; the attribute may have dots.

    Raises:
        ValueError: if the text has another form, the module or the attribute does not exist, or
            the module is one of Python's own.
        ModuleNotFoundError: if the module needs a package that is not installed.
    """
    module_name, _, attribute = path.partition(":")
    if not all(name.isidentifier() for name in [*module_name.split("."), *attribute.split(".")]):
        raise ValueError(f"{path!r} names no object: write module:attribute")
    if module_name.partition(".")[0] in sys.stdlib_module_names:
        raise ValueError(
            f"{path!r}: {module_name} is a module of Python itself, and holds nothing of this "
            "kind; if you mean a file of yours, give it another name"
        )
    try:
        if find_spec(module_name.partition(".")[0]) is None:
            sys.path += [folder for folder in sorted(_users_folders) if folder not in sys.path]
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


def _place(entry: EntryPoint) -> str:
    """Return the folder that the entry point's package lies in."""
    return "" if entry.dist is None else os.path.realpath(str(entry.dist.locate_file("")))


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
    except ValueError:
        return text
    if isinstance(value, dict | list):
        raise ValueError(f"{where!r}: {text} is a {type(value).__name__}, no single value")
    if isinstance(value, int | float) and not -(2**63) <= value < 2**63:  # nor is NaN
        raise ValueError(f"{where!r}: {text} is no number of 64 bits")
    return value


def _check_types(factory: Callable[..., Any], name: str, written: Mapping[str, Any]) -> None:
    hints = hints_of(factory) if written else {}
    for key, value in written.items():
        if not fits(value, hints.get(key, Any)):
            raise ValueError(f"{name!r}: {key}={value!r} is no {name_of(hints[key])}")


def _keywords(shape: Signature, by_position: int) -> list[str] | None:
    """Return the keywords that a factory takes, None if it takes all."""
    parameters = list(shape.parameters.values())[by_position:]
    kinds = {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY}
    if any(each.kind == Parameter.VAR_KEYWORD for each in parameters):
        return None
    return [each.name for each in parameters if each.kind in kinds]
