"""The leaderboard: policies on fixed sets of puzzles, with every outcome in a JSON file."""

from sudoku_gym.evaluation.leaderboard.play import LeaderboardConfig, play_leaderboard
from sudoku_gym.evaluation.leaderboard.results import (
    LeaderboardCell,
    LeaderboardResults,
    LeaderboardRow,
    read_leaderboard,
    write_leaderboard,
)

__all__ = [
    "LeaderboardCell",
    "LeaderboardConfig",
    "LeaderboardResults",
    "LeaderboardRow",
    "play_leaderboard",
    "read_leaderboard",
    "write_leaderboard",
]
