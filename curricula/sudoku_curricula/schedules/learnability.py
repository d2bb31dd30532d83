"""Tasks that are solved sometimes, by p (1 - p) (SFL: Rutherford et al. 2024)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudoku_curricula.base import Results, Schedule, mixed_with_uniform, register_schedule
from sudoku_gym.storage.checks import check_counts, check_shares


@register_schedule("learnability")
@dataclass(frozen=True)
class LearnabilityConfig:
    """Weigh tasks by p (1 - p), where p is their success: what is always or never solved is left.

    Rutherford et al. (2024, arXiv 2408.15099), who estimate p by rollouts on many tasks
    in between. Tasks are few here and all are played all the time, so p comes from their latest
    games. A task without games counts as p = 1/2.
    """

    tasks: str = "blanks=2..12"
    """The tasks, as in `sudoku_gym.puzzles.Tasks`."""
    games: int = 200
    """Games of a task over which its estimate forgets."""
    uniform: float = 0.1
    """Share of the draws that is spread over all tasks, so that their estimates stay true."""

    def __post_init__(self) -> None:
        check_counts(self, "games")
        check_shares(self, "uniform")

    def build(self) -> Learnability:
        """Start the schedule with equal weights."""
        return Learnability(self)


class Learnability(Schedule):
    """See `LearnabilityConfig`.

    Attributes:
        solved, failed: latest games of each task, older ones counted less: float64 `[T]`.
    """

    kept = ("solved", "failed")

    def __init__(self, config: LearnabilityConfig) -> None:
        super().__init__(config.tasks)
        self.config = config
        self.solved, self.failed = np.zeros((2, len(self.tasks)))

    def weights(self) -> NDArray[np.float64]:
        """Return weights in proportion to the mean of p (1 - p) over the posterior of p."""
        solved, failed = self.solved + 1, self.failed + 1  # of a Beta distribution
        games = solved + failed
        learnable = solved * failed / (games * (games + 1))
        return mixed_with_uniform(learnable, self.config.uniform)

    def update(self, results: Results) -> bool:
        """Count the games, and forget some of the older ones."""
        played = results.tasks
        kept = (1 - 1 / self.config.games) ** results.counts
        self.solved[played] = kept * self.solved[played] + results.successes
        self.failed[played] = kept * self.failed[played] + results.counts - results.successes
        return True
