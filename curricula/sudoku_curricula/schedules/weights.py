"""Weights of tasks by their success: all alike, by learnability, by progress, by a target."""

from __future__ import annotations

from dataclasses import dataclass
from math import tanh

import numpy as np
from numpy.typing import NDArray

from sudoku_curricula.base import Results, Schedule, mixed_with_uniform, register_schedule
from sudoku_gym.storage.checks import check_counts, check_positive, check_shares


@register_schedule("uniform")
@dataclass(frozen=True)
class UniformConfig:
    """Draw every task equally often: domain randomisation."""

    tasks: str = "blanks=2..12"
    """The tasks, as in `sudoku_gym.puzzles.Tasks`."""

    def build(self) -> Uniform:
        """Start the schedule."""
        return Uniform(self)


class Uniform(Schedule):
    """See `UniformConfig`."""

    def __init__(self, config: UniformConfig) -> None:
        super().__init__(config.tasks)

    def weights(self) -> NDArray[np.float64]:
        """Return equal weights."""
        return np.full(len(self.tasks), 1 / len(self.tasks))

    def update(self, results: Results) -> bool:
        """Stay."""
        return False


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
        before = self.difficulty
        moved = before + self.config.step * move
        self.difficulty = float(np.clip(moved, 0, len(self.tasks) - 1))
        return self.difficulty != before
