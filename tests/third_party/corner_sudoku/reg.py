"""Registers an environment with its module named: `corner_sudoku.reg:Corners4x4-v0`."""

import sudoku_gym

sudoku_gym.register(
    "Corners4x4-v0", "corner_sudoku.boards:CornerPuzzles", board="corner_sudoku.boards:CORNERS"
)
