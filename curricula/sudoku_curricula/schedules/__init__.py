"""The schedules and their configurations; importing this registers them."""

from sudoku_curricula.schedules.bandit import BanditConfig
from sudoku_curricula.schedules.levels import (
    Algorithm1Config,
    ConstantConfig,
    LinearConfig,
    SuccessRateConfig,
)
from sudoku_curricula.schedules.replay import EditConfig, ReplayConfig
from sudoku_curricula.schedules.self_paced import SelfPacedConfig
from sudoku_curricula.schedules.weights import (
    LearnabilityConfig,
    LearningProgressConfig,
    TargetConfig,
    UniformConfig,
)

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
