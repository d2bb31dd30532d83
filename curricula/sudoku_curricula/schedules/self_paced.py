"""A distribution that moves to its target as fast as success allows (Klink et al. 2021)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudoku_curricula.base import Results, Schedule, register_schedule
from sudoku_gym.storage.checks import check_counts, check_positive, check_shares

_BISECTIONS = 60
_LARGEST = 1e6  # multiplier
_LEAST = 1e-12  # weight beside a largest of 1: none may become 0, whose logarithm is infinite


@register_schedule("self-paced")
@dataclass(frozen=True)
class SelfPacedConfig:
    """Move the distribution over tasks to the hardest one, while success stays above a bound.

    Each update takes the distribution p nearest to the target t, in KL(p || t), with an expected
    success of at least `success` and KL(p || p before) of at most `divergence`; while the success
    can't be had within that divergence, the p that comes closest to it. Klink et al. (2021, arXiv
    2102.13176), with tasks in place of a continuous context, where the optimum has a
    closed form with two multipliers. The target gives `floor` of its weight to all tasks.
    """

    tasks: str = "blanks=2..12"
    """The tasks, as in `sudoku_gym.puzzles.Tasks`; the last one is the target."""
    success: float = 0.6
    """Least expected share of solved games, V_LB in the paper."""
    divergence: float = 0.1
    """The most that one update moves the distribution, in nats; epsilon in the paper."""
    games: int = 200
    """Games of a task over which the estimate of its success forgets."""
    floor: float = 0.05
    """Weight that the target spreads over all tasks."""

    def __post_init__(self) -> None:
        check_shares(self, "success", "floor")
        check_positive(self, "divergence", "floor")
        check_counts(self, "games")

    def build(self) -> SelfPaced:
        """Start the schedule at the first tasks."""
        return SelfPaced(self)


class SelfPaced(Schedule):
    """See `SelfPacedConfig`.

    Attributes:
        distribution: the weights, float64 `[T]`.
        success: the estimated success of each task, float64 `[T]`; 0 before its first game.
    """

    kept = ("distribution", "success")

    def __init__(self, config: SelfPacedConfig) -> None:
        super().__init__(config.tasks)
        self.config = config
        count = len(self.tasks)
        self.distribution = np.full(count, config.floor / count)
        self.distribution[0] += 1 - config.floor
        self._target = self.distribution[::-1].copy()
        self.success = np.zeros(count)

    def weights(self) -> NDArray[np.float64]:
        """Return the distribution."""
        return self.distribution.copy()

    def update(self, results: Results) -> bool:
        """Move the estimates, then the distribution."""
        kept = (1 - 1 / self.config.games) ** results.counts
        rates = results.successes / results.counts
        self.success[results.tasks] *= kept
        self.success[results.tasks] += (1 - kept) * rates
        before, most, least = self.distribution, self.config.divergence, self.config.success

        def tilted(log_weights: NDArray[np.float64], multiplier: float) -> NDArray[np.float64]:
            tilt = log_weights + multiplier * self.success
            weights = np.maximum(np.exp(tilt - tilt.max()), _LEAST)
            return np.asarray(weights / weights.sum())

        def nearest(pull: float) -> NDArray[np.float64]:
            """Minimise KL(p || target) + pull * KL(p || before) at enough success."""
            mean = (np.log(self._target) + pull * np.log(before)) / (1 + pull)
            if tilted(mean, 0) @ self.success >= least:
                return tilted(mean, 0)
            return tilted(mean, bisect(lambda by: bool(tilted(mean, by) @ self.success >= least)))

        def far(weights: NDArray[np.float64]) -> bool:
            return bool(weights @ np.log(weights / before) > most)

        surest = tilted(np.log(before), bisect(lambda by: far(tilted(np.log(before), by))))
        if surest @ self.success < least:
            self.distribution = surest
        elif far(nearest(0)):
            self.distribution = nearest(bisect(lambda pull: not far(nearest(pull))))
        else:
            self.distribution = nearest(0)
        return True


def bisect(holds: Callable[[float], bool]) -> float:
    """Return about the least multiplier from which on a condition holds; the largest if none."""
    low, high = 0.0, 1.0
    while not holds(high) and high < _LARGEST:
        low, high = high, 4 * high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
