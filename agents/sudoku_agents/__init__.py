"""Agents that learn to solve Sudoku."""

SHOWN_IN_THE_APP = ("calphazero", "hidden-singles")  # what `sudoku-gym app` shows at first
