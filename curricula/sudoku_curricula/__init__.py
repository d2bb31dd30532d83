"""Curricula: schedules that choose the tasks, and the wrappers that follow them."""

from sudoku_curricula.base import Advance, LevelSchedule, Results, Schedule
from sudoku_curricula.curriculum import Curriculum
from sudoku_curricula.schedules import (
    SCHEDULES,
    Algorithm1Config,
    BanditConfig,
    ConstantConfig,
    LearnabilityConfig,
    LearningProgressConfig,
    LinearConfig,
    ReplayConfig,
    ScheduleConfig,
    SelfPacedConfig,
    SuccessRateConfig,
    TargetConfig,
    UniformConfig,
    all_schedules,
    configure_schedule,
    make_schedule,
    register_schedule,
)
from sudoku_curricula.wrappers import CurriculumWrapper, VectorCurriculumWrapper

__all__ = [
    "SCHEDULES",
    "Advance",
    "Algorithm1Config",
    "BanditConfig",
    "ConstantConfig",
    "Curriculum",
    "CurriculumWrapper",
    "LearnabilityConfig",
    "LearningProgressConfig",
    "LevelSchedule",
    "LinearConfig",
    "ReplayConfig",
    "Results",
    "Schedule",
    "ScheduleConfig",
    "SelfPacedConfig",
    "SuccessRateConfig",
    "TargetConfig",
    "UniformConfig",
    "VectorCurriculumWrapper",
    "all_schedules",
    "configure_schedule",
    "make_schedule",
    "register_schedule",
]
