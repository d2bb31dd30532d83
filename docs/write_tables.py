"""Write the tables of three pages from the files of results: `make tables`."""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "hooks"))

import agents_page  # noqa: E402
import leaderboard_page  # noqa: E402
import records_page  # noqa: E402
from sudoku_gym.evaluation.leaderboard import read_leaderboard  # noqa: E402
from sudoku_gym.storage.atomic import write_text  # noqa: E402


def filled() -> dict[Path, str]:
    """Return the three pages with their tables as the files of results have them now."""
    board = read_leaderboard(DOCS / "results" / "leaderboard.json")
    records = records_page.read(DOCS / "results")
    pages = {name: DOCS / name for name in ("leaderboard.md", records_page.PAGE, agents_page.PAGE)}
    texts = {name: path.read_text(encoding="utf-8") for name, path in pages.items()}
    return {
        pages["leaderboard.md"]: leaderboard_page.fill_in(
            texts["leaderboard.md"], board, keep=True
        ),
        pages[records_page.PAGE]: records_page.fill_in(
            texts[records_page.PAGE], *records, keep=True
        ),
        pages[agents_page.PAGE]: agents_page.fill_in(texts[agents_page.PAGE], keep=True),
    }


if __name__ == "__main__":
    for path, text in filled().items():
        write_text(path, text)
