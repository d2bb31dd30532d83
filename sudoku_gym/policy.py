"""Policies and solvers: what plays, what answers, and how one is found by name.

A policy answers for a whole batch of games in lock step. A solver becomes a policy by playing its
solution, a predictor of whole boards by filling its surest cell, or by its one-shot answer.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board, plugins
from sudoku_gym.agent_config import CONFIG, agent_of
from sudoku_gym.geometry import Geometry

_log = logging.getLogger(__name__)


@runtime_checkable
class Policy(Protocol):
    """Whatever plays. B games run in lock step; B and the order of rows stay fixed."""

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start B games.

        Args:
            puzzles: int8 `[B, N, N]`, 0 = blank.
            geometry: the shape of the boards.
            rng: the only source of random draws until the next reset.
        """

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose an action for each game.

        Args:
            boards: int8 `[B, N, N]`, as they are now.
            action_masks: bool `[B, A]`, True = legal; A is `N**3`, or `N**3 + N**2` with erasing.
                A finished game has no legal action, and its answer is ignored.

        Returns:
            int64 `[B]`.
        """
        ...


@runtime_checkable
class Solver(Protocol):
    """Whatever completes boards."""

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Return completed boards, int8 `[B, N, N]`, all zeros where it found none."""
        ...


@runtime_checkable
class Predictor(Protocol):
    """Whatever scores the digits of every cell, for example a network or a marginal."""

    def predict(self, boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.floating[Any]]:
        """Return a score for each cell and digit, float `[B, N, N, N]`, last axis digit - 1.

        Scores are compared across cells, so probabilities or their logarithms serve, logits that
        are not normalised within a cell do not.
        """
        ...


class SolverPolicy:
    """Plays the solution of a solver, cell by cell.

    Where the solver found no solution (or its answer is no valid completion) the policy plays the
    first legal action instead, logs a warning with the number of such puzzles, and marks them in
    `unsolved`.

    Args:
        solver: asked once for each batch, at reset.

    Attributes:
        solver: as given.
        unsolved: bool `[B]`, the puzzles of the present batch without a solution.
    """

    def __init__(self, solver: Solver) -> None:
        self.solver = solver
        self.unsolved: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._placements: NDArray[np.int64] = np.zeros((0, 0), np.int64)

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Solve the batch; `rng` is not used."""
        solutions = board.as_boards(self.solver.solve(puzzles, geometry))
        kept = ((puzzles == 0) | (puzzles == solutions)).all((1, 2))
        self.unsolved = ~(kept & board.is_solved(solutions, geometry))
        if self.unsolved.any():
            _log.warning(
                "%s found no solution for %d of %d puzzles; there the first legal action is played",
                type(self.solver).__name__,
                self.unsolved.sum(),
                len(puzzles),
            )
        digits = solutions.reshape(len(solutions), -1).astype(np.int64)
        self._placements = np.arange(geometry.num_cells) * geometry.size + digits - 1

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Play the first placement of the solution that is legal, else the first legal action."""
        rows = np.arange(len(boards))
        legal = action_masks[rows[:, None], np.maximum(self._placements, 0)]
        legal &= boards.reshape(len(boards), -1) == 0
        legal[self.unsolved] = False
        placements = self._placements[rows, legal.argmax(1)]
        return np.where(legal.any(1), placements, action_masks.argmax(1))


class PredictorPolicy:
    """Plays what a predictor of whole boards says.

    Mode `"surest"` asks again before every move and plays the legal placement with the highest
    score. Mode `"one-shot"` asks once, at reset, and plays the best digit of each cell, legal or
    not: the game is won exactly if the predicted grid is a valid completion. (Were illegal digits
    left out, a naked single would repair many a wrong grid, and the figure would be no longer the
    predictor's.)

    Args:
        predictor: whatever scores cells and digits.
        mode: `"surest"` or `"one-shot"`.

    Raises:
        ValueError: if the mode is neither.
    """

    def __init__(
        self, predictor: Predictor, mode: Literal["surest", "one-shot"] = "surest"
    ) -> None:
        if mode not in ("surest", "one-shot"):
            raise ValueError(f"mode {mode!r} is unknown: use 'surest' or 'one-shot'")
        self.predictor = predictor
        self.mode = mode
        self._geometry: Geometry | None = None
        self._answers: NDArray[np.floating[Any]] = np.zeros((0, 0, 0))

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch; in one-shot mode ask the predictor. `rng` is not used."""
        self._geometry = geometry
        if self.mode == "one-shot":
            self._answers = self._scores(puzzles, geometry)

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Play the surest legal placement, or the surest cell of the one-shot answer."""
        if self._geometry is None:
            raise RuntimeError("call reset(puzzles, geometry, rng) before act")
        if self.mode == "one-shot":
            return self._next_answer(boards, self._geometry.size)
        scores = self._scores(boards, self._geometry).reshape(len(boards), -1)
        legal = action_masks[:, : scores.shape[1]]
        placements = np.where(legal, scores, -np.inf).argmax(1)
        played = legal[np.arange(len(boards)), placements]  # False where no placement has a chance
        return np.where(played, placements, action_masks.argmax(1))

    def _next_answer(self, boards: NDArray[np.int8], size: int) -> NDArray[np.int64]:
        best = self._answers.max(3).reshape(len(boards), -1)
        cells = np.where(boards.reshape(len(boards), -1) == 0, best, -np.inf).argmax(1)
        digits = self._answers.reshape(len(boards), -1, size)[np.arange(len(boards)), cells]
        return cells * size + digits.argmax(1)

    def _scores(self, boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.floating[Any]]:
        scores = np.asarray(self.predictor.predict(boards, geometry))
        wanted = (len(boards), *3 * (geometry.size,))
        if scores.shape != wanted or np.isnan(scores).any():
            raise ValueError(
                f"{type(self.predictor).__name__}.predict must return numbers {list(wanted)}, "
                f"not {'NaN' if scores.shape == wanted else list(scores.shape)}"
            )
        return scores


def load_policy(
    name_or_path: str | os.PathLike[str], *, trust: bool = False, **kwargs: Any
) -> Policy:
    """Make a policy from its name, its path in Python, or the folder of a checkpoint.

    Args:
        name_or_path: an entry point of the group `sudoku_gym.policies`, e.g. `"hidden-singles"`;
            `"module:attribute"`, a class or a function that makes a policy, or a policy itself;
            or a folder whose `config.json` names its agent, an entry point, as `"agent"`. Each
            may be followed by options, as in `"calphazero?simulations=64"`: `key=value` with `&`
            between them, where a value is a number, `true`, `false`, `null` or a word.
        trust: let a folder name any `"module:attribute"` as its agent. What a checkpoint names is
            imported and run, so say this only of a folder whose author you trust.
        **kwargs: passed to the class or function, together with the options in the name.

    Returns:
        The policy; a solver comes as a `SolverPolicy`, a predictor as a `PredictorPolicy`.

    Raises:
        ValueError: if there is no such policy (the message lists those there are), the object
            found is none, it takes no such option (the message lists those it takes), or a folder
            names an agent that is not installed.
        ModuleNotFoundError: if it needs an extra; the message says how to install it.
    """
    text = os.fspath(name_or_path)
    # A folder may have a question mark in its own name.
    name, options = (text, {}) if Path(text).is_dir() else plugins.split_options(text)
    with plugins.naming_the_extra(name):
        if name not in plugins.available(plugins.POLICIES) and Path(name).is_dir():
            made = _load_checkpoint(Path(name), trust, options, kwargs)
        else:
            made = _make(_find(name), name, options, kwargs)
        return _as_policy(made, name)


def _find(name: str) -> Any:
    entries = plugins.available(plugins.POLICIES)
    if name in entries:
        return plugins.load(plugins.POLICIES, name)
    if ":" in name:
        return plugins.load_attribute(name)
    raise ValueError(
        f"no policy {name!r}: use {plugins.listing(entries)}, module:attribute, "
        "or the folder of a checkpoint"
    )


def _make(found: Any, name: str, options: dict[str, Any], kwargs: dict[str, Any]) -> Any:
    if isinstance(found, type) or not isinstance(found, Policy | Solver | Predictor):
        if not callable(found):
            raise ValueError(f"{name!r} is a {type(found).__name__}, neither a policy nor a class")
        return found(**plugins.checked_options(found, name, options, kwargs))
    if options or kwargs:
        raise ValueError(
            f"{name!r} is a finished policy and takes no {', '.join({**options, **kwargs})}"
        )
    return found


def _load_checkpoint(
    folder: Path, trust: bool, options: dict[str, Any], kwargs: dict[str, Any]
) -> Any:
    agent = agent_of(folder)
    found = _find_agent(agent, folder / CONFIG, trust)
    load = getattr(found, "load", found)
    if not callable(load) or not plugins.takes_first(load, folder):
        raise ValueError(f"{folder / CONFIG}: its agent {agent!r} is none that loads a folder")
    return load(folder, **plugins.checked_options(load, str(folder), options, kwargs, 1))


def _find_agent(agent: str, path: Path, trust: bool) -> Any:
    """Find what a checkpoint names; older ones give the value of an entry point."""
    entries = plugins.available(plugins.POLICIES)
    for name, entry in entries.items():
        if agent in (name, entry.value):
            return plugins.load(plugins.POLICIES, name)
    if trust or ":" not in agent:
        try:
            return _find(agent)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    raise ValueError(
        f"{path} names the agent {agent!r}, and a checkpoint may name installed policies only "
        f"({plugins.listing(entries)}); if you trust its author, and let it run any code, pass "
        "trust=True (--trust in the shell)"
    )


def _as_policy(made: Any, name: str) -> Policy:
    if isinstance(made, Policy):
        return made
    if isinstance(made, Solver):
        return SolverPolicy(made)
    if isinstance(made, Predictor):
        return PredictorPolicy(made)
    raise ValueError(
        f"{name!r} made a {type(made).__name__}, which is no policy: it needs the methods "
        "reset(puzzles, geometry, rng) and act(boards, action_masks)"
    )
