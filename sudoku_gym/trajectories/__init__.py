"""Games of policies kept as offline data sets, in Minari's format."""

from sudoku_gym.trajectories.recording import PART_GAMES, RecordedGames, record

__all__ = ["PART_GAMES", "RecordedGames", "record"]
