"""The retry search: play, take back what is proven to be lost, go on where most hope is left."""

from sudoku_agents.retry_search.retry_search import (
    Ratings,
    RetryConfig,
    RetryResult,
    retry_search,
)

__all__ = ["Ratings", "RetryConfig", "RetryResult", "retry_search"]
