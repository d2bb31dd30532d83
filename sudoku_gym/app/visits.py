"""The pages that visitors have open, with the games on each."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from threading import Lock

from sudoku_gym.app.game import Game

STOPPED = object()
"""In place of a start that is awaited: the visitor has given it up."""


@dataclass
class Visit:
    """An open page.

    Attributes:
        games: those that are shown; None before the first have begun.
        starting: stands for the start of games that is awaited; None if none is, or `STOPPED`.
        used: when the page was used last, s.
    """

    games: list[Game] | None = None
    starting: object | None = None
    used: float = 0.0

    def begin(self, games: list[Game]) -> None:
        """Show new games in place of those before, which end."""
        for game in self.games or ():
            game.replace()
        self.games, self.starting = games, None


class Visits:
    """The open pages, by visitor and name of the page.

    Each may take some megabytes. Beyond `most` pages, the one that was not used for the longest
    time is forgotten, of the visitor who has most of them: so nobody pushes out others' games by
    opening many; and so is, beyond `most_of_one` of a visitor, that visitor's. Pages are forgotten,
    too, when they have not been used for `seconds`.
    """

    def __init__(self, most: int = 250, most_of_one: int = 20, seconds: float = 3600.0) -> None:
        self._most, self._most_of_one, self._seconds = most, most_of_one, seconds
        self._visits: dict[tuple[str, str], Visit] = {}  # the one that was used last is the last
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._visits)

    def find(self, visitor: str, page: str) -> Visit | None:
        """Return the visit, or None if there is none."""
        with self._lock:
            now = time.monotonic()
            for key, visit in list(self._visits.items()):
                if now - visit.used <= self._seconds:
                    break
                del self._visits[key]
            found = self._visits.pop((visitor, page), None)
            if found is not None:
                found.used = now
                self._visits[visitor, page] = found
            return found

    def open(self, visitor: str, page: str) -> Visit:
        """Return the visit, a new one if there is none."""
        found = self.find(visitor, page)
        if found is not None:
            return found
        with self._lock:
            counts = Counter(owner for owner, _ in self._visits)
            full = visitor if counts[visitor] >= self._most_of_one else None
            if full is None and len(self._visits) >= self._most:
                full = counts.most_common(1)[0][0]
            if full is not None:
                del self._visits[next(key for key in self._visits if key[0] == full)]
            return self._visits.setdefault((visitor, page), Visit(used=time.monotonic()))
