"""Exact answers about boards: solutions, how many there are, and how sure that is."""

from sudoku_gym.solver.answers import (
    NODE_LIMIT,
    FoundSolutions,
    count_solutions,
    find_solutions,
    solve,
)

__all__ = ["NODE_LIMIT", "FoundSolutions", "count_solutions", "find_solutions", "solve"]
