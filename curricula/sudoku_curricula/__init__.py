"""Schedules of the number of blanks, and the wrappers that follow them."""

from sudoku_curricula.base import Advance, Schedule
from sudoku_curricula.curriculum import Curriculum
from sudoku_curricula.schedules import (
    SCHEDULES,
    Algorithm1Config,
    ConstantConfig,
    LinearConfig,
    ScheduleConfig,
    SuccessRateConfig,
    all_schedules,
    configure_schedule,
    make_schedule,
    register_schedule,
)
from sudoku_curricula.wrappers import BlanksCurriculum, VectorBlanksCurriculum

__all__ = [
    "SCHEDULES",
    "Advance",
    "Algorithm1Config",
    "BlanksCurriculum",
    "ConstantConfig",
    "Curriculum",
    "LinearConfig",
    "Schedule",
    "ScheduleConfig",
    "SuccessRateConfig",
    "VectorBlanksCurriculum",
    "all_schedules",
    "configure_schedule",
    "make_schedule",
    "register_schedule",
]
