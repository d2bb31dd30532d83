"""Single puzzles by regret and by age: prioritised level replay, PLR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sudoku_curricula.base import Results, Schedule, register_schedule
from sudoku_gym.storage.checks import check_positive, check_shares

NEVER = -1  # the update in which a new task was played


@register_schedule("replay")
@dataclass(frozen=True)
class ReplayConfig:
    """Replay single puzzles by their regret and by how long ago they were played.

    The regret is 1 less the share of solved games, exact here, since every puzzle can be solved. A
    replayed task has weight (1 - staleness) * h + staleness * c: h falls with the rank of its
    regret as rank^(-1 / temperature), c grows with the updates since it was played (Jiang et al.
    2021, arXiv 2010.03934). With `robust`, only replayed tasks are trained on (Jiang et al. 2021,
    arXiv 2110.02439): new ones are only scored, see `trains`.
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
        self.played = np.full(len(self.tasks), NEVER, np.int64)

    def weights(self) -> NDArray[np.float64]:
        """Return the weights of replayed and of new tasks."""
        return self.weights_among(np.arange(len(self.tasks)))

    def weights_among(self, tasks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the weights of K tasks, were there no others: float64 `[K]`."""
        played = self.played[tasks]
        seen = played != NEVER
        if not seen.any():
            return np.full(len(seen), 1 / len(seen))
        ranks = 1.0 + np.argsort(np.argsort(-self.scores[tasks][seen], kind="stable"))
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
        return (self.played != NEVER) | (not self.config.robust)

    def update(self, results: Results) -> bool:
        """Score the tasks that were played."""
        self.updates += 1
        self.scores[results.tasks] = 1 - results.successes / results.counts
        self.played[results.tasks] = self.updates
        return True
