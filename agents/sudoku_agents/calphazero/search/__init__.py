"""The tree search: many games in parallel, one tree a game, one network call a simulation."""

from sudoku_agents.calphazero.search.batched_search import BatchedSearch, Evaluator, tree_search
from sudoku_agents.calphazero.search.config import SearchConfig
from sudoku_agents.calphazero.search.roots import SearchOutput

__all__ = ["BatchedSearch", "Evaluator", "SearchConfig", "SearchOutput", "tree_search"]
