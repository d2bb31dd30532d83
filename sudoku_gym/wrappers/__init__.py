"""Wrappers for `SudokuEnv`, each with its twin for vector environments."""

from sudoku_gym.wrappers.one_hot import OneHotBoard, VectorOneHotBoard
from sudoku_gym.wrappers.symmetry import SymmetryAugmentation, VectorSymmetryAugmentation

__all__ = [
    "OneHotBoard",
    "SymmetryAugmentation",
    "VectorOneHotBoard",
    "VectorSymmetryAugmentation",
]
