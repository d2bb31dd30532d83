"""Sudoku Gym: Gymnasium environments, curricula, agents and baselines for learning Sudoku."""
