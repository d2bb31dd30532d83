"""One number of blanks at a time: constant, rising evenly, and rising once success is proven."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudoku_curricula.base import LevelSchedule, Reason, check_levels, register_schedule
from sudoku_gym.evaluation.intervals import wilson_interval
from sudoku_gym.storage.checks import check_counts, check_shares


@register_schedule("constant")
@dataclass(frozen=True)
class ConstantConfig:
    """A constant number of blanks: no curriculum."""

    blanks: int = 8
    """Number of blanks."""

    def __post_init__(self) -> None:
        check_levels(self.blanks, self.blanks)

    def build(self) -> Constant:
        """Start the schedule."""
        return Constant(self)


class Constant(LevelSchedule):
    """See `ConstantConfig`. It is never finished."""

    def __init__(self, config: ConstantConfig) -> None:
        super().__init__(config.blanks, config.blanks)
        self.config = config

    def record(self, successes: int, count: int) -> None:
        """Stay."""


@register_schedule("linear")
@dataclass(frozen=True)
class LinearConfig:
    """Blanks grow evenly with the number of updates, whatever the success."""

    start: int = 2
    """First number of blanks."""
    stop: int = 12
    """Last number of blanks."""
    updates: int = 100
    """Updates in all, at least 2, shared evenly; if they are few, a level adds several blanks."""

    def __post_init__(self) -> None:
        check_levels(self.start, self.stop)
        if self.updates < 2:
            raise ValueError(f"updates must be at least 2, not {self.updates}")

    def build(self) -> Linear:
        """Start the schedule."""
        return Linear(self)


class Linear(LevelSchedule):
    """See `LinearConfig`. It is finished when all updates are used up."""

    def __init__(self, config: LinearConfig) -> None:
        step = max(1, ceil((config.stop - config.start) / (config.updates - 1)))
        super().__init__(config.start, config.stop, step)
        self.config = config

    def record(self, successes: int, count: int) -> Literal["limit"] | None:
        """End the level when its share of the updates is used up."""
        total = sum(advance.updates for advance in self.history) + self.updates
        begun = self.levels.index(self.level) + 1
        due = ceil(begun * self.config.updates / len(self.levels))
        return "limit" if total >= due else None


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
        check_levels(self.start, self.stop)
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

    def interval(self) -> tuple[float, float]:
        """Return the Wilson 95 % interval of success at the current level, over the window."""
        return wilson_interval(*self._sums())

    def record(self, successes: int, count: int) -> Literal["success"] | None:
        """End the level when the bound over the window passes the threshold."""
        self.results = [*self.results, [successes, count]]
        won, played = self._sums()
        while played - self.results[0][1] >= self.config.window:
            self.results = self.results[1:]
            won, played = self._sums()
        self.rate = won / played
        proven = played >= self.config.min_count and self.interval()[0] > self.config.threshold
        return "success" if proven else None

    def start_level(self) -> None:
        """Discard the games of the previous level."""
        self.results = []

    def _sums(self) -> tuple[int, int]:
        return sum(won for won, _ in self.results), sum(played for _, played in self.results)


@register_schedule("algorithm-1")
@dataclass(frozen=True)
class Algorithm1Config:
    """The curriculum of cAlphaZero: one blank more after enough accuracy, or enough iterations.

    One update is one iteration of Algorithm 1. The paper names neither gamma nor the maximum.

    Source: cAlphaZero (Agarwal et al.), section 4.3 and Algorithm 1.
    """

    start: int = 2
    """First number of blanks (the paper's 2)."""
    stop: int = 12
    """Last number of blanks, the u of Algorithm 1."""
    gamma: float = 0.95
    """Advance when the metric of one iteration exceeds this, in [0, 1]."""
    max_iterations: int = 20
    """Iterations at a level after which it advances regardless of success."""
    metric: Literal["policy_accuracy", "completion"] = "policy_accuracy"
    """Metric that moves the level: `policy_accuracy`, the paper's alpha, is the share of training
    positions where the policy's first choice is the search's; `completion` is the share of games
    solved."""

    def __post_init__(self) -> None:
        check_levels(self.start, self.stop)
        check_shares(self, "gamma")
        check_counts(self, "max_iterations")

    def build(self) -> Algorithm1:
        """Start the schedule."""
        return Algorithm1(self)


class Algorithm1(LevelSchedule):
    """See `Algorithm1Config`. `history` holds the reason why each level ended."""

    def __init__(self, config: Algorithm1Config) -> None:
        super().__init__(config.start, config.stop, metric=config.metric)
        self.config = config

    def record(self, successes: int, count: int) -> Reason | None:
        """End the level when one iteration exceeds gamma, or the iterations are used up."""
        if successes > self.config.gamma * count:
            return "success"
        return "limit" if self.updates >= self.config.max_iterations else None
