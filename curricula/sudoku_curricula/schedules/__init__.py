"""The schedules and their configurations, a file each; importing this registers them."""

from sudoku_curricula.schedules.algorithm_1 import Algorithm1Config
from sudoku_curricula.schedules.bandit import BanditConfig
from sudoku_curricula.schedules.edit import EditConfig
from sudoku_curricula.schedules.learnability import LearnabilityConfig
from sudoku_curricula.schedules.learning_progress import LearningProgressConfig
from sudoku_curricula.schedules.linear import ConstantConfig, LinearConfig
from sudoku_curricula.schedules.replay import ReplayConfig
from sudoku_curricula.schedules.self_paced import SelfPacedConfig
from sudoku_curricula.schedules.success_rate import SuccessRateConfig
from sudoku_curricula.schedules.target import TargetConfig
from sudoku_curricula.schedules.uniform import UniformConfig

__all__ = [
    "Algorithm1Config",
    "BanditConfig",
    "ConstantConfig",
    "EditConfig",
    "LearnabilityConfig",
    "LearningProgressConfig",
    "LinearConfig",
    "ReplayConfig",
    "SelfPacedConfig",
    "SuccessRateConfig",
    "TargetConfig",
    "UniformConfig",
]
