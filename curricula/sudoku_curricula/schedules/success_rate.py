"""More blanks once success is proven, by Wilson's interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudoku_curricula.base import LevelSchedule, register_schedule
from sudoku_gym.evaluation.intervals import wilson_interval
from sudoku_gym.storage.checks import check_counts, check_shares


@register_schedule("success-rate")
@dataclass(frozen=True)
class SuccessRateConfig:
    """Promote when the Wilson 95 % lower bound of success at the level passes a threshold.

    Feed it greedy games on held-out puzzles where you can: training games that explore or sample
    understate the skill, and games on trained puzzles overstate it.
    """

    start: int = 2
    """First number of blanks."""
    stop: int = 12
    """Last number of blanks."""
    step: int = 1
    """How many blanks a promotion adds."""
    threshold: float = 0.95
    """The share of solved games that the lower bound must exceed, in [0, 1]."""
    window: int = 400
    """Number of the latest games that count; older ones were played by a weaker agent."""
    min_count: int = 100
    """Fewest games before a promotion."""
    rehearsal: float = 0.3
    """Weight that all lower levels share evenly, in [0, 1); the current level has the rest."""

    def __post_init__(self) -> None:
        check_counts(self, "step", "window", "min_count")
        check_shares(self, "threshold", "rehearsal")
        if self.rehearsal == 1:
            raise ValueError("rehearsal must be less than 1, which leaves nothing for the level")
        if self.min_count > self.window:
            raise ValueError(f"min_count={self.min_count} is more than window={self.window}")
        most = wilson_interval(self.window, self.window)[0]
        if most <= self.threshold:
            raise ValueError(
                f"a window of {self.window} games can never prove more than {most:.4f}: widen it, "
                f"or lower the threshold of {self.threshold}"
            )

    def build(self) -> SuccessRate:
        """Start the schedule."""
        return SuccessRate(self)


class SuccessRate(LevelSchedule):
    """See `SuccessRateConfig`. It is finished when the last level is proven too."""

    kept = ("results",)

    def __init__(self, config: SuccessRateConfig) -> None:
        super().__init__(config.start, config.stop, config.step)
        self.config = config
        self.results: list[list[int]] = []  # successes and count of the updates in the window

    def weights(self) -> NDArray[np.float64]:
        """Return weights of the current level and, sharing the rehearsal's, of those below it."""
        weights, lower = super().weights(), self.levels.index(self.level)
        if lower:
            weights[lower] -= self.config.rehearsal
            weights[:lower] = self.config.rehearsal / lower
        return weights

    def record(self, successes: int, count: int) -> Literal["success"] | None:
        """End the level when the bound over the window passes the threshold."""
        self.results = [*self.results, [successes, count]]
        while sum(played for _, played in self.results[1:]) >= self.config.window:
            self.results = self.results[1:]
        won, played = map(sum, zip(*self.results, strict=True))
        self.rate = won / played
        low, _ = wilson_interval(won, played)
        proven = played >= self.config.min_count and low > self.config.threshold
        return "success" if proven else None

    def start_level(self) -> None:
        """Discard the games of the previous level."""
        self.results = []
