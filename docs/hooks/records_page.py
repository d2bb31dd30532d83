"""The tables of the page of records, from two files of figures.

`results/records.json` is what `sudoku-gym compare --puzzles extreme-like --out` wrote, and
`results/published.json` holds figures as their authors state them, on another list.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import marked
from leaderboard_page import code, words
from sudoku_gym.evaluation import percent
from sudoku_gym.evaluation.lists import ListResults, ListRow, read_list_results
from sudoku_gym.evaluation.tables import markdown_table

TRACKS = {
    ("grid", "shown"): "Sees only the grid, shown solutions",
    ("grid", "none"): "Sees only the grid, shown none",
    ("constraints", "shown"): "Sees the constraints, shown solutions",
    ("constraints", "none"): "Sees the constraints, shown none",
}
"""What a network is given, and whether it was shown solutions, with the heading of each."""
PAGE = "results/records.md"
_NOTHING = "-"
Published = list[Mapping[str, Any]]


def fill_in(markdown: str, folder: Path) -> str:
    """Put the parts that are marked with `records` in their places, from a folder of results."""
    results = read_list_results(folder / "records.json")
    published = json.loads((folder / "published.json").read_text(encoding="utf-8"))["rows"]
    parts = {
        "ours": _ours(results),
        "published": _published(published),
        "groups": _groups(results),
        "others": _others(results),
    }
    return marked.fill_in(markdown, "records", parts)


def _track(sees: str, solutions: int) -> tuple[str, str]:
    return sees, "shown" if solutions else "none"


def _best_first(rows: Iterable[ListRow]) -> list[ListRow]:
    return sorted(rows, key=lambda row: -row.all.solved)


def _ours(results: ListResults) -> str:
    heads = ["policy", "solved", "play", "starts", "weights", "solutions shown", "rounds", "ms"]
    rows = []
    for track, title in TRACKS.items():
        there = _best_first(
            row
            for row in results.rows
            if row.card and track == _track(row.card.sees, row.card.solutions)
        )
        rows.append([f"**{title}**" + ("" if there else ": none yet"), *[""] * (len(heads) - 1)])
        for row in there:
            card = row.card
            assert card is not None
            rounds = _NOTHING if row.rounds is None else f"{row.rounds:,.0f}"
            shown = f"{card.solutions:,}" if card.solutions else "none"
            starts = str(1 + card.restarts)
            numbers = [
                card.play,
                starts,
                f"{card.weights:,}",
                shown,
                rounds,
                f"{row.milliseconds:,g}",
            ]
            rows.append([code(row.policy), _share(row), *numbers])
    return markdown_table(heads, rows)


def _others(results: ListResults) -> str:
    rows = [
        [code(row.policy), _share(row), f"{row.milliseconds:,g}"]
        for row in _best_first(row for row in results.rows if row.card is None)
    ]
    return markdown_table(["policy", "solved", "ms"], rows)


def _share(row: ListRow) -> str:
    share = row.all
    return f"{percent(share.solved / share.count)} ({share.low:.1f} to {share.high:.1f})"


def _groups(results: ListResults) -> str:
    """Show the shares by kind of puzzle and by rating: a row a group, a column a policy."""
    shown = _best_first(results.rows)
    rows = []
    for title, name in (("kind", "by_source"), ("rating", "by_rating")):
        for group in dict.fromkeys(group for row in shown for group in getattr(row, name)):
            shares = [getattr(row, name).get(group) for row in shown]
            cells = [
                percent(share.solved / share.count) if share and share.count else _NOTHING
                for share in shares
            ]
            count = next(share.count for share in shares if share)
            rows.append([f"{title}: {words(group)}", f"{count:,}", *cells])
    return markdown_table(["puzzles", "count", *(code(row.policy) for row in shown)], rows)


def _published(published: Published) -> str:
    heads = ["system", "percent", "play", "weights", "solutions shown", "note", "source"]
    rows = []
    for track, title in TRACKS.items():
        there = [row for row in published if track == _track(row["sees"], row["solutions"])]
        rows.append([f"**{title}**" + ("" if there else ": none known"), *[""] * (len(heads) - 1)])
        for row in sorted(there, key=lambda row: -row["percent"]):
            weights = f"{row['weights']:,}" if row["weights"] else "not stated"
            told = [
                words(row["play"]),
                weights,
                f"{row['solutions']:,}",
                words(row["note"]),
                _link(row["source"]),
            ]
            rows.append([words(row["system"]), f"{row['percent']:g}", *told])
    return markdown_table(heads, rows)


def _link(source: str) -> str:
    number = source.removeprefix("arXiv:")
    address = f"arxiv.org/abs/{number}" if number != source else source
    return f"[{words(source)}](https://{quote(address)})"
