"""Policies of other packages on the page: each plays in a process of its own."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Convergence
from sudoku_gym.policies.own_process import OwnProcess
from sudoku_gym.policies.protocols import actions_of
from sudoku_gym.policies.working_folder import load_in_own_folder


class PolicyElsewhere:
    """A policy in another process, a `sudoku_gym.Policy`.

    It has the method `probabilities` if the policy has, and what the page shows of a move:
    `last_search` and `last_convergence`, see `Game`.

    Args:
        process: makes it.
        name: as `load_policy` takes it.
        **options: of `load_policy`.

    Raises:
        ValueError: as `load_policy`, with the words of what the policy raises, or if its process
            ends; its methods do so too.
        ModuleNotFoundError: if it needs an extra.
    """

    def __init__(self, process: OwnProcess, name: str, **options: Any) -> None:
        self._there = process.make(partial(_Shown, name, options))
        if self._there.call("has_probabilities"):
            self.probabilities = partial(self._there.call, "probabilities")
        self.last_search: Any = None
        self.last_convergence: Convergence | None = None

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Begin new games on puzzles int8 `[B, N, N]`."""
        self._there.call("reset", puzzles, geometry, rng)

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose one action for each board int8 `[B, N, N]`; masks are bool `[B, A]`."""
        actions: NDArray[np.int64]
        actions, search, self.last_convergence = self._there.call("act", boards, action_masks)
        self.last_search = None if search is None else SimpleNamespace(**search)
        return actions


class _Shown:
    """A policy in its process, which tells in plain numbers what the page shows of it."""

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        self._policy = load_in_own_folder(name, **options)

    def has_probabilities(self) -> bool:
        return hasattr(self._policy, "probabilities")

    def probabilities(self, *given: Any) -> NDArray[Any]:
        found = self._policy.probabilities(*given)  # type: ignore[attr-defined]
        return np.array(found, np.float64)

    def reset(self, *given: Any) -> None:
        self._policy.reset(*given)

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> tuple[Any, ...]:
        actions = actions_of(self._policy.act(boards, action_masks), len(boards))
        search = getattr(self._policy, "last_search", None)
        if search is not None:
            names = ("visit_counts", "values")
            search = {name: np.array(getattr(search, name), np.float64) for name in names}
        latest = getattr(self._policy, "last_convergence", None)
        if isinstance(latest, Convergence):
            rounds, converged = np.array(latest.rounds, np.int64), np.array(latest.converged, bool)
            latest = Convergence(rounds, converged)
        else:
            latest = None
        return actions, search, latest
