"""The training loop of all learners: what a family supplies, and what it is given for it."""

from sudoku_gym.storage.configs import registered
from sudoku_learning.training.checkpoint import free_folder
from sudoku_learning.training.config import (
    CurriculumConfig,
    RayConfig,
    TrainingConfig,
    config_from_json,
)
from sudoku_learning.training.environments import EnvId, HeldOut, geometry_of_env, training_envs
from sudoku_learning.training.learner import Learner, LearnerState, Progress, Report, RunGenerators
from sudoku_learning.training.loop import Training, train_cli
from sudoku_learning.training.optimizer import EMA, Optimizer, OptimizerConfig
from sudoku_learning.training.weights import load_network

__all__ = [
    "EMA",
    "CurriculumConfig",
    "EnvId",
    "HeldOut",
    "Learner",
    "LearnerState",
    "Optimizer",
    "OptimizerConfig",
    "Progress",
    "RayConfig",
    "Report",
    "RunGenerators",
    "Training",
    "TrainingConfig",
    "config_from_json",
    "free_folder",
    "geometry_of_env",
    "load_network",
    "registered",
    "train_cli",
    "training_envs",
]
