"""Stable-Baselines3: our vector environment as its `VecEnv`, and policies that know the rules."""

from sudoku_gym.plugins import suggest_extra

with suggest_extra("sudoku_agents.sb3"):
    import sb3_contrib  # noqa: F401 - asked for before the modules below fail on half of it

from sudoku_agents.sb3.play import SB3Policy
from sudoku_agents.sb3.ppo import FactorGraphPolicy
from sudoku_agents.sb3.vec_env import SudokuVecEnv, make_vec_env

__all__ = ["FactorGraphPolicy", "SB3Policy", "SudokuVecEnv", "make_vec_env"]
