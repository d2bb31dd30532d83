"""The best-first search: best-first search over assumptions, guided by a network, complete."""

from sudoku_agents.best_first_search.search import (
    BestFirstConfig,
    LogitsFunction,
    best_first_search,
)

__all__ = ["BestFirstConfig", "LogitsFunction", "best_first_search"]
