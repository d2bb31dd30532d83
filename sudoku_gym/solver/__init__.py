"""Exact answers about boards: solutions, how many there are, and how sure that is."""

from sudoku_gym.solver.answers import (
    NODE_LIMIT,
    SearchResult,
    count_solutions,
    search,
    solve,
)

__all__ = ["NODE_LIMIT", "SearchResult", "count_solutions", "search", "solve"]
