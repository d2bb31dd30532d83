"""The retry search: play, and take back what is proven to be lost."""

from sudoku_agents.alphazero.retry.retry_search import (
    Ratings,
    RetryConfig,
    RetryResult,
    retry_search,
)

__all__ = ["Ratings", "RetryConfig", "RetryResult", "retry_search"]
