"""The curricula that look at no success: a constant number of blanks, and one that rises evenly."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal

from sudoku_curricula.base import LevelSchedule, register_schedule


@register_schedule("constant")
@dataclass(frozen=True)
class ConstantConfig:
    """A constant number of blanks: no curriculum."""

    blanks: int = 8
    """Number of blanks."""

    def build(self) -> Constant:
        """Start the schedule."""
        return Constant(self)


class Constant(LevelSchedule):
    """See `ConstantConfig`. It is never finished."""

    def __init__(self, config: ConstantConfig) -> None:
        super().__init__(config.blanks, config.blanks)

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
