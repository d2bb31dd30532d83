"""The retry search: best-first search over assumptions, guided by a network, complete."""

from sudoku_agents.retry_search.retry_search import (
    LogitsFunction,
    RetryConfig,
    RetryResult,
    retry_search,
)

__all__ = ["LogitsFunction", "RetryConfig", "RetryResult", "retry_search"]
