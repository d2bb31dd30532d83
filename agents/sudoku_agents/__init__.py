"""Agents that learn to solve Sudoku."""
