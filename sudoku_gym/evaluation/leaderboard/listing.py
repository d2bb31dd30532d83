"""The rows that installed packages list for the leaderboard: policies, and their kinds."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint

from sudoku_gym import plugins
from sudoku_gym.evaluation.leaderboard.results import check_kinds


def own_rows() -> dict[str, str]:
    """Return the rows that this project lists."""
    rows: dict[str, str] = {}
    for entry in plugins.all_entries(plugins.LEADERBOARD):
        if plugins.is_own(entry):
            rows |= checked_rows(entry.load())
    return rows


def other_lists() -> Iterator[tuple[str, str, str]]:
    """Yield the entry points of other packages: the package, its name, and what it stands for."""
    for entry in _entries_of_others():
        yield _package_of(entry), entry.name, entry.value


def rows_of(package: str, name: str) -> dict[str, str]:
    """Return the rows of another's entry point; its package is imported, and may raise anything."""
    for entry in _entries_of_others():
        if (_package_of(entry), entry.name) == (package, name):
            return checked_rows(plugins.load_entry(entry))
    raise ValueError(f"{package} has no such entry point")


def _entries_of_others() -> list[EntryPoint]:
    entries = plugins.all_entries(plugins.LEADERBOARD)
    return [entry for entry in entries if not plugins.is_own(entry)]


def _package_of(entry: EntryPoint) -> str:
    return "" if entry.dist is None else entry.dist.name


def checked_rows(rows: object) -> dict[str, str]:
    """Return rows as they are; ValueError if they are no dictionary of texts that can be shown."""
    if not isinstance(rows, dict):
        raise ValueError(f"it is a {type(rows).__name__}")
    if wrong := [each for pair in rows.items() for each in pair if type(each) is not str]:
        raise ValueError(f"{wrong[0]!r:.60} is no text")
    check_kinds(rows)
    return rows
