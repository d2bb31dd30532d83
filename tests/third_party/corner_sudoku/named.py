"""Registers an environment that is an entry point: `CornersNamed4x4-v0`."""

import sudoku_gym
from corner_sudoku.boards import CORNERS, CornerPuzzles

sudoku_gym.register("CornersNamed4x4-v0", CornerPuzzles(), board=CORNERS)
