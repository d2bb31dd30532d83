"""Puzzles that are edited while a learner still fails them: ACCEL (Parker-Holder et al. 2022)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sudoku_curricula.base import Results
from sudoku_curricula.registry import register_schedule
from sudoku_curricula.schedules.replay import NEVER, Replay, ReplayConfig
from sudoku_gym.puzzles.editing import edited
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import resolve_source
from sudoku_gym.puzzles.tasks import PuzzleWeights
from sudoku_gym.storage.checks import check_counts

_FORMER = ("former_puzzles", "former_solutions", "former_scores", "former_played")


@register_schedule("edit")
@dataclass(frozen=True)
class EditConfig:
    """Replay puzzles of a buffer, edit those with the most regret, and keep what is harder.

    The buffer begins with easy puzzles. At each update puzzles are drawn by their replay weights
    and edited: a given more, a given less, or two digits exchanged in a part of the solution where
    they can be. A child takes the place of the puzzle with the least weight, and gives it back if
    its own first score is lower. Parker-Holder et al. (2022, arXiv 2203.01302), Algorithm 1;
    their editor adds and removes walls of a maze. A game that began before an edit is scored as one
    of the child.
    """

    source: str = "9x9"
    """A bank, or what else `resolve_source` takes; its training part is used."""
    start: int = 10
    """Number of blanks of the first puzzles."""
    size: int = 256
    """Number of puzzles in the buffer."""
    edits: int = 8
    """Puzzles edited at each update."""
    replayed: float = 0.8
    """Share of the draws that replay, while there are puzzles without a score."""
    temperature: float = 0.3
    """How flat the weights are over the ranks."""
    staleness: float = 0.1
    """Share of the replays that go by staleness."""
    seed: int = 0
    """Draws the first puzzles and the edits."""

    def __post_init__(self) -> None:
        check_counts(self, "size", "edits")

    def build(self) -> Edit:
        """Start the schedule with easy puzzles."""
        return Edit(self)


class Edit(Replay):
    """See `EditConfig`.

    Attributes:
        puzzles, solutions: the buffer, int8 `[K, N, N]`.
        is_child: which of them are children without a score, bool `[K]`.
    """

    kept = (*Replay.kept, "puzzles", "solutions", "is_child", *_FORMER)

    def __init__(self, config: EditConfig) -> None:
        tasks = f"puzzle=0..{config.size - 1}"
        super().__init__(
            ReplayConfig(
                tasks,
                replayed=config.replayed,
                temperature=config.temperature,
                staleness=config.staleness,
            )
        )
        self.edits = config.edits
        self._rng = np.random.default_rng(config.seed)
        source = resolve_source(config.source, "train")
        self._geometry = source.geometry
        self.puzzles, self.solutions = source.sample(config.size, config.start, self._rng)
        self.is_child = np.zeros(config.size, np.bool_)
        self.former_scores = self.scores.copy()
        for name in _FORMER:  # what stood in the place of each child
            setattr(self, name, getattr(self, name.removeprefix("former_")).copy())

    def blanks(self) -> PuzzleWeights:
        """Return the buffer and its weights."""
        puzzle_set = PuzzleSet(self.puzzles, self.solutions, self._geometry, "edited puzzles")
        return PuzzleWeights(puzzle_set, self.weights())

    def update(self, results: Results) -> bool:
        """Score the puzzles that were played, give up children that are easier, and edit."""
        super().update(results)
        scored = results.tasks[self.is_child[results.tasks]]
        self.is_child[scored] = False
        for slot in scored[self.scores[scored] < self.former_scores[scored]]:
            for name in _FORMER:
                getattr(self, name.removeprefix("former_"))[slot] = getattr(self, name)[slot]
        weights = np.where(self.played == NEVER, 0.0, self.weights())
        parents = self._rng.choice(len(weights), self.edits, p=weights / weights.sum())
        places = [slot for slot in np.argsort(weights, kind="stable") if weights[slot] > 0]
        for parent, slot in zip(parents.tolist(), places, strict=False):
            child = edited(self.puzzles[parent], self.solutions[parent], self._geometry, self._rng)
            if child is not None:
                for name in _FORMER:
                    getattr(self, name)[slot] = getattr(self, name.removeprefix("former_"))[slot]
                self.puzzles[slot], self.solutions[slot] = child
                self.played[slot], self.is_child[slot] = NEVER, True
        return True

    def state_dict(self) -> dict[str, Any]:
        """See `Schedule.state_dict`."""
        return {**super().state_dict(), "rng": self._rng.bit_generator.state}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """See `Schedule.load_state_dict`."""
        super().load_state_dict(state)
        self._rng.bit_generator.state = state["rng"]
