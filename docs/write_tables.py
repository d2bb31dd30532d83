"""Write the tables of three pages from the files of results: `make tables`."""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "hooks"))

import agents_page  # noqa: E402
import leaderboard_page  # noqa: E402
import records_page  # noqa: E402
from sudoku_gym.storage.atomic import write_text  # noqa: E402


def filled() -> dict[Path, str]:
    """Return the three pages with their tables as the files of results have them now."""
    board = leaderboard_page.read(DOCS / "results" / "leaderboard.json")
    fillings = {
        DOCS / "leaderboard.md": lambda text: leaderboard_page.fill_in(text, board),
        DOCS / records_page.PAGE: lambda text: records_page.fill_in(text, DOCS / "results"),
        DOCS / agents_page.PAGE: agents_page.fill_in,
    }
    return {path: fill_in(path.read_text("utf-8")) for path, fill_in in fillings.items()}


if __name__ == "__main__":
    for path, text in filled().items():
        write_text(path, text)
