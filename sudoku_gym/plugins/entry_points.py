"""What packages offer: entry points, and objects named as `module:attribute`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from operator import attrgetter
from types import ModuleType
from typing import Any

POLICIES = "sudoku_gym.policies"
"""The entry-point group of classes and functions that make policies."""
TRAINERS = "sudoku_gym.trainers"
"""The entry-point group of the main functions of `sudoku-gym train NAME`."""
ENVIRONMENT_IDS = "sudoku_gym.environments"
"""The entry-point group of ids, each with the module that registers it when it is imported."""
SCHEDULE_CONFIGS = "sudoku_gym.schedules"
"""The entry-point group of the configurations of schedules."""

EXTRA_OF_MODULE = {
    "torch": "agents",
    "safetensors": "agents",
    "tensorboard": "agents",
    "matplotlib": "agents",
    "stable_baselines3": "sb3",
    "sb3_contrib": "sb3",
    "ray": "rllib",
    "imageio": "render",
    "moviepy": "render",
    "pygame": "render",
    "igraph": "splits",
    "pysat": "sat",
    "gradio": "app",
    "reasoning_gym": "reasoning-gym",
    "openenv": "openenv",
    "datasets": "trl",
    "verifiers": "verifiers",
    "torchrl": "torchrl",
    "minari": "minari",
    "h5py": "minari",
    "huggingface_hub": "hub",
    "onnx": "onnx",
    "onnxscript": "onnx",
    "onnxruntime": "onnx",
}
"""The extra of this package that installs each optional module."""


@cache
def available(group: str) -> dict[str, EntryPoint]:
    """Return the installed entry points of `group` by name, in alphabetical order.

    Of several with one name it is this project's.
    """
    found = sorted(entry_points(group=group), key=lambda entry: entry.value.startswith("sudoku_"))
    return dict(sorted({entry.name: entry for entry in found}.items()))


def load(group: str, name: str) -> Any:
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
        ValueError: if the text has another form, or the module or the attribute does not exist.
        ModuleNotFoundError: if the module needs a package that is not installed.
    """
    module_name, _, attribute = path.partition(":")
    if not all(part.isidentifier() for part in [*module_name.split("."), *attribute.split(".")]):
        raise ValueError(f"{path!r} names no object: write module:attribute")
    module = import_named(module_name, path)
    try:
        return attrgetter(attribute)(module)
    except AttributeError as error:
        raise ValueError(f"{path!r}: {error}") from None


def import_named(module: str, path: str) -> ModuleType:
    """Import a module that stands in a name, `path`; raises as `load_attribute`."""
    try:
        with suggest_extra(path):
            return import_module(module)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):
            raise
        raise ValueError(f"{path!r}: there is no module {error.name!r}") from None


@contextmanager
def suggest_extra(what: str) -> Iterator[None]:
    """Let a ModuleNotFoundError of an optional package say which extra `what` needs."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRA_OF_MODULE:
            raise
        needs = f"{what} needs {package}: {install_command(EXTRA_OF_MODULE[package])}"
        raise ModuleNotFoundError(needs, name=error.name) from None


def install_command(extra: str) -> str:
    """Return how to install an extra of this package: it is on no package index yet."""
    return f"pip install -c constraints.txt '.[{extra}]' in a checkout of sudoku-gym"


def join_names(names: Iterable[str]) -> str:
    """Format names for an error message: `a, b or c`."""
    *most, last = list(names) or ["(none is installed)"]
    return f"{', '.join(most)} or {last}" if most else last
