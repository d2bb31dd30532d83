"""Write the tables in pages, from results, checkpoints and environments: `make tables`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "hooks"))

import agents_page  # noqa: E402
import environments  # noqa: E402
import leaderboard_page  # noqa: E402
import marked  # noqa: E402
import papers_page  # noqa: E402
import records_page  # noqa: E402
from sudoku_gym.evaluation.tables import markdown_table  # noqa: E402
from sudoku_gym.storage.atomic import write_text  # noqa: E402


def filled() -> dict[Path, str]:
    """Return the pages with their tables as the files of results have them now."""
    board, text_environments = (
        json.loads((DOCS / f"results/{name}.json").read_text(encoding="utf-8"))
        for name in ("leaderboard", "text-environments")
    )
    rows = text_environments["text environments"]["rows"]
    heads = list(rows[0])
    played = markdown_table(heads, [[str(row.get(head, "-")) for head in heads] for row in rows], 2)
    records = DOCS / "results/records.json"
    fillings = {
        leaderboard_page.PAGE: lambda text: leaderboard_page.fill_in(text, board),
        records_page.PAGE: lambda text: records_page.fill_in(text, records),
        agents_page.PAGE: agents_page.fill_in,
        environments.PAGE: environments.fill_in,
        papers_page.PAGE: papers_page.fill_in,
        "results/belief-propagation.md": papers_page.fill_in_khan,
        "text.md": lambda text: marked.fill_in(text, "text", {"environments": played}),
    }
    return {
        DOCS / page: fill_in((DOCS / page).read_text(encoding="utf-8"))
        for page, fill_in in fillings.items()
    }


if __name__ == "__main__":
    for path, text in filled().items():
        write_text(path, text)
