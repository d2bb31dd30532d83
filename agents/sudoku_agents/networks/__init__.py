"""Policy and value networks."""

from sudoku_agents.networks.exact_cover import ExactCoverNetwork

__all__ = ["ExactCoverNetwork"]
