"""The tables of the floors, from the file that `benchmarks/floors.py` writes."""

from __future__ import annotations

from typing import Any

import marked
from sudoku_gym.evaluation.tables import markdown_table

PAGE = "results/floors.md"
Results = dict[str, Any]


def fill_in(markdown: str, results: Results) -> str:
    """Put the parts that are marked with `floors` in their places, see `marked.fill_in`."""
    policies = list(dict.fromkeys(row["policy"] for row in results["rows"]))
    parts = {}
    for kind in ("grade", "blanks"):
        heads = ["environment", kind, "puzzles", *policies]
        rows = [
            [f"`{name}`", *row]
            for name in dict.fromkeys(row["environment"] for row in results["rows"])
            for row in rows_of(name, results, kind)
        ]
        parts[kind] = markdown_table(heads, rows, names=2)
    return marked.fill_in(markdown, "floors", parts)


def rows_of(name: str, results: Results, kind: str) -> list[list[str]]:
    """Return the rows of an id: its grades or numbers of blanks, puzzles, and a share a policy."""
    rows: dict[Any, list[str]] = {}
    for row in results["rows"]:
        if row["environment"] == name and kind in row:
            cells = rows.setdefault(row[kind], [str(row[kind]), f"{row['count']:,}"])
            share = 100 * row["solved"] / row["count"]
            cells.append(f"{share:.1f} % ({row['low']:.1f} to {row['high']:.1f})")
    return list(rows.values())
