"""The protocols of policies, solvers and predictors, and solvers and predictors as policies."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias, get_args, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudoku_gym import board
from sudoku_gym.board.actions import as_actions
from sudoku_gym.geometry import Geometry

Mode: TypeAlias = Literal["surest", "random", "one-shot"]
"""How a `PredictorPolicy` plays."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ModelCard:
    """A trained network and how it is played.

    A policy, solver or predictor that can tell has it as its attribute `model_card`.

    Source: Mitchell et al., "Model cards for model reporting" (2019), for the word.
    """

    sees: Literal["grid", "constraints"]
    """`grid`: digits and their positions are all it is given; `constraints`: it passes messages, or
    takes sums, along rows, columns and boxes"""
    weights: int
    """trained numbers, of all its networks"""
    solutions: int
    """different puzzles whose solution it was shown in training"""
    play: Literal["one shot", "sequential", "search"]
    """`one shot`: all blanks are read off one evaluation; `sequential`: one digit after the other,
    none taken back; `search`: moves are tried, or taken back"""
    restarts: int = 0
    """further starts of its rounds, at most, on a board that has not converged"""


def model_card_of(policy: object) -> ModelCard | None:
    """Return the model card of a policy, solver or predictor; None if it has none."""
    card = getattr(policy, "model_card", None)
    return card if isinstance(card, ModelCard) else None


@runtime_checkable
class Policy(Protocol):
    """Chooses actions for B parallel games; between resets, row i is always game i."""

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start B games, puzzles int8 `[B, N, N]`; until the next reset `rng` makes all draws."""

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose an action for each game, int64 `[B]`.

        Args:
            boards: current boards, int8 `[B, N, N]`.
            action_masks: bool `[B, A]`, True = legal; A is `N**3`, or `N**3 + N**2` with erasing.
                A finished game has no legal action, and its action is ignored.
        """
        ...


def actions_of(answer: ArrayLike, count: int) -> NDArray[np.int64]:
    """Return what `Policy.act` has answered for so many games as a new array, int64 `[count]`.

    A ValueError says if it is anything but one integer a game; whether the actions are legal is for
    the caller to see.
    """
    try:
        return as_actions(answer, count)
    except ValueError as error:
        raise ValueError(f"act must return one whole number a game: {error}") from None


@runtime_checkable
class Solver(Protocol):
    """Completes boards."""

    def solve(self, puzzles: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
        """Return completed boards, int8 `[B, N, N]`, all zeros where it found none."""
        ...


@runtime_checkable
class Predictor(Protocol):
    """Scores the digits of every cell: for example a network, or exact marginals of a solver."""

    def predict(self, boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.floating[Any]]:
        """Return a score for each cell and digit, float `[B, N, N, N]`, last axis digit - 1.

        Scores are compared across cells, so use probabilities or log probabilities; raw logits are
        not comparable between cells.
        """
        ...


@dataclass(frozen=True)
class Convergence:
    """What iterative evaluations of B boards or games have cost, and whether they converged.

    A policy or predictor that can tell has it, or None, as its attribute `convergence`: a policy of
    the games since the last reset, a predictor of the boards of the last call.
    """

    rounds: NDArray[np.int64]
    """`[B]`, of all evaluations"""
    converged: NDArray[np.bool_]
    """`[B]`, whether all evaluations had converged"""

    @classmethod
    def of_none(cls, count: int) -> Convergence:
        """Return that of `count` boards before their first evaluation."""
        return cls(np.zeros(count, np.int64), np.ones(count, np.bool_))

    def add(self, later: Convergence, rows: NDArray[np.int64] | slice = slice(None)) -> None:
        """Add evaluations of the boards `rows`, by default of all."""
        self.rounds[rows] += later.rounds
        self.converged[rows] &= later.converged


class SolverPolicy:
    """Plays the solution of a solver, cell by cell.

    Where the solver found no solution (or its answer is no valid completion) the policy plays the
    first legal action instead, logs a warning with the number of such puzzles, and marks them in
    `unsolved`.

    Args:
        solver: asked once for each batch, at reset.

    Attributes:
        unsolved: bool `[B]`, the puzzles of the present batch for which no solution was found.
    """

    def __init__(self, solver: Solver) -> None:
        self.solver = solver
        self.unsolved: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._placements: NDArray[np.int64] = np.zeros((0, 0), np.int64)

    @property
    def model_card(self) -> ModelCard | None:
        """That of the solver, if it has one."""
        return model_card_of(self.solver)

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Solve the batch; `rng` is not used."""
        solutions = board.as_boards(self.solver.solve(puzzles, geometry), geometry)
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
    """Plays the predictions of a network or other `Predictor`.

    Mode `"surest"` predicts before every move and plays the legal placement with the highest
    score, `"random"` that of a random blank cell. Mode `"one-shot"` predicts once, at reset, and
    plays the best digit of each cell, legal or not: the game is won exactly if the predicted grid
    is a valid completion. (With illegal digits masked, naked singles would repair many.)

    Attributes:
        convergence: of the predictions since the last reset; None if the predictor can't tell.
    """

    def __init__(self, predictor: Predictor, mode: Mode = "surest") -> None:
        if mode not in get_args(Mode):
            raise ValueError(f"mode {mode!r} is unknown: use 'surest', 'random' or 'one-shot'")
        self.predictor = predictor
        self.mode = mode
        self.convergence: Convergence | None = None
        self._geometry: Geometry
        self._predictions: NDArray[np.floating[Any]] = np.zeros((0, 0, 0))

    @property
    def model_card(self) -> ModelCard | None:
        """That of the predictor, if it has one, with the mode of play."""
        card = model_card_of(self.predictor)
        play: Literal["one shot", "sequential"]
        play = "one shot" if self.mode == "one-shot" else "sequential"
        return None if card is None else replace(card, play=play)

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch; in one-shot mode predict. `rng` draws the cells of a random order."""
        self._geometry, self._rng = geometry, rng
        self.convergence = None
        if self.mode == "one-shot":
            self._predictions = self._scores(puzzles, geometry)

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Play the best legal placement, or the surest cell of the one-shot prediction."""
        if self.mode == "one-shot":
            return self._next_prediction(boards, self._geometry.size)
        scores = self._scores(boards, self._geometry)
        if self.mode == "random":
            chance = np.where(boards == 0, self._rng.random(boards.shape), -1.0)
            is_chosen = chance == chance.max((1, 2), keepdims=True)
            scores = np.where(is_chosen[..., None], scores, -np.inf)
        scores = scores.reshape(len(boards), -1)
        legal = action_masks[:, : scores.shape[1]]
        placements = np.where(legal, scores, -np.inf).argmax(1)
        played = legal[np.arange(len(boards)), placements]  # False where no placement has a chance
        return np.where(played, placements, action_masks.argmax(1))

    def _next_prediction(self, boards: NDArray[np.int8], size: int) -> NDArray[np.int64]:
        best = self._predictions.max(3).reshape(len(boards), -1)
        cells = np.where(boards.reshape(len(boards), -1) == 0, best, -np.inf).argmax(1)
        digits = self._predictions.reshape(len(boards), -1, size)[np.arange(len(boards)), cells]
        return cells * size + digits.argmax(1)

    def _scores(self, boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.floating[Any]]:
        scores = np.asarray(self.predictor.predict(boards, geometry))
        expected = (len(boards), *3 * (geometry.size,))
        if scores.shape != expected or np.isnan(scores).any():
            raise ValueError(
                f"{type(self.predictor).__name__}.predict must return numbers {list(expected)}, "
                f"not {'NaN' if scores.shape == expected else list(scores.shape)}"
            )
        latest = getattr(self.predictor, "convergence", None)
        if isinstance(latest, Convergence):
            self.convergence = self.convergence or Convergence.of_none(len(boards))
            self.convergence.add(latest)
        return scores
