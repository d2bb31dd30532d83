"""Curricula: schedules that choose the tasks, and the wrappers that follow them."""

from sudoku_curricula import schedules
from sudoku_curricula.base import (
    SCHEDULES,
    Advance,
    LevelSchedule,
    Results,
    Schedule,
    ScheduleConfig,
    all_schedules,
    configure_schedule,
    make_schedule,
    register_schedule,
)
from sudoku_curricula.curriculum import Curriculum
from sudoku_curricula.wrappers import CurriculumWrapper, VectorCurriculumWrapper

__all__ = [
    "SCHEDULES",
    "Advance",
    "Curriculum",
    "CurriculumWrapper",
    "LevelSchedule",
    "Results",
    "Schedule",
    "ScheduleConfig",
    "VectorCurriculumWrapper",
    "all_schedules",
    "configure_schedule",
    "make_schedule",
    "register_schedule",
    "schedules",
]
