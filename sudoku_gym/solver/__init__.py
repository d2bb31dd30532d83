"""Exact solver: solutions of boards, their number, and whether the search was complete."""

from sudoku_gym.solver.api import NODE_LIMIT, FoundSolutions, count_solutions, find_solutions, solve

__all__ = ["NODE_LIMIT", "FoundSolutions", "count_solutions", "find_solutions", "solve"]
