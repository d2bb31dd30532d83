"""Schedules: how the number of blanks moves while an agent learns.

Each is a pair: a frozen configuration (`SuccessRateConfig`), which a command line shows and a run
writes down, and the running schedule (`SuccessRate`) that `config.build()` starts. `Curriculum`
connects it with environments and trainers.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from math import ceil
from typing import Any, Literal, Protocol, TypeVar

from sudoku_curricula.base import Reason, Schedule, check_levels
from sudoku_gym import plugins
from sudoku_gym.evaluation.intervals import wilson_interval
from sudoku_gym.storage.checks import check_counts, check_shares
from sudoku_gym.storage.configs import registered, registered_group

_Config = TypeVar("_Config", bound="ScheduleConfig")


class ScheduleConfig(Protocol):
    """The configuration of a schedule: a frozen dataclass of numbers and strings."""

    def build(self) -> Schedule:
        """Start the schedule."""


SCHEDULES: dict[str, type[ScheduleConfig]] = {}
"""The schedules by name; `register_schedule` adds to them."""


def register_schedule(name: str) -> Callable[[type[_Config]], type[_Config]]:
    """Give a schedule's configuration a name: a decorator for frozen dataclasses.

    Then `make_schedule(name)` makes it, trainers have it as an option, `curriculum:name`, and runs
    can be saved with it.

    Raises:
        ValueError: if another schedule has the name.
        TypeError: if it is no dataclass with a method `build`.
    """

    def register(config: type[_Config]) -> type[_Config]:
        if not is_dataclass(config) or not callable(getattr(config, "build", None)):
            raise TypeError(f"{name!r}: {config!r} is no dataclass with a method build()")
        SCHEDULES[name] = registered(f"schedule/{name}")(config)
        return config

    return register


def all_schedules() -> dict[str, type[ScheduleConfig]]:
    """Return `SCHEDULES`, once those of other packages have been entered.

    These are entry points of the group `sudoku_gym.schedules`. One that can't be loaded is left
    out, with a warning.
    """
    for name in plugins.available("schedules"):
        if name not in SCHEDULES:
            try:
                register_schedule(name)(plugins.load("schedules", name))
            except Exception as error:  # of another package
                warnings.warn(f"the schedule {name!r} is left out: {error!r}", stacklevel=2)
    return SCHEDULES


registered_group(ScheduleConfig, lambda: all_schedules().values())


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


class Constant(Schedule):
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


class Linear(Schedule):
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


class SuccessRate(Schedule):
    """See `SuccessRateConfig`. It is finished when the last level is proven too."""

    def __init__(self, config: SuccessRateConfig) -> None:
        super().__init__(config.start, config.stop, config.step)
        self.config = config
        self._results: deque[tuple[int, int]] = deque()
        self._successes = self._count = 0  # their sums

    def distribution(self) -> dict[int, float]:
        """Return the current level and, sharing the rehearsal weight, the levels below it."""
        lower = self.levels[: self.levels.index(self.level)]
        if not lower or not self.config.rehearsal:
            return {self.level: 1.0}
        share = self.config.rehearsal / len(lower)
        return {**dict.fromkeys(lower, share), self.level: 1 - self.config.rehearsal}

    def interval(self) -> tuple[float, float]:
        """Return the Wilson 95 % interval of success at the current level, over the window."""
        return wilson_interval(self._successes, self._count)

    def state_dict(self) -> dict[str, Any]:
        """See `Schedule.state_dict`."""
        return {**super().state_dict(), "results": [list(pair) for pair in self._results]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """See `Schedule.load_state_dict`."""
        super().load_state_dict(state)
        self.start_level()
        for successes, count in state["results"]:
            self._add(successes, count)

    def record(self, successes: int, count: int) -> Literal["success"] | None:
        """End the level when the bound over the window passes the threshold."""
        self._add(successes, count)
        while self._count - self._results[0][1] >= self.config.window:
            oldest_successes, oldest_count = self._results.popleft()
            self._successes -= oldest_successes
            self._count -= oldest_count
        self.rate = self._successes / self._count
        proven = self._count >= self.config.min_count and self.interval()[0] > self.config.threshold
        return "success" if proven else None

    def start_level(self) -> None:
        """Discard the games of the previous level."""
        self._results.clear()
        self._successes = self._count = 0

    def _add(self, successes: int, count: int) -> None:
        self._results.append((successes, count))
        self._successes += successes
        self._count += count


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


class Algorithm1(Schedule):
    """See `Algorithm1Config`. `history` holds the reason why each level ended."""

    def __init__(self, config: Algorithm1Config) -> None:
        super().__init__(config.start, config.stop, metric=config.metric)
        self.config = config

    def record(self, successes: int, count: int) -> Reason | None:
        """End the level when one iteration exceeds gamma, or the iterations are used up."""
        if successes > self.config.gamma * count:
            return "success"
        return "limit" if self.updates >= self.config.max_iterations else None


def configure_schedule(name: str, **options: Any) -> ScheduleConfig:
    """Return a schedule's configuration by its name.

    Args:
        name: a key of `all_schedules`; options may stand in it too, as in `"success-rate?start=2"`.
        **options: the fields of the configuration, e.g. `start=2, stop=12`.

    Raises:
        ValueError: if there is no such schedule, it has no such option (the message lists those
            it has), or a value is out of range.
    """
    known, written = plugins.split_options(name)
    schedules = SCHEDULES if known in SCHEDULES else all_schedules()
    if known not in schedules:
        raise ValueError(f"no schedule is called {known!r}: use {', '.join(schedules)}")
    config = schedules[known]
    return config(**plugins.checked_options(config, known, written, options))


def make_schedule(name: str, **options: Any) -> Schedule:
    """Start a schedule by its name; see `configure_schedule`."""
    return configure_schedule(name, **options).build()
