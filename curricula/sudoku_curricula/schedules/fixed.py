"""What success does not move: a constant level, one that grows evenly, and all tasks alike."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudoku_curricula.base import LevelSchedule, Results, Schedule, check_levels, register_schedule


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
    """Updates in all, shared evenly by the levels; at least one a level."""

    def __post_init__(self) -> None:
        check_levels(self.start, self.stop)
        levels = self.stop - self.start + 1
        if self.updates < levels:
            raise ValueError(f"updates must be at least {levels}, one a level, not {self.updates}")

    def build(self) -> Linear:
        """Start the schedule."""
        return Linear(self)


class Linear(LevelSchedule):
    """See `LinearConfig`. It is finished when all updates are used up."""

    def __init__(self, config: LinearConfig) -> None:
        super().__init__(config.start, config.stop)
        self.config = config

    def record(self, successes: int, count: int) -> Literal["limit"] | None:
        """End the level when its share of the updates is used up."""
        total = sum(advance.updates for advance in self.history) + self.updates
        left = self.level - self.config.start + 1
        due = ceil(left * self.config.updates / len(self.levels))
        return "limit" if total >= due else None


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
