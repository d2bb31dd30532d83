"""Puzzles with most left to learn: prioritised level replay, and ACCEL, which edits them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sudoku_curricula.base import Results, Schedule, register_schedule
from sudoku_gym import solver
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import resolve_source
from sudoku_gym.puzzles.tasks import PuzzleWeights
from sudoku_gym.storage.checks import check_counts, check_positive, check_shares

_NEVER = -1
_REPLAYED = 0.8  # share of the draws of edited puzzles that replay, while some have no score


@register_schedule("replay")
@dataclass(frozen=True)
class ReplayConfig:
    """Replay single puzzles by their regret and by how long ago they were played.

    The regret is 1 less the share of solved games, exact here, since every puzzle can be solved. A
    replayed task has weight (1 - staleness) * h + staleness * c: h falls with the rank of its
    regret as rank^(-1 / temperature), c grows with the updates since it was played (Jiang et al.
    2021, arXiv 2010.03934). With `robust`, only replayed tasks are trained
    on (Jiang et al. 2021, arXiv 2110.02439): new ones are only scored, see `trains`.
    """

    tasks: str = "puzzle=0..999"
    """The tasks, as in `sudoku_gym.puzzles.Tasks`."""
    replayed: float = 0.5
    """Share of the draws that replay, while there are new tasks."""
    temperature: float = 0.3
    """How flat the weights are over the ranks, beta."""
    staleness: float = 0.1
    """Share of the replays that go by staleness, rho."""
    robust: bool = False
    """Whether games on new tasks only score them; PPO of Stable-Baselines3 heeds it."""

    def __post_init__(self) -> None:
        check_shares(self, "replayed", "staleness")
        if self.replayed == 1:
            raise ValueError("replayed=1 never draws a new task: use less")
        check_positive(self, "temperature")

    def build(self) -> Replay:
        """Start the schedule: every task is new."""
        return Replay(self)


class Replay(Schedule):
    """See `ReplayConfig`.

    Attributes:
        scores: the regret in the latest games of each task, float64 `[T]`.
        played: the update in which each was last played, int64 `[T]`; -1 for new ones.
    """

    kept: ClassVar[tuple[str, ...]] = ("scores", "played")

    def __init__(self, config: ReplayConfig) -> None:
        super().__init__(config.tasks)
        self.config = config
        self.scores = np.zeros(len(self.tasks))
        self.played = np.full(len(self.tasks), _NEVER, np.int64)

    def weights(self) -> NDArray[np.float64]:
        """Return the weights of replayed and of new tasks."""
        return self.weights_among(np.arange(len(self.tasks)))

    def weights_among(self, tasks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the weights of K tasks, were there no others: float64 `[K]`."""
        played = self.played[tasks]
        seen = played != _NEVER
        if not seen.any():
            return np.full(len(seen), 1 / len(seen))
        order = np.argsort(-self.scores[tasks][seen], kind="stable")
        ranks = np.empty(len(order))
        ranks[order] = np.arange(1, len(order) + 1)
        by_score = ranks ** (-1 / self.config.temperature)
        age = (self.updates - played[seen]).astype(np.float64)
        stale = self.config.staleness if age.sum() else 0.0
        weights = np.zeros(len(seen))
        weights[seen] = (1 - stale) * by_score / by_score.sum() + stale * age / max(age.sum(), 1)
        if not seen.all():
            weights[seen] *= self.config.replayed
            weights[~seen] = (1 - self.config.replayed) / (~seen).sum()
        return weights

    def trains(self) -> NDArray[np.bool_]:
        """Return the tasks whose games are trained on, bool `[T]`: all but new ones if `robust`."""
        return (self.played != _NEVER) | (not self.config.robust)

    def update(self, results: Results) -> bool:
        """Score the tasks that were played."""
        self.updates += 1
        self.scores[results.tasks] = 1 - results.successes / results.counts
        self.played[results.tasks] = self.updates
        return True


@register_schedule("edit")
@dataclass(frozen=True)
class EditConfig:
    """Replay puzzles of a buffer, edit those with the most regret, and keep what is harder.

    The buffer begins with easy puzzles. At each update puzzles are drawn by their replay weights
    and edited: a given more, a given less, or two digits exchanged in a part of the solution where
    they can be. A child takes the place of the puzzle with the least weight, and gives it back if
    its own first score is lower. Parker-Holder et al. (2022, arXiv 2203.01302), Algorithm 1;
    their editor adds and removes walls of a maze.
    """

    source: str = "9x9"
    """A bank, or what else `resolve_source` takes; its training part is used."""
    start: int = 10
    """Number of blanks of the first puzzles."""
    size: int = 256
    """Number of puzzles in the buffer."""
    edits: int = 8
    """Puzzles edited at each update."""
    seed: int = 0
    """Draws the first puzzles and the edits."""

    def __post_init__(self) -> None:
        check_counts(self, "size", "edits")

    def build(self) -> Edit:
        """Start the schedule with easy puzzles."""
        return Edit(self)


class Edit(Replay):
    """See `EditConfig`.

    Each of K places has two tasks side by side, a puzzle and the child that may replace it: so a
    game that began before an edit is scored as one of the parent. Where games are counted in the
    order in which they began, none of it is left once its child has a score and may be edited.

    Attributes:
        puzzles, solutions: the puzzles of the tasks, int8 `[2 * K, N, N]`.
        current: the task that is drawn in each place, int64 `[K]`.
        is_child: which of them are children without a score, bool `[K]`.
    """

    kept = ("puzzles", "solutions", "current", "is_child")

    def __init__(self, config: EditConfig) -> None:
        tasks = f"puzzle=0..{2 * config.size - 1}"
        super().__init__(ReplayConfig(tasks, replayed=_REPLAYED))
        self.edits = config.edits
        self._rng = np.random.default_rng(config.seed)
        source = resolve_source(config.source, "train")
        self._geometry = source.geometry
        boards = source.sample(config.size, config.start, self._rng)
        self.puzzles, self.solutions = (np.repeat(each, 2, axis=0) for each in boards)
        self.current = np.arange(0, 2 * config.size, 2)
        self.is_child = np.zeros(config.size, np.bool_)

    def weights(self) -> NDArray[np.float64]:
        """Return the weights of the current puzzles; the others have none."""
        weights = np.zeros(len(self.tasks))
        weights[self.current] = self.weights_among(self.current)
        return weights

    def blanks(self) -> PuzzleWeights:
        """Return the buffer and its weights."""
        puzzle_set = PuzzleSet(self.puzzles, self.solutions, self._geometry, "edited puzzles")
        return PuzzleWeights(puzzle_set, self.weights())

    def update(self, results: Results) -> bool:
        """Score the puzzles that were played, give up children that are easier, and edit."""
        super().update(results)
        scored = self.is_child & np.isin(self.current, results.tasks)
        self.is_child[scored] = False
        self.current[scored & (self.scores[self.current] < self.scores[self.current ^ 1])] ^= 1
        weights = self.weights_among(self.current)
        weights[self.played[self.current] == _NEVER] = 0
        if not weights.any():
            return True
        parents = self._rng.choice(len(weights), self.edits, p=weights / weights.sum())
        places = [place for place in np.argsort(weights, kind="stable") if weights[place] > 0]
        for parent, place in zip(self.current[parents].tolist(), places, strict=False):
            child = _edited(self.puzzles[parent], self.solutions[parent], self._geometry, self._rng)
            if child is not None:
                self.current[place] ^= 1
                task, self.is_child[place] = self.current[place], True
                self.puzzles[task], self.solutions[task] = child
                self.played[task] = _NEVER
        return True

    def state_dict(self) -> dict[str, Any]:
        """See `Schedule.state_dict`."""
        return {**super().state_dict(), "rng": self._rng.bit_generator.state}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """See `Schedule.load_state_dict`."""
        super().load_state_dict(state)
        self._rng.bit_generator.state = state["rng"]


def _edited(
    puzzle: NDArray[np.int8],
    solution: NDArray[np.int8],
    geometry: Geometry,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int8], NDArray[np.int8]] | None:
    """Return a well-posed puzzle near a given one, and its solution; None if the draw has none.

    With equal chances a given is taken away, a blank is filled, or two digits are exchanged in a
    part of the solution that no unit connects with other cells of theirs. Boards are int8 `[N, N]`.
    """
    puzzle, solution = puzzle.copy(), solution.copy()
    kind = rng.integers(3)
    if kind == 2:
        part = _exchangeable(solution, geometry, rng)
        first, second = np.unique(solution.ravel()[part])
        solution.ravel()[part] = first + second - solution.ravel()[part]
        puzzle = np.where(puzzle > 0, solution, 0).astype(np.int8)
    else:
        cells = np.flatnonzero((puzzle == 0) == (kind == 1))
        if len(cells) == 0:
            return None
        cell = rng.choice(cells)
        puzzle.ravel()[cell] = solution.ravel()[cell] if kind == 1 else 0
    if (puzzle > 0).all() or solver.count_solutions(puzzle[None], 2, geometry)[0] != 1:
        return None
    return puzzle, solution


def _exchangeable(
    solution: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the cells of two digits that are connected with a random one of them by units."""
    digits = rng.choice(geometry.size, 2, replace=False) + 1
    cells = np.flatnonzero(np.isin(solution, digits))
    part = {int(rng.choice(cells))}
    while True:
        near = np.intersect1d(geometry.peers[list(part)], cells)
        if part.issuperset(near.tolist()):
            return np.array(sorted(part))
        part.update(near.tolist())
