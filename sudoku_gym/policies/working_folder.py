"""The working folder, which policies change that open their files by relative names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.geometry import Geometry
from sudoku_gym.policies.protocols import Policy


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


class InOwnFolder:
    """A policy that has changed the working folder when it was made: it plays there, alone.

    It has the attributes of the policy.

    Args:
        policy: the policy.
        folder: where it plays at first.
    """

    def __init__(self, policy: Policy, folder: str) -> None:
        self._policy, self._folder = policy, folder

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Begin new games in its folder."""
        with self._there():
            self._policy.reset(puzzles, geometry, rng)

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose one action for each board, in its folder."""
        with self._there():
            return self._policy.act(boards, action_masks)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._policy, name)

    @contextmanager
    def _there(self) -> Iterator[None]:
        with working_folder_kept():
            change_to(self._folder)
            yield
            self._folder = working_folder()
