"""The leaderboard: policies on fixed sets of puzzles, with every outcome in a JSON file."""

from sudoku_gym.evaluation.leaderboard.play import LeaderboardConfig, play_leaderboard
from sudoku_gym.evaluation.leaderboard.results import LeaderboardResults, read_leaderboard
from sudoku_gym.evaluation.leaderboard.verification import verify_leaderboard

__all__ = [
    "LeaderboardConfig",
    "LeaderboardResults",
    "play_leaderboard",
    "read_leaderboard",
    "verify_leaderboard",
]
