"""The rows that installed packages list for the leaderboard: policies, and their kinds."""

from __future__ import annotations

from collections.abc import Iterator

from sudoku_gym import plugins

_PROJECT = "sudoku-gym"


def own_rows() -> dict[str, str]:
    """Return the rows that this project lists."""
    rows: dict[str, str] = {}
    for name, entry in plugins.available(plugins.LEADERBOARD).items():
        if entry.dist is not None and entry.dist.name == _PROJECT:
            rows |= rows_of(name)
    return rows


def other_lists() -> Iterator[tuple[str, str]]:
    """Yield the names of other packages' entry points, with what they stand for."""
    for name, entry in plugins.available(plugins.LEADERBOARD).items():
        if entry.dist is None or entry.dist.name != _PROJECT:
            yield name, entry.value


def rows_of(name: str) -> dict[str, str]:
    """Return the rows of an entry point; its package is imported, and may raise anything."""
    return checked_rows(plugins.load(plugins.LEADERBOARD, name))


def checked_rows(rows: object) -> dict[str, str]:
    """Return rows as they are; ValueError if they are no dictionary of texts."""
    if not isinstance(rows, dict):
        raise ValueError(f"it is a {type(rows).__name__}")
    if wrong := [each for pair in rows.items() for each in pair if type(each) is not str]:
        raise ValueError(f"{wrong[0]!r:.60} is no text")
    return rows
