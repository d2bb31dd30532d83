"""Tasks whose success changes (Kanitscheider et al. 2021)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudoku_curricula.base import Results, Schedule, mixed_with_uniform, register_schedule
from sudoku_gym.storage.checks import check_counts, check_positive, check_shares


@register_schedule("learning-progress")
@dataclass(frozen=True)
class LearningProgressConfig:
    """Weigh tasks by how fast success changes: mastered and hopeless ones are left.

    Progress is |f(p) - f(q)|, where p is a fast moving average of a task's success, q a slow one of
    p, and f stretches small shares, since the first successes say most. Kanitscheider et al. (2021,
    arXiv 2106.14876); bidirectional as theirs, so that what is being forgotten counts
    too. They pass the progress through a sigmoid of its z-score; here the weights are the progress
    itself, which needs no further setting where tasks are few.
    """

    tasks: str = "blanks=2..12"
    """The tasks, as in `sudoku_gym.puzzles.Tasks`."""
    games: int = 200
    """Games of a task over which its fast average forgets; the slow one takes four times more."""
    stretch: float = 0.1
    """The success that f maps to one half, p_theta in the paper."""
    uniform: float = 0.2
    """Share of the draws that is spread over all tasks, so that their averages stay true."""

    def __post_init__(self) -> None:
        check_counts(self, "games")
        check_shares(self, "stretch", "uniform")
        check_positive(self, "stretch")

    def build(self) -> LearningProgress:
        """Start the schedule with equal weights."""
        return LearningProgress(self)


class LearningProgress(Schedule):
    """See `LearningProgressConfig`.

    Attributes:
        fast, slow: the averages of success, float64 `[T]`.
    """

    kept = ("fast", "slow")

    def __init__(self, config: LearningProgressConfig) -> None:
        super().__init__(config.tasks)
        self.config = config
        self.fast, self.slow = np.zeros((2, len(self.tasks)))

    def weights(self) -> NDArray[np.float64]:
        """Return weights in proportion to progress; equal ones where there is none."""
        progress = np.abs(self._stretched(self.fast) - self._stretched(self.slow))
        return mixed_with_uniform(progress, self.config.uniform)

    def update(self, results: Results) -> bool:
        """Move the averages of the tasks that were played."""
        played, games = results.tasks, self.config.games
        kept = (1 - 1 / games) ** results.counts
        kept_slow = (1 - 1 / (4 * games)) ** results.counts
        rates = results.successes / results.counts
        self.fast[played] = kept * self.fast[played] + (1 - kept) * rates
        self.slow[played] = kept_slow * self.slow[played] + (1 - kept_slow) * self.fast[played]
        return True

    def _stretched(self, share: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return f: 0 at 0, 1 at 1, one half at `stretch`."""
        half = self.config.stretch
        return (1 - half) * share / (share + half * (1 - 2 * share))
