"""The tables of the papers: what each reports, ours beside it, and whether ours holds it.

`docs/results/papers.json` says what a paper reports, and which rows of which file of results stand
beside it. A row of several seeds shows each of them, of more than five the mean, and the interval
spans theirs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import marked
from sudoku_gym.evaluation.intervals import wilson_interval
from sudoku_gym.evaluation.tables import markdown_table

RESULTS = Path(__file__).parents[1] / "results"
PAGE = "papers.md"
HEADS = ["in the paper", "our setting", "paper", "ours (95 % interval)", "held"]
LARGE = ("16x16", "x9x9", "windows9x9", "jigsaw9x9", "latin9x9")
SOLVERS = ("backtracking", "dancing links", "propagation")

Entry = Mapping[str, Any]


def fill_in(markdown: str) -> str:
    """Put the table of each paper into the page, where `paper: khan` and others are marked."""
    parts = {
        paper: markdown_table(HEADS, [_line(entry) for entry in entries], 2)
        for paper, entries in _read("papers").items()
    }
    return marked.fill_in(markdown, "paper", parts)


def fill_in_khan(markdown: str) -> str:
    """Put the shares by givens, of 16x16 and of variants into the page of belief propagation."""
    rows = _read("belief-propagation")["rows"]
    large = [row for row in rows if row["part"] == "accuracy" and row["puzzles"] in LARGE]
    parts = {
        "givens": _shares([row for row in rows if row["part"] == "givens"], "givens"),
        "large": _shares(large, "method", "iterations"),
    }
    return marked.fill_in(markdown, "shares", parts)


def _read(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text("utf-8"))


def _shares(rows: Sequence[Entry], *columns: str) -> str:
    """Show the share solved of each row, beside its puzzles and some columns."""
    lines = [
        [row["puzzles"], *(f"{row[column]}" for column in columns), _share([row])[0]]
        for row in rows
    ]
    return markdown_table(["puzzles", *columns, "solved, %"], lines, 1 + len(columns))


def _line(entry: Entry) -> list[str]:
    return [entry["item"], entry["differs"], _said(entry), *_ours(entry)]


def _said(entry: Entry) -> str:
    said = entry["paper"] if isinstance(entry["paper"], list) else [entry["paper"]]
    return (", " if "times" in entry else " to ").join("-" if s is None else f"{s}" for s in said)


def _ours(entry: Entry) -> tuple[str, str]:
    """Return our figure with its interval, and whether the paper's lies in it."""
    content = _read(entry["file"])
    rows = content.get(entry.get("part"), content).get("rows", [])
    found = [row for row in rows if entry["where"].items() <= row.items()]
    if not found:
        return "not run", ""
    if "times" in entry:
        ms = [next(row["ms"] for row in found if row["algorithm"] == name) for name in SOLVERS]
        slowest = {each.index(max(each)) for each in (ms, [s or 1e9 for s in entry["paper"]])}
        return ", ".join(f"{each:g}" for each in ms), "✓" if len(slowest) == 1 else "no"
    if "value" in entry:
        return ", ".join(f"{row[entry['value']]:g}" for row in found), ""
    return _share(found, entry.get("within"), entry["paper"])


def _share(rows: Sequence[Entry], within: str | None = None, said: Any = None) -> tuple[str, str]:
    """Return the shares of some rows, one a seed, with the interval, and whether it holds one."""
    counts = [(row["within"][within] if within else row["solved"], row["count"]) for row in rows]
    lows, highs = zip(*(wilson_interval(*each) for each in counts), strict=True)
    low, high = 100 * min(lows), 100 * max(highs)
    each = [100 * solved / count for solved, count in counts]
    shares = ", ".join(f"{share:.1f}" for share in each)
    if len(each) > 5:
        shares = f"mean {sum(each) / len(each):.1f}"
    least, most = said if isinstance(said, list) else (said, said)
    held = "" if said is None else "below" if high < least else "above" if low > most else "✓"
    return f"{shares} ({low:.1f}-{high:.1f})", held
