"""Schedules: weights over tasks, levels that rise, and their names.

Each is a pair: a frozen configuration (`SuccessRateConfig`), which a command line shows and a run
writes down, and the running schedule (`SuccessRate`) that `config.build()` starts. `Curriculum`
connects it with environments and trainers.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from math import nan
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from sudoku_gym import plugins
from sudoku_gym.puzzles.tasks import PuzzleWeights, Tasks, TaskWeights
from sudoku_gym.storage.configs import registered, registered_group

COMPLETION = "completion"  # the share of games solved

Reason = Literal["success", "limit"]
_Config = TypeVar("_Config", bound="ScheduleConfig")


class Results(NamedTuple):
    """What games on R different tasks showed; every task has one at least."""

    tasks: NDArray[np.int64]  # [R], indices into the tasks, rising
    successes: NDArray[np.int64]  # [R]
    counts: NDArray[np.int64]  # [R]
    advantages: NDArray[np.float64]  # [R], mean absolute advantages; nan: not measured

    @classmethod
    def of(cls, games: Iterable[tuple[int, int, int]], advantages: float = nan) -> Results:
        """Return results from triples of task, successes and count, at least 1; else ValueError."""
        tasks, successes, counts = np.array(sorted(games), np.int64).reshape(-1, 3).T
        for won, played in zip(successes.tolist(), counts.tolist(), strict=True):
            if not 0 <= won <= played > 0:
                raise ValueError(f"{won} successes of {played} games")
        return cls(tasks, successes, counts, np.full(len(tasks), advantages))


class Schedule(ABC):
    """Weights over tasks, and how results move them.

    A subclass defines `weights` and `update`, and names the attributes that a resumed run needs in
    `kept`, beside those of its base class: arrays, generators, or what JSON holds.

    Args:
        tasks: the tasks, as a text of `sudoku_gym.puzzles.Tasks`.
        metric: the metric that it moves by: `completion`, the share of games solved, or one that
            only some trainers measure, e.g. `policy_accuracy`.

    Attributes:
        finished: True once there is nothing left to move; a schedule that may always move stays
            False.
        updates: the number of updates so far, if the subclass counts them.
    """

    kept: ClassVar[tuple[str, ...]] = ("finished", "updates")

    def __init__(self, tasks: str, metric: str = COMPLETION) -> None:
        self.tasks = Tasks(tasks)
        self.metric = metric
        self.finished = False
        self.updates = 0

    @abstractmethod
    def weights(self) -> NDArray[np.float64]:
        """Return how often each task is to be drawn, float64 `[T]`, summing to 1."""

    @abstractmethod
    def update(self, results: Results) -> bool:
        """Feed results; return True if the weights may have changed."""

    def blanks(self) -> dict[int, float] | TaskWeights | PuzzleWeights:
        """Return the weights as what `set_blanks` of an environment takes."""
        return blanks_of(self.tasks, self.weights())

    def trains(self) -> NDArray[np.bool_]:
        """Return the tasks whose games a trainer should learn from, bool `[T]`: all of them."""
        return np.ones(len(self.tasks), np.bool_)

    def state_dict(self) -> dict[str, Any]:
        """Return everything that `load_state_dict` needs to continue exactly; fit for JSON."""
        kept = {name: getattr(self, name) for name in self._all_kept()}
        arrays = {name: a.tolist() for name, a in kept.items() if isinstance(a, np.ndarray)}
        rngs = {name: r.bit_generator.state for name, r in kept.items() if isinstance(r, Generator)}
        own = {"schedule": type(self).__name__, "tasks": self.tasks.text}
        return {**own, **kept, **arrays, **rngs}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; ValueError if it is another schedule's, or of other tasks."""
        own = type(self).__name__, self.tasks.text
        if (state["schedule"], state["tasks"]) != own:
            raise ValueError(
                f"the saved schedule is {state['schedule']}, over {state['tasks']}, this one "
                f"{own[0]}, over {own[1]}: resume with the configuration it was saved with"
            )
        for name in self._all_kept():
            match getattr(self, name):
                case Generator() as rng:
                    rng.bit_generator.state = state[name]
                case np.ndarray(dtype=dtype):
                    setattr(self, name, np.array(state[name], dtype))
                case _:
                    setattr(self, name, state[name])

    def _all_kept(self) -> list[str]:
        return [name for kind in type(self).__mro__ for name in vars(kind).get("kept", ())]


@dataclass(frozen=True)
class Advance:
    """A completed level, and the reason why it ended."""

    level: int  # number of blanks
    updates: int  # updates spent on it
    rate: float  # success rate in the last results of the level
    reason: Reason  # `success`: the criterion was met; `limit`: the updates were used up


class LevelSchedule(Schedule):
    """A schedule whose tasks are numbers of blanks, of which one is trained at a time.

    Only results of the current level count: after a promotion, games of the level before still end
    in a vector environment. A subclass defines `record`, which decides when a level is over; state
    of a single level is reset in `start_level`.

    Args:
        start: the first level.
        stop: the last level, which the last promotion reaches exactly.
        step: how many blanks a promotion adds.
        metric: as in `Schedule`.

    Attributes:
        levels: all of them, rising.
        level: the current number of blanks.
        finished: True once the last level is over.
        history: the levels done, in order; the last level too, once finished.
        updates: updates at the current level.
        rate: share of successes in the latest results at this level; None before the first.

    Raises:
        ValueError: unless 1 <= `start` <= `stop`, and `step` is at least 1.
    """

    kept: ClassVar[tuple[str, ...]] = ("level", "rate")

    def __init__(self, start: int, stop: int, step: int = 1, metric: str = COMPLETION) -> None:
        if not 1 <= start <= stop or step < 1:
            raise ValueError(
                f"levels begin at 1, and start <= stop: not {start} to {stop}, {step=}"
            )
        self.levels: tuple[int, ...] = (*range(start, stop, step), stop)
        super().__init__(f"blanks={','.join(map(str, self.levels))}", metric)
        self.level: int = start
        self.history: list[Advance] = []
        self.rate: float | None = None

    def weights(self) -> NDArray[np.float64]:
        """Return the weights of the levels, float64 `[T]`: 1 for the current one."""
        return (np.array(self.levels) == self.level).astype(np.float64)

    def update(self, results: Results) -> bool:
        """Feed the results of the current level, and move it if they allow it."""
        at_level = results.tasks == self.levels.index(self.level)
        if not at_level.any():
            return False
        successes, count = int(results.successes[at_level][0]), int(results.counts[at_level][0])
        self.updates += 1
        self.rate = successes / count
        reason = self.record(successes, count)
        if reason is None or self.finished:
            return False
        self.history.append(Advance(self.level, self.updates, self.rate, reason))
        self.finished = self.level == self.levels[-1]
        if not self.finished:
            self.level = self.levels[self.levels.index(self.level) + 1]
            self.updates, self.rate = 0, None
            self.start_level()
        return not self.finished

    @abstractmethod
    def record(self, successes: int, count: int) -> Reason | None:
        """Record results of the current level, at least one, and decide whether it is over.

        `update` has counted this update and set `rate`, which may be set anew here. Returns
        `"success"` if the level is mastered, `"limit"` if its updates are used up, else None.
        """

    def start_level(self) -> None:
        """Reset the measurements of the previous level; called after each promotion."""
        return  # most schedules keep nothing

    def state_dict(self) -> dict[str, Any]:
        """See `Schedule.state_dict`."""
        return {**super().state_dict(), "history": [asdict(each) for each in self.history]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """See `Schedule.load_state_dict`."""
        super().load_state_dict(state)
        self.history = [Advance(**advance) for advance in state["history"]]


def blanks_of(tasks: Tasks, weights: NDArray[np.float64]) -> dict[int, float] | TaskWeights:
    """Return weights `[T]` as `{blanks: weight}` where tasks are nothing else, else as they are."""
    if not tasks.only_blanks:
        return TaskWeights(tasks, weights)
    pairs = zip(tasks.blanks.tolist(), weights.tolist(), strict=True)
    return {blanks: weight for blanks, weight in pairs if weight}


def mixed_with_uniform(weights: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Return weights `[T]` summing to 1, a share of which is spread evenly; all if they are 0."""
    total = weights.sum()
    if total == 0:
        return np.full(len(weights), 1 / len(weights))
    return np.asarray((1 - share) * weights / total + share / len(weights))


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


def configure_schedule(name: str, **options: Any) -> ScheduleConfig:
    """Return a schedule's configuration by its name, a key of `all_schedules`.

    Its fields are options, which may stand in the name too, as in `"success-rate?start=2"`.
    ValueError if there is no such schedule or option, or a value is out of range.
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
