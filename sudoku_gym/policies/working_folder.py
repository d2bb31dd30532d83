"""The working folder, which policies change that open their files by relative names.

What is loaded here plays in the folder that it has changed to, as if it were alone; everything else
stays in the folder that the command was given in.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import plugins
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies.loading import find_policy, load_policy
from sudoku_gym.policies.protocols import Policy

_one_at_a_time = RLock()  # all threads of a process have one working folder
_folder_after_import = dict[str, str]()  # of modules that change it when they are imported


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
    with suppress(OSError):
        os.chdir(folder)


@contextmanager
def importing() -> Iterator[None]:
    """Stay in the working folder; remember where modules have changed to that the block imports."""
    with _one_at_a_time, working_folder_kept():
        home, known = working_folder(), {*sys.modules}
        yield
        if working_folder() != home:
            others = (
                name
                for name in sys.modules.keys() - known
                if name.partition(".")[0] not in plugins.OWN_PACKAGES
            )
            _folder_after_import.update(dict.fromkeys(others, working_folder()))


@contextmanager
def in_folder_of(policy: str) -> Iterator[None]:
    """Work in the folder that a policy has changed to when it was imported, if it has."""
    with _one_at_a_time, working_folder_kept():
        with importing():
            name, found, _ = find_policy(policy)
        for module in (name.partition(":")[0], getattr(found, "__module__", "")):
            change_to(_folder_after_import.get(module, working_folder()))
        yield


def load_in_own_folder(policy: str, **options: Any) -> Policy:
    """Make a policy as `load_policy` does, which plays where it changes to, if it does so.

    It may do so when it is imported, perhaps for another policy, or when it is made.
    """
    home = working_folder()
    with in_folder_of(policy):
        made, folder = load_policy(policy, **options), working_folder()
    return made if folder == home else InOwnFolder(made, folder)


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
        """Begin new games in its folder."""
        with self._there():
            self.policy.reset(puzzles, geometry, rng)

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose one action for each board, in its folder."""
        with self._there():
            return self.policy.act(boards, action_masks)

    def __getattr__(self, name: str) -> Any:
        with self._there():
            return getattr(self.policy, name)

    @contextmanager
    def _there(self) -> Iterator[None]:
        with _one_at_a_time, working_folder_kept():
            change_to(self._folder)
            yield
            self._folder = working_folder()
