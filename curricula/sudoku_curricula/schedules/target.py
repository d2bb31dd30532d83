"""The difficulty where success has a target value (AdaRFT: Shi et al. 2025)."""

from __future__ import annotations

from dataclasses import dataclass
from math import tanh

import numpy as np
from numpy.typing import NDArray

from sudoku_curricula.base import Results, Schedule, register_schedule
from sudoku_gym.storage.checks import check_positive, check_shares


@register_schedule("target")
@dataclass(frozen=True)
class TargetConfig:
    """Train at the difficulty where success has a target value; it rises and falls.

    The tasks are taken to be in the order of their difficulty. After each update the difficulty d,
    a place in that order, becomes d + step * tanh(sensitivity * (success - success_target)), as in
    Shi et al. (2025, arXiv 2504.05520). A d between two tasks weighs both.
    """

    tasks: str = "blanks=2..12"
    """The tasks, as in `sudoku_gym.puzzles.Tasks`, from easy to hard."""
    success_target: float = 0.5
    """The share of solved games to be held, beta in the paper."""
    step: float = 0.5
    """The most tasks that an update may move, eta in the paper."""
    sensitivity: float = 2.0
    """How fast the step saturates as success leaves its target, alpha in the paper."""

    def __post_init__(self) -> None:
        check_shares(self, "success_target")
        check_positive(self, "step", "sensitivity")

    def build(self) -> Target:
        """Start the schedule at the first task."""
        return Target(self)


class Target(Schedule):
    """See `TargetConfig`.

    Attributes:
        difficulty: the place d in the order of the tasks, 0 to T - 1.
    """

    kept = ("difficulty",)

    def __init__(self, config: TargetConfig) -> None:
        super().__init__(config.tasks)
        self.config = config
        self.difficulty = 0.0

    def weights(self) -> NDArray[np.float64]:
        """Return weights of the two tasks around d, of the nearer one more."""
        return np.maximum(0.0, 1 - np.abs(np.arange(len(self.tasks)) - self.difficulty))

    def update(self, results: Results) -> bool:
        """Move d by the success of all games together."""
        success = results.successes.sum() / results.counts.sum()
        move = tanh(self.config.sensitivity * (success - self.config.success_target))
        before, last = self.difficulty, len(self.tasks) - 1
        self.difficulty = float(np.clip(before + self.config.step * move, 0, last))
        return self.difficulty != before
