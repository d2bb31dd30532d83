"""Find what other packages offer: entry points, and objects named as `module:attribute`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, distributions, entry_points
from importlib.util import find_spec
from operator import attrgetter
from types import ModuleType
from typing import Any

from numba.core.entrypoints import init_all

POLICIES = "sudoku_gym.policies"
"""The entry-point group of classes and functions that make policies."""
TRAINERS = "sudoku_gym.trainers"
"""The entry-point group of the main functions of `sudoku-gym train NAME`."""
TRAINER_DESCRIPTIONS = "sudoku_gym.trainer_descriptions"
"""The entry-point group of what `sudoku-gym train` says: `{trainer: (what it is, duration)}`."""
PLOTTERS = "sudoku_gym.plotters"
"""The entry-point group of the functions of `sudoku-gym plot`; it has one entry, `curves`."""
EXPORTERS = "sudoku_gym.exporters"
"""The entry-point group of the functions of `sudoku-gym export`: `onnx` and `onnx-check`."""
SCHEDULE_CONFIGS = "sudoku_gym.schedules"
"""The entry-point group of the configurations of schedules."""
DEFAULT_POLICIES = "sudoku_gym.default_policies"
"""The entry-point group of the policies that commands take by default, by command."""

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

OWN_PACKAGES = (
    "sudoku_agents",
    "sudoku_baselines",
    "sudoku_curricula",
    "sudoku_gym",
    "sudoku_learning",
)
"""The packages of this project."""
_DISTRIBUTION = "sudoku-gym"

_fallback_folders: set[str] = set()


def add_import_folder(folder: str) -> None:
    """Let `module:attribute` find files in a folder, after everything that is installed.

    The folder is appended to `sys.path` the first time that `load_attribute` needs a module that
    is not installed, and stays there. `available` ignores entry points of packages found in these
    folders, so a downloaded folder of checkpoints cannot register a policy.
    """
    if os.path.realpath(folder) not in map(os.path.realpath, sys.path):
        _fallback_folders.add(os.path.realpath(folder))


def fallback_folders() -> list[str]:
    """Return the folders of `add_import_folder`, for other processes of the same command."""
    return sorted(_fallback_folders)


def search_folders(folders: Iterable[str]) -> None:
    """Append folders to `sys.path`, once numba has looked for its extensions in the others.

    With its first kernel it would run those that a package in these folders declares.
    """
    init_all()  # type: ignore[no-untyped-call]
    sys.path += [folder for folder in folders if folder not in sys.path]


def path_state() -> tuple[tuple[str | int, ...], ...]:
    """Return what changes when `sys.path` does, or a package is installed in one of its folders."""
    states = list[tuple[str | int, ...]]()
    for folder in sys.path:
        try:
            status = os.stat(folder or os.curdir)
        except OSError:
            states.append((folder,))
        else:
            states.append((folder, status.st_dev, status.st_ino, status.st_mtime_ns))
    return tuple(states)


def all_entries(group: str) -> list[EntryPoint]:
    """Return all installed entry points of `group`, by name; packages may use the same names."""
    found = _entries_on(path_state())
    return [
        entry for entry, folder in found if entry.group == group and folder not in _fallback_folders
    ]


def is_own(entry: EntryPoint) -> bool:
    """Say whether an entry point is this project's, by its distribution and by its module.

    One alone is not enough: another's metadata may hold our name, or name a module of ours.
    """
    is_ours = entry.dist is not None and entry.dist.name == _DISTRIBUTION
    return is_ours and is_own_module(entry.module)


def is_own_module(name: str) -> bool:
    """Say whether a module of this name lies in this project's packages."""
    return name.partition(".")[0] in OWN_PACKAGES


def available(group: str) -> dict[str, EntryPoint]:
    """Return the installed entry points of `group` by name, in alphabetical order.

    Of several with one name it is this project's, or else the first on the path, as for modules.
    """
    found: dict[str, EntryPoint] = {}
    for entry in all_entries(group):
        if entry.name not in found or (is_own(entry) and not is_own(found[entry.name])):
            found[entry.name] = entry
    return found


def load_entry(entry: EntryPoint) -> Any:
    """Import what an entry point stands for.

    Raises:
        ValueError: if its import would end the program, as that of a script does.
        Exception: whatever else its import raises.
    """
    try:
        return entry.load()
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as end:
        said = f"{type(end).__name__}: {end}"
        raise ValueError(f"{entry.value} can't be imported: it ends the program ({said})") from end


def load(group: str, name: str) -> Any:
    """Import what the entry point `name` of `group` stands for.

    Raises:
        ValueError: if there is no such entry point; the message lists those there are. Also as
            `load_entry`.
        ModuleNotFoundError: if it needs a package that is not installed; the message names the
            extra that brings it.
    """
    entries = available(group)
    if name not in entries:
        raise ValueError(f"{name!r} is unknown: use {join_names(entries)}")
    with suggest_extra(name):
        return load_entry(entries[name])


def default_policies(command: str) -> tuple[str, ...]:
    """Return the names of the policies that a command takes by default, or an empty tuple.

    They are those of the entry point `command` of the group `DEFAULT_POLICIES`: a tuple of names.
    """
    entry = available(DEFAULT_POLICIES).get(command)
    return () if entry is None else tuple(entry.load())


def names_attribute(text: str) -> bool:
    """Say whether a text has the form `module:attribute`; both may have dots."""
    module, colon, attribute = text.partition(":")
    names = [*module.split("."), *attribute.split(".")]
    return bool(colon) and all(name.isidentifier() for name in names)


def load_attribute(path: str) -> Any:
    """Import an object named as `module:attribute`; the attribute may have dots.

    Raises:
        ValueError: if the text has another form, the module or the attribute does not exist, or
            the module is one of Python's own.
        ModuleNotFoundError: if the module needs a package that is not installed.
    """
    if not names_attribute(path):
        raise ValueError(f"{path!r:.200} names no object: write module:attribute")
    module_name, _, attribute = path.partition(":")
    module = load_module(module_name, path)
    try:
        return attrgetter(attribute)(module)
    except AttributeError:
        file = getattr(module, "__file__", None)
        where = f" ({file:.200})" if file else ""
        raise ValueError(
            f"{path!r:.200}: the module {module_name}{where} has no {attribute!r:.200}"
        ) from None


def load_module(name: str, path: str) -> ModuleType:
    """Import the module `name`, which stands in `path`; raises as `load_attribute`."""
    top = name.partition(".")[0]
    if not all(part.isidentifier() for part in name.split(".")):
        raise ValueError(f"{path!r:.200}: {name!r:.200} is no name of a module")
    if top in sys.stdlib_module_names:
        raise ValueError(
            f"{path!r:.200}: {name} is in Python's standard library; "
            "if you mean a file of yours, rename it"
        )
    try:
        if top not in sys.modules and find_spec(top) is None:  # __main__ has no specification
            search_folders(fallback_folders())
        with suggest_extra(path):
            return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        raise ValueError(
            f"{path!r:.200}: there is no module {error.name!r:.200}; install its package, or start "
            "Python where it can be imported"
        ) from None


@contextmanager
def suggest_extra(what: str) -> Iterator[None]:
    """Let a ModuleNotFoundError of an optional package say which extra `what` needs."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRA_OF_MODULE:
            raise
        extra = EXTRA_OF_MODULE[package]
        raise ModuleNotFoundError(
            f"{what} needs {package}: {install_command(extra)}", name=error.name
        ) from None


def install_command(extra: str) -> str:
    """Return how to install an extra of this package: it is on no package index yet."""
    return f"pip install -c constraints.txt '.[{extra}]' in a checkout of sudoku-gym"


def join_names(names: dict[str, EntryPoint]) -> str:
    """Format names for an error message: `a, b or c`."""
    *most, last = list(names) or ["(none is installed)"]
    return f"{', '.join(most)} or {last}" if most else last


@lru_cache(maxsize=1)
def _entries_on(path: tuple[object, ...]) -> list[tuple[EntryPoint, str]]:
    """Return our groups' entry points by name, and their folders; all that is installed is read."""
    try:
        entries = entry_points()
    except Exception as error:  # one file that can't be read spoils all
        raise ValueError(_broken_entries() or str(error)) from error
    ours = [group for group in entries.groups if group.startswith("sudoku_gym.")]
    found = [entry for group in ours for entry in entries.select(group=group)]
    return sorted(
        ((entry, _install_folder(entry)) for entry in found), key=lambda each: each[0].name
    )


def _broken_entries() -> str:
    """Say whose entry points can't be read."""
    for package in distributions():
        try:
            _ = package.entry_points
        except Exception as error:
            where = package.locate_file("")
            return (
                f"the entry points of the package {package.name} in {where} can't be read "
                f"({type(error).__name__}: {error}): install it again, or uninstall it"
            )
    return ""


def _install_folder(entry: EntryPoint) -> str:
    """Return the folder that the entry point's package lies in."""
    return "" if entry.dist is None else os.path.realpath(str(entry.dist.locate_file("")))
