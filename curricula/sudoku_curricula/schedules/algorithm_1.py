"""cAlphaZero's curriculum (Agarwal et al., Algorithm 1): accuracy, or enough iterations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sudoku_curricula.base import LevelSchedule, Reason, register_schedule
from sudoku_gym.storage.checks import check_counts, check_shares


@register_schedule("algorithm-1")
@dataclass(frozen=True)
class Algorithm1Config:
    """The curriculum of cAlphaZero: one blank more after enough accuracy, or enough iterations.

    One update is one iteration of Algorithm 1 (Agarwal et al., section 4.3). The paper names
    neither gamma nor the maximum.
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
