"""The tables of the page of records, from what `sudoku-gym compare --out` has written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import marked
from sudoku_gym.evaluation import percent
from sudoku_gym.evaluation.lists import ListRow, Share, read_list_results
from sudoku_gym.evaluation.tables import markdown_table

TRACKS = {
    ("grid", True): "Sees only the grid, shown solutions",
    ("grid", False): "Sees only the grid, shown none",
    ("constraints", True): "Sees the constraints, shown solutions",
    ("constraints", False): "Sees the constraints, shown none",
}
"""What a network is given, and whether it was shown solutions, with the heading of each."""
PAGE = "results/records.md"


def fill_in(markdown: str, results: Path) -> str:
    """Put the parts that are marked with `records` in their places, from a file of results."""
    rows = sorted(read_list_results(results).rows, key=lambda row: -row.all.solved)
    others = [
        [f"`{row.policy}`", _share(row.all), f"{row.milliseconds:,g}"]
        for row in rows
        if not row.card
    ]
    parts = {"ours": _tracks(rows), "others": markdown_table(["policy", "solved", "ms"], others)}
    return marked.fill_in(markdown, "records", parts)


def _tracks(rows: Sequence[ListRow]) -> str:
    heads = ["policy", "solved", "play", "starts", "weights", "solutions shown", "rounds", "ms"]
    lines = []
    for track, title in TRACKS.items():
        found = []
        for row in rows:
            if (card := row.card) and track == (card.sees, card.solutions > 0):
                shown = f"{card.solutions:,}" if card.solutions else "none"
                rounds = "-" if row.rounds is None else f"{row.rounds:,.0f}"
                about = [card.play, str(1 + card.restarts), f"{card.weights:,}", shown, rounds]
                found.append([f"`{row.policy}`", _share(row.all), *about, f"{row.milliseconds:,g}"])
        head = f"**{title}**" + ("" if found else ": none yet")
        lines += [[head, *[""] * (len(heads) - 1)], *found]
    return markdown_table(heads, lines)


def _share(share: Share) -> str:
    return f"{percent(share.solved / share.count)} ({share.low:.1f}-{share.high:.1f})"
