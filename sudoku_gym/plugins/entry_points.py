"""What packages offer: entry points, and objects named as `module:attribute`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from operator import attrgetter
from typing import Any, Literal, TypeAlias

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
    """Import an object named as `module:attribute`; the attribute may have dots.

    Raises:
        ValueError: if the module has no such attribute.
        ModuleNotFoundError: if there is no such module, or it needs a package that is not
            installed.
    """
    module_name, _, attribute = path.partition(":")
    with suggest_extra(path):
        module = import_module(module_name)
    try:
        return attrgetter(attribute)(module)
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
