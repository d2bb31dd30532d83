"""Replay of the tasks with most left to learn: prioritised level replay (Jiang et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sudoku_curricula.base import Results, Schedule
from sudoku_curricula.registry import register_schedule
from sudoku_gym.puzzles.tasks import Tasks
from sudoku_gym.storage.checks import check_positive, check_shares

NEVER = -1


@register_schedule("replay")
@dataclass(frozen=True)
class ReplayConfig:
    """Replay single puzzles by a score and by how long ago they were played.

    A replayed task has weight (1 - staleness) * h + staleness * c: h falls with the rank of its
    score as rank^(-1 / temperature), c grows with the updates since it was played (Jiang et al.
    2021, arXiv 2010.03934). With `robust`, only replayed tasks are trained
    on (Jiang et al. 2021, arXiv 2110.02439): new ones are only scored, see `trains`.
    """

    tasks: str = "puzzle=0..999"
    """The tasks, as in `sudoku_gym.puzzles.Tasks`."""
    score: Literal["regret", "advantage"] = "regret"
    """`regret`: 1 less the share of solved games, exact here, since every puzzle can be solved;
    `advantage`: the mean absolute advantage, where the trainer measures it."""
    replayed: float = 0.5
    """Share of the draws that replay, while there are new tasks."""
    temperature: float = 0.3
    """How flat the weights are over the ranks, beta."""
    staleness: float = 0.1
    """Share of the replays that go by staleness, rho."""
    robust: bool = False
    """Whether games on new tasks only score them; PPO of Stable-Baselines3 heeds it."""

    def __post_init__(self) -> None:
        if self.score not in ("regret", "advantage"):
            raise ValueError(f"score must be regret or advantage, not {self.score!r}")
        check_shares(self, "replayed", "staleness")
        check_positive(self, "temperature")

    def build(self) -> Replay:
        """Start the schedule: every task is new."""
        return Replay(self)


class Replay(Schedule):
    """See `ReplayConfig`.

    Attributes:
        scores: of the latest games of each task, float64 `[T]`.
        played: the update in which each was last played, int64 `[T]`; -1 for new ones.
    """

    kept: ClassVar[tuple[str, ...]] = ("scores", "played")

    def __init__(self, config: ReplayConfig) -> None:
        super().__init__(Tasks(config.tasks))
        self.config = config
        self.scores = np.zeros(len(self.tasks))
        self.played = np.full(len(self.tasks), NEVER, np.int64)

    def weights(self) -> NDArray[np.float64]:
        """Return the weights of replayed and of new tasks."""
        seen = self.played != NEVER
        if not seen.any():
            return np.full(len(seen), 1 / len(seen))
        order = np.argsort(-self.scores[seen], kind="stable")
        ranks = np.empty(len(order))
        ranks[order] = np.arange(1, len(order) + 1)
        by_score = ranks ** (-1 / self.config.temperature)
        age = (self.updates - self.played[seen]).astype(np.float64)
        stale = self.config.staleness if age.sum() else 0.0
        weights = np.zeros(len(seen))
        weights[seen] = (1 - stale) * by_score / by_score.sum() + stale * age / max(age.sum(), 1)
        if not seen.all():
            weights[seen] *= self.config.replayed
            weights[~seen] = (1 - self.config.replayed) / (~seen).sum()
        return weights

    def trains(self) -> NDArray[np.bool_]:
        """Return the tasks whose games are trained on, bool `[T]`: all but new ones if `robust`."""
        return (self.played != NEVER) | (not self.config.robust)

    def update(self, results: Results) -> bool:
        """Score the tasks that were played."""
        self.updates += 1
        if self.config.score == "regret":
            scores = 1 - results.successes / results.counts
        else:
            scores = results.advantages
            if not np.isfinite(scores).all():
                raise ValueError("replay by advantage takes a trainer that measures it: use regret")
        self.scores[results.tasks] = scores
        self.played[results.tasks] = self.updates
        return True
