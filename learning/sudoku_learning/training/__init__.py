"""The training loop of all learners: what a family supplies, and what it is given for it."""

from sudoku_learning.training.command import train_from_the_command_line
from sudoku_learning.training.config import CurriculumConfig, RayConfig, TrainingConfig
from sudoku_learning.training.environments import HeldOut, training_envs
from sudoku_learning.training.learner import Learner, LearnerState, Progress, Random, Report
from sudoku_learning.training.loop import Iteration, Training
from sudoku_learning.training.optimiser import Optimiser, OptimiserConfig
from sudoku_learning.training.run_folder import free_folder

__all__ = [
    "CurriculumConfig",
    "HeldOut",
    "Iteration",
    "Learner",
    "LearnerState",
    "Optimiser",
    "OptimiserConfig",
    "Progress",
    "Random",
    "RayConfig",
    "Report",
    "Training",
    "TrainingConfig",
    "free_folder",
    "train_from_the_command_line",
    "training_envs",
]
