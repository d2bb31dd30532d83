"""The schedules, a file each; importing this registers them."""

from sudoku_curricula.registry import (
    SCHEDULES,
    ScheduleConfig,
    all_schedules,
    configure_schedule,
    make_schedule,
    register_schedule,
)
from sudoku_curricula.schedules.algorithm1 import Algorithm1, Algorithm1Config
from sudoku_curricula.schedules.bandit import Bandit, BanditConfig
from sudoku_curricula.schedules.edit import Edit, EditConfig
from sudoku_curricula.schedules.fixed import Constant, ConstantConfig, Linear, LinearConfig
from sudoku_curricula.schedules.learnability import Learnability, LearnabilityConfig
from sudoku_curricula.schedules.learning_progress import LearningProgress, LearningProgressConfig
from sudoku_curricula.schedules.replay import Replay, ReplayConfig
from sudoku_curricula.schedules.self_paced import SelfPaced, SelfPacedConfig
from sudoku_curricula.schedules.success_rate import SuccessRate, SuccessRateConfig
from sudoku_curricula.schedules.target import Target, TargetConfig
from sudoku_curricula.schedules.uniform import Uniform, UniformConfig

__all__ = [
    "SCHEDULES",
    "Algorithm1",
    "Algorithm1Config",
    "Bandit",
    "BanditConfig",
    "Constant",
    "ConstantConfig",
    "Edit",
    "EditConfig",
    "Learnability",
    "LearnabilityConfig",
    "LearningProgress",
    "LearningProgressConfig",
    "Linear",
    "LinearConfig",
    "Replay",
    "ReplayConfig",
    "ScheduleConfig",
    "SelfPaced",
    "SelfPacedConfig",
    "SuccessRate",
    "SuccessRateConfig",
    "Target",
    "TargetConfig",
    "Uniform",
    "UniformConfig",
    "all_schedules",
    "configure_schedule",
    "make_schedule",
    "register_schedule",
]
