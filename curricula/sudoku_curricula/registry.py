"""The schedules by name.

Each is a pair: a frozen configuration (`SuccessRateConfig`), which a command line shows and a run
writes down, and the running schedule (`SuccessRate`) that `config.build()` starts. `Curriculum`
connects it with environments and trainers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, Protocol, TypeVar

from sudoku_curricula.base import Schedule
from sudoku_gym import plugins
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
