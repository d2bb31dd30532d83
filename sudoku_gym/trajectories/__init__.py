"""Games of policies kept as offline data sets, in Minari's format."""

from sudoku_gym.trajectories.games import ActionLog, RecordedGames, play, replay
from sudoku_gym.trajectories.recording import PART_GAMES, record

__all__ = ["PART_GAMES", "ActionLog", "RecordedGames", "play", "record", "replay"]
