"""Schedules of the number of blanks, and the wrappers that follow them."""

from sudoku_curricula.base import Advance, Schedule
from sudoku_curricula.curriculum import Curriculum
from sudoku_curricula.schedules import (
    SCHEDULES,
    ConstantConfig,
    LinearConfig,
    PaperAlgorithm1Config,
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
    "BlanksCurriculum",
    "ConstantConfig",
    "Curriculum",
    "LinearConfig",
    "PaperAlgorithm1Config",
    "Schedule",
    "ScheduleConfig",
    "SuccessRateConfig",
    "VectorBlanksCurriculum",
    "all_schedules",
    "configure_schedule",
    "make_schedule",
    "register_schedule",
]
