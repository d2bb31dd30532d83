"""The leaderboard: every policy that comes with the package, on fixed sets of puzzles."""

from sudoku_gym.evaluation.leaderboard.playing import Order, Step, play_leaderboard
from sudoku_gym.evaluation.leaderboard.standings import Played, Row, Standings
from sudoku_gym.evaluation.leaderboard.standings_file import read, write

__all__ = [
    "Order",
    "Played",
    "Row",
    "Standings",
    "Step",
    "play_leaderboard",
    "read",
    "write",
]
