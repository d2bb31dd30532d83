"""The tree search: many games in lock step, one tree a game, one network call a simulation.

Files: `tree_search` has the settings and drives it; `tree` the flat trees, `descent` the way to a
new leaf, `selection` what is chosen on it, `gumbel` and `roots` what is special about roots,
`proofs` what is known for certain, `results` what comes out.
"""

from sudoku_agents.alphazero.search.results import SearchResult
from sudoku_agents.alphazero.search.tree_search import (
    Evaluator,
    Forest,
    SearchConfig,
    search,
)

__all__ = [
    "Evaluator",
    "Forest",
    "SearchConfig",
    "SearchResult",
    "search",
]
