"""Tasks as the arms of an adversarial bandit: EXP3.S (Graves et al. 2017), or SEC (2025)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudoku_curricula.base import Results, Schedule, mixed_with_uniform, register_schedule
from sudoku_gym.storage.checks import check_positive, check_shares

_MEMORY = 1000  # rewards that the scale is taken from


@register_schedule("bandit")
@dataclass(frozen=True)
class BanditConfig:
    """Draw the tasks that teach most, by their rewards so far.

    The reward of a task is the mean absolute advantage of its games where the trainer measures it
    (Chen et al. 2025, arXiv 2505.14970). Else it is 2 p (1 - p) with their success p:
    the same where a return is 0 or 1 and p its baseline.
    """

    tasks: str = "blanks=2..12"
    """The tasks, as in `sudoku_gym.puzzles.Tasks`."""
    rule: Literal["exp3.s", "softmax"] = "softmax"
    """`exp3.s`: Graves et al. (2017, arXiv 1704.03003), rewards scaled by their 20 and
    80 % quantiles; `softmax`: Chen et al. (2025), a moving average of the rewards of each task."""
    rate: float = 0.2
    """Step of the weights (eta), or of the moving average (alpha)."""
    temperature: float = 0.05
    """Of the softmax; a smaller one is greedier."""
    uniform: float = 0.1
    """Share of the draws that is spread over all tasks, epsilon."""

    def __post_init__(self) -> None:
        if self.rule not in ("exp3.s", "softmax"):
            raise ValueError(f"rule must be exp3.s or softmax, not {self.rule!r}")
        check_positive(self, "rate", "temperature")
        check_shares(self, "uniform")

    def build(self) -> Bandit:
        """Start the schedule with equal weights."""
        return Bandit(self)


class Bandit(Schedule):
    """See `BanditConfig`.

    Attributes:
        values: log-weights of EXP3.S, or the averages of the rewards, float64 `[T]`.
    """

    kept = ("values", "rewards")

    def __init__(self, config: BanditConfig) -> None:
        super().__init__(config.tasks)
        self.config = config
        self.values = np.zeros(len(self.tasks))
        self.rewards = np.empty(0)  # the latest, which EXP3.S is scaled by

    def weights(self) -> NDArray[np.float64]:
        """Return the softmax of the values, mixed with equal weights."""
        heat = self.config.temperature if self.config.rule == "softmax" else 1.0
        odds = np.exp((self.values - self.values.max()) / heat)
        return mixed_with_uniform(odds, self.config.uniform)

    def update(self, results: Results) -> bool:
        """Reward the tasks that were played."""
        played, rates = results.tasks, results.successes / results.counts
        measured = np.isfinite(results.advantages)
        rewards = np.where(measured, results.advantages, 2 * rates * (1 - rates))
        if self.config.rule == "softmax":
            self.values[played] += self.config.rate * (rewards - self.values[played])
        else:
            self._update_exp3s(results, rewards)
        return True

    def _update_exp3s(self, results: Results, rewards: NDArray[np.float64]) -> None:
        """Move the log-weights; at the t-th time the others get 1 / t of what each has gained."""
        self.updates += 1
        self.rewards = np.append(self.rewards, rewards)[-_MEMORY:]
        low, high = np.quantile(self.rewards, (0.2, 0.8))
        scaled = np.clip(2 * (rewards - low) / max(high - low, 1e-12) - 1, -1, 1)
        gained, played = self.values.copy(), results.tasks
        shares = results.counts / results.counts.sum()
        gained[played] += self.config.rate * shares * scaled / self.weights()[played]
        others = max(len(gained) - 1, 1)
        part = 1 / (1 + self.updates)
        total = np.exp(gained - gained.max())
        mixed = (1 - part) * total + part / others * (total.sum() - total)
        self.values = np.log(mixed) - np.log(mixed).max()
