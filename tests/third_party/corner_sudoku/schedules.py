"""A schedule: on after some updates in which most games were won."""

from dataclasses import dataclass

from sudoku_curricula import LevelSchedule


@dataclass(frozen=True)
class HurdlesConfig:
    """Promote after some updates with a share of games won."""

    start: int = 2
    """First number of blanks."""
    stop: int = 6
    """Last number of blanks."""
    height: float = 0.5
    """Share of games that must be won."""
    count: int = 1
    """How often."""

    def build(self):
        return Hurdles(self)


class Hurdles(LevelSchedule):
    kept = ("jumped",)

    def __init__(self, config):
        super().__init__(config.start, config.stop)
        self.config = config
        self.start_level()

    def start_level(self):
        self.jumped = 0

    def record(self, successes, count):
        self.jumped += successes >= self.config.height * count
        return "success" if self.jumped >= self.config.count else None
