"""Registers an environment with its module named: `stranger_sudoku.reg:Corners4x4-v0`."""

import sudoku_gym

sudoku_gym.register(
    "Corners4x4-v0",
    "stranger_sudoku.boards:CornerPuzzles",
    board="stranger_sudoku.boards:CORNERS",
)
