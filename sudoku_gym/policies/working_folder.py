"""The working folder, which policies change that open their files by relative names.

What is loaded here plays in the folder that it has changed to, as if it were alone; everything else
stays in the folder that the command was given in.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from threading import RLock
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import plugins
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies.loading import agent_of, find_policy, load_policy
from sudoku_gym.policies.protocols import Policy
from sudoku_gym.policies.sources import file_of

_one_at_a_time = RLock()  # all threads of a process have one working folder
_folder_after_import = dict[str, str]()  # of modules that change it when they are imported
_folder_after_making = dict[str, str]()  # of policies, with their options, and of modules


@contextmanager
def working_folder_kept() -> Iterator[None]:
    """At the end go back to the working folder, so that relative names mean what they meant."""
    folder = working_folder()
    try:
        yield
    finally:
        change_to(folder)


def working_folder() -> str:
    """Return the working folder, empty if it has been removed."""
    with suppress(OSError):
        return os.getcwd()
    return ""


def change_to(folder: str) -> None:
    """Change to a working folder, unless it is none or has been removed."""
    with suppress(OSError):  # also if it is empty
        os.chdir(folder)


@contextmanager
def importing(module: str) -> Iterator[None]:
    """Stay in the working folder; remember where the import of a policy's module changes to."""
    with _one_at_a_time, working_folder_kept():
        home, known = working_folder(), {*sys.modules}
        yield
        if working_folder() != home:
            _folder_after_import.update(dict.fromkeys(_new_of(module, known), working_folder()))


@contextmanager
def in_folder_of(policy: str) -> Iterator[tuple[str, str]]:
    """Work in the folder that a policy has changed to when it was imported, if it has.

    Yields the working folder of before, which no other thread changes now, and the policy's module.
    Raises as `find_policy`.
    """
    with _one_at_a_time, working_folder_kept():
        home, named = working_folder(), module_of(policy)
        with importing(named):
            _, found, _ = find_policy(policy)
        for module in (named, getattr(found, "__module__", None) or ""):
            while module and module not in _folder_after_import:
                module = module.rpartition(".")[0]
            change_to(_folder_after_import.get(module, ""))
        yield home, named


def load_in_own_folder(policy: str, **options: Any) -> Policy:
    """Make a policy as `load_policy` does, which plays where it changes to, if it does so.

    It may do so when it is imported or made, or only the first time that it is made in a process.

    Raises as `load_policy` does.
    """
    with in_folder_of(policy) as (home, module):
        start, known = working_folder(), {*sys.modules}
        made = _tried(policy, options)
        changed_before = _folder_after_making.get(policy) or _folder_after_making.get(module, "")
        if working_folder() == start and changed_before not in ("", start):
            del made
            change_to(changed_before)
            made = _tried(policy, options)
        if isinstance(made, Exception):
            raise made
        folder = working_folder()
        if folder != start:
            _folder_after_making[policy] = folder
        if folder != start and _new_of(module, known):
            _folder_after_making[module] = folder  # perhaps by what is imported once
    return made if folder == home else InOwnFolder(made, folder)


def _tried(policy: str, options: Mapping[str, Any]) -> Policy | Exception:
    try:
        return load_policy(policy, **options)
    except Exception as error:
        return error


def _new_of(module: str, known: Collection[str]) -> list[str]:
    """Return modules that are not known, of the package of another, or beside it if it has none."""
    top = module.partition(".")[0]
    file = Path(file_of(sys.modules.get(top)) or "")
    if plugins.is_own_module(top) or not file.name:
        return []
    is_package = file.name.startswith("__init__.")
    found = list[str]()
    for name, each in [*sys.modules.items()]:
        other = Path(file_of(each) or "") if name not in known else Path()
        if other.is_relative_to(file.parent) if is_package else other.parent == file.parent:
            found.append(name)
    return found


def module_of(policy: str) -> str:
    """Return the module that a policy's name stands for, or that of a checkpoint's agent."""
    name = policy.partition("?")[0]
    if name not in plugins.available(plugins.POLICIES) and os.path.isdir(name):
        with suppress(ValueError):
            name = agent_of(Path(name))
    entry = plugins.available(plugins.POLICIES).get(name)
    if entry is not None:
        return entry.module
    return name.partition(":")[0] if plugins.names_attribute(name) else ""


def is_of_others(policy: str) -> bool:
    """Whether a policy's name stands for code of another package; a wrong name does not."""
    module = module_of(policy)
    return bool(module) and not plugins.is_own_module(module)


class InOwnFolder:
    """A policy that plays in a working folder of its own. It has the attributes of the policy.

    Args:
        policy: the policy.
        folder: where it begins.
    """

    def __init__(self, policy: Policy, folder: str) -> None:
        self.policy, self._folder = policy, folder

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Begin new games on puzzles int8 `[B, N, N]` in its folder."""
        with self.in_folder():
            self.policy.reset(puzzles, geometry, rng)

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose one action for each board, int64 `[B]`, in its folder.

        `boards` is int8 `[B, N, N]`, `action_masks` bool `[B, A]`.
        """
        with self.in_folder():
            return self.policy.act(boards, action_masks)

    def __getattr__(self, name: str) -> Any:
        with self.in_folder():
            found = getattr(self.policy, name)
        if not isinstance(found, MethodType | FunctionType):
            return found

        @wraps(found)
        def call(*given: Any, **named: Any) -> Any:
            with self.in_folder():
                return found(*given, **named)

        return call

    @contextmanager
    def in_folder(self) -> Iterator[None]:
        """Work in its folder, which it may change again."""
        with _one_at_a_time, working_folder_kept():
            change_to(self._folder)
            yield
            self._folder = working_folder()
