"""Where puzzles come from: the complete 4x4 world, a generator, shipped banks, files."""

from sudoku_gym.puzzles.banks import NAMES, SPLITS, load
from sudoku_gym.puzzles.puzzle_set import PuzzleSet

__all__ = ["NAMES", "SPLITS", "PuzzleSet", "load"]
