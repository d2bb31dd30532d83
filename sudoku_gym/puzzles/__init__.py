"""Puzzles: all of 4x4, a generator, shipped banks, files, grades and ratings."""

from sudoku_gym.puzzles.banks import NAMES, SPLITS, load
from sudoku_gym.puzzles.difficulty import FINE_GRADES, GRADES, grade, rate
from sudoku_gym.puzzles.files import read, write
from sudoku_gym.puzzles.generator import generate
from sudoku_gym.puzzles.orbits import find_in_training, same_orbit
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import resolve_source

__all__ = [
    "FINE_GRADES",
    "GRADES",
    "NAMES",
    "SPLITS",
    "PuzzleSet",
    "find_in_training",
    "generate",
    "grade",
    "load",
    "rate",
    "read",
    "resolve_source",
    "same_orbit",
    "write",
]
