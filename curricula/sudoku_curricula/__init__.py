"""Schedules of the number of blanks, and the wrappers that follow them."""

from sudoku_curricula.base import Advance, Schedule
from sudoku_curricula.schedules import (
    SCHEDULES,
    ConstantConfig,
    LinearConfig,
    PaperAlgorithm1Config,
    ScheduleConfig,
    SuccessRateConfig,
    make_schedule,
)
from sudoku_curricula.wrappers import BlanksCurriculum, VectorBlanksCurriculum

__all__ = [
    "SCHEDULES",
    "Advance",
    "BlanksCurriculum",
    "ConstantConfig",
    "LinearConfig",
    "PaperAlgorithm1Config",
    "Schedule",
    "ScheduleConfig",
    "SuccessRateConfig",
    "VectorBlanksCurriculum",
    "make_schedule",
]
