"""Games of policies kept as offline data sets, in Minari's format."""

from sudoku_gym.trajectories.games import PART_GAMES, PlayedPart, RecordedGames, play_part, replay
from sudoku_gym.trajectories.recording import record

__all__ = ["PART_GAMES", "PlayedPart", "RecordedGames", "play_part", "record", "replay"]
