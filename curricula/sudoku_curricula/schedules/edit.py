"""A buffer of puzzles that are edited while they are still failed: ACCEL."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudoku_curricula.base import Results, register_schedule
from sudoku_curricula.schedules.replay import NEVER, Replay, ReplayConfig
from sudoku_gym import solver
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import resolve_source
from sudoku_gym.puzzles.tasks import PuzzleWeights
from sudoku_gym.storage.checks import check_counts

_REPLAYED = 0.8  # share of the draws of edited puzzles that replay, while some have no score


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
        rng: draws the edits.
    """

    kept = ("puzzles", "solutions", "current", "is_child", "rng")

    def __init__(self, config: EditConfig) -> None:
        tasks = f"puzzle=0..{2 * config.size - 1}"
        super().__init__(ReplayConfig(tasks, replayed=_REPLAYED))
        self.edits = config.edits
        self.rng = np.random.default_rng(config.seed)
        source = resolve_source(config.source, "train")
        self._geometry = source.geometry
        boards = source.sample(config.size, config.start, self.rng)
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
        weights[self.played[self.current] == NEVER] = 0
        if not weights.any():
            return True
        parents = self.rng.choice(len(weights), self.edits, p=weights / weights.sum())
        places = [place for place in np.argsort(weights, kind="stable") if weights[place] > 0]
        for parent, place in zip(self.current[parents].tolist(), places, strict=False):
            child = self._edited(parent)
            if child is not None:
                self.current[place] ^= 1
                task, self.is_child[place] = self.current[place], True
                self.puzzles[task], self.solutions[task] = child
                self.played[task] = NEVER
        return True

    def _edited(self, task: int) -> tuple[NDArray[np.int8], NDArray[np.int8]] | None:
        """Return a well-posed puzzle near that of a task, and its solution; None if the draw fails.

        With equal chances a given is taken away, a blank is filled, or two digits are exchanged in
        a part of the solution that no unit connects with the rest of them. Int8 `[N, N]` each.
        """
        puzzle, solution = self.puzzles[task].copy(), self.solutions[task].copy()
        kind = self.rng.integers(3)
        if kind == 2:
            part = self._exchangeable(solution)
            first, second = np.unique(solution.ravel()[part])
            solution.ravel()[part] = first + second - solution.ravel()[part]
            puzzle = np.where(puzzle > 0, solution, 0).astype(np.int8)
        else:
            cells = np.flatnonzero((puzzle == 0) == (kind == 1))
            if len(cells) == 0:
                return None
            cell = self.rng.choice(cells)
            puzzle.ravel()[cell] = solution.ravel()[cell] if kind == 1 else 0
        if (puzzle > 0).all() or solver.count_solutions(puzzle[None], 2, self._geometry)[0] != 1:
            return None
        return puzzle, solution

    def _exchangeable(self, solution: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return the cells of two digits that are connected with a random one of them by units."""
        digits = self.rng.choice(self._geometry.size, 2, replace=False) + 1
        cells = np.flatnonzero(np.isin(solution, digits))
        part = {int(self.rng.choice(cells))}
        while True:
            near = np.intersect1d(self._geometry.peers[list(part)], cells)
            if part.issuperset(near.tolist()):
                return np.array(sorted(part))
            part.update(near.tolist())
