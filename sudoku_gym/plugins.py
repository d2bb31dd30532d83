"""What other packages offer, found by name, and the options that a name may carry."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import Parameter, signature
from operator import attrgetter
from typing import Any, Literal, TypeAlias, get_type_hints

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from sudoku_gym.storage.configs import decode_json

Group: TypeAlias = Literal["policies", "trainers", "environments", "schedules"]
"""The groups of entry points, `sudoku_gym.policies` and so on: classes and functions that make
policies; main functions of `sudoku-gym train NAME`; ids of environments, each with the module that
registers it; and configurations of schedules."""

MODULES_OF_EXTRA = {
    "agents": ("torch", "safetensors", "tensorboard", "matplotlib"),
    "sb3": ("stable_baselines3", "sb3_contrib"),
    "rllib": ("ray",),
    "render": ("imageio", "moviepy", "pygame"),
    "splits": ("igraph",),
    "sat": ("pysat",),
    "app": ("gradio",),
    "openenv": ("openenv",),
    "trl": ("datasets",),
    "verifiers": ("verifiers",),
    "torchrl": ("torchrl",),
    "minari": ("minari", "h5py"),
    "hub": ("huggingface_hub",),
    "onnx": ("onnx", "onnxscript", "onnxruntime"),
}
"""The optional modules that each extra of this package installs."""
_ATTRIBUTE = re.compile(r"([^:/\\]+):([^:/\\]+)")  # so a path may have a colon


@cache
def available(group: Group) -> dict[str, EntryPoint]:
    """Return the installed entry points of a group by name, in alphabetical order.

    Of several with one name it is this project's.
    """
    found = [*entry_points(group=f"sudoku_gym.{group}")]
    found.sort(key=lambda entry: (entry.name, entry.value.startswith("sudoku_")))
    return {entry.name: entry for entry in found}


def load(group: Group, name: str) -> Any:
    """Import what the entry point `name` of `group` stands for.

    Raises:
        ValueError: if there is no such entry point; the message lists those there are.
        ModuleNotFoundError: if it needs a package that is not installed; the message names the
            extra that brings it.
    """
    entries = available(group)
    if name not in entries:
        raise ValueError(f"{name!r} is unknown: use {join_names(entries)}")
    with suggest_extra(name):
        return entries[name].load()


def load_attribute(path: str) -> Any:
    """Import an object named as `module:attribute`; the attribute may have dots."""
    if not (names := _ATTRIBUTE.fullmatch(path)):
        raise ValueError(f"{path!r} is no module:attribute")
    with suggest_extra(path):
        module = import_module(names[1])
    try:
        return attrgetter(names[2])(module)
    except AttributeError as error:
        raise ValueError(f"{path!r}: {error}") from error


@contextmanager
def suggest_extra(what: str) -> Iterator[None]:
    """Let a ModuleNotFoundError of an optional package say which extra `what` needs."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        for extra, modules in MODULES_OF_EXTRA.items():
            if package in modules:
                install = f"pip install -c constraints.txt '.[{extra}]' in a checkout of sudoku-gym"
                needs = f"{what} needs {package}: {install}"
                raise ModuleNotFoundError(needs, name=error.name) from None
        raise


def join_names(names: Iterable[str]) -> str:
    """Format names for an error message: `a, b or c`."""
    *most, last = list(names) or ["(none is installed)"]
    return f"{', '.join(most)} or {last}" if most else last


def import_environment(env_id: str) -> str:
    """Import the module that stands in an id such as `my_package.envs:My9x9-v0`; return the id.

    Only what a person writes comes here, never what stands in a file: a module runs.
    """
    module, _, name = split_options(env_id)[0].rpartition(":")
    if module:
        with suggest_extra(env_id):
            import_module(module)
        if name not in gym.registry:
            raise ValueError(f"env={env_id!r}: the module {module} registers no {name!r}")
    return env_id


def find_env(env_id: str) -> EnvSpec:
    """Return the specification of an environment of this suite or of another package.

    Args:
        env_id: an id; also in the form `module:id` if the module was imported. An id that is not
            registered may be an entry point of the group `sudoku_gym.environments`, which is
            imported then. A list may stand behind it, `Sudoku-v0?source=mine.csv&board=9x9`.

    Raises:
        ValueError: if there is none, or it draws no puzzles; the message says how to register it.
            Or if the source or the board of a list is a `module:attribute`, which is code.
    """
    named, options = split_options(env_id)
    if any(_ATTRIBUTE.fullmatch(str(value)) for value in options.values()):
        raise ValueError(f"env={env_id!r}: give a file of puzzles and the name of a board")
    module, _, name = named.rpartition(":")
    if name not in gym.registry and name in available("environments"):
        load("environments", name)
    if name not in gym.registry:
        raise ValueError(
            f"env={env_id!r}: {name} is not registered. One of another package is given with its "
            f"module, as --env {module or 'my_package.envs'}:{name}, or is an entry point of "
            "sudoku_gym.environments; what a file names is imported with trust=True (--trust) alone"
        )
    spec = replace(gym.registry[name], kwargs=gym.registry[name].kwargs | options)
    if "source" not in spec.kwargs:
        raise ValueError(
            f"env={env_id!r} is no Sudoku environment: register yours with sudoku_gym.register"
        )
    return spec


def sudoku_specs() -> dict[str, EnvSpec]:
    """Return the specification of each environment with puzzles that is registered now, by id."""
    return {name: spec for name, spec in gym.registry.items() if "source" in spec.kwargs}


def split_options(text: str) -> tuple[str, dict[str, Any]]:
    """Split `name?key=value&key=value` into the name and its options.

    A value is a number, `true`, `false`, `null` or a text in quotes, as in JSON; any other word is
    a text too. Without options the whole text is the name.
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
    factory: Callable[..., Any], name: str, written: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Join the options written in a name with the keyword arguments given, for a factory.

    Raises:
        ValueError: if an option is none of the factory's (the message lists those that it takes),
            one in the name has another type than the factory says or is given as an argument too,
            or one that it needs is missing.
    """
    options = {**given, **written}
    called: Any = getattr(factory, "func", factory)  # of a partial
    hints, is_class = dict[str, Any](), isinstance(called, type)
    with suppress(TypeError, NameError, AttributeError):  # a callable object, a type not imported
        hints = get_type_hints(called.__init__ if is_class else called)
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
