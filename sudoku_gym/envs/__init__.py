"""The environments: `SudokuEnv`, its batched twin `SudokuVectorEnv`, and how they are drawn."""

from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.envs.vector import SudokuVectorEnv

__all__ = ["SudokuEnv", "SudokuVectorEnv"]
