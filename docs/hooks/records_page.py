"""The tables and the plot of the page of records, from two files of figures.

`results/records.json` is what `sudoku-gym compare --puzzles extreme-like --out` wrote, and
`results/published.json` holds figures as their authors state them, on another list.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import marked
from leaderboard_page import code, words
from sudoku_gym.evaluation import percent
from sudoku_gym.evaluation.list_results import ListResults, ListRow, read_list_results
from sudoku_gym.evaluation.tables import markdown_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

TRACKS = {
    ("grid", "shown"): "Sees only the grid, shown solutions",
    ("grid", "none"): "Sees only the grid, shown none",
    ("constraints", "shown"): "Sees the constraints, shown solutions",
    ("constraints", "none"): "Sees the constraints, shown none",
}
"""What a network is given, and whether it was shown solutions, with the heading of each."""
PLOT = "images/records.png"
PAGE = "results/records.md"
_MARKERS = {"one shot": "o", "sequential": "s", "search": "^"}
_COLOURS = {"grid": "#e69f00", "constraints": "#0072b2"}  # Okabe and Ito's
_NOTHING = "-"
Published = list[Mapping[str, Any]]


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Put the tables in their places."""
    if page.file.src_uri != PAGE:
        return markdown
    return fill_in(markdown, *read(Path(config.docs_dir) / "results"))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the plot to the files of the site."""
    from mkdocs.structure.files import File

    file = io.BytesIO()
    plot(*read(Path(config.docs_dir) / "results")).savefig(file, dpi=110, format="png")
    files.append(File.generated(config, PLOT, content=file.getvalue()))
    return files


def read(folder: Path) -> tuple[ListResults, Published]:
    """Read what was played here, and what others have published.

    Raises:
        ValueError: if a policy has not played the whole list.
    """
    published = json.loads((folder / "published.json").read_text(encoding="utf-8"))
    results = read_list_results(folder / "records.json")
    for row in results.rows:
        if not (row.is_done and row.all.count):
            raise ValueError(
                f"{folder / 'records.json'}: {row.policy} has played {row.all.count:,} puzzles and "
                "not the whole list: run the command of the page again"
            )
    return results, published["rows"]


def fill_in(
    markdown: str, results: ListResults, published: Published, *, keep: bool = False
) -> str:
    """Put the parts that are marked with `records` in their places, see `marked.fill_in`."""
    parts = {
        "ours": _ours(results),
        "published": _published(published),
        "groups": _groups(results),
        "others": _others(results),
        "site_weights": f"![Share of boards solved over trained weights](../{PLOT})",
    }
    return marked.fill_in(markdown, "records", parts, keep=keep)


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


def plot(results: ListResults, published: Published) -> Figure:
    """Draw shares over weights, each list in a panel of its own: their puzzles are not the same."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 5), layout="constrained")
    here, there = figure.subplots(1, 2, sharey=True)
    here.set_title("played here: extreme-like", loc="left", fontsize="medium")
    for row in _best_first(row for row in results.rows if row.card):
        assert row.card is not None
        share, weights = 100 * row.all.solved / row.all.count, row.card.weights
        reach = [[max(share - row.all.low, 0)], [max(row.all.high - share, 0)]]
        here.errorbar(
            weights,
            share,
            reach,
            marker=_MARKERS[row.card.play],
            linestyle="",
            color=_COLOURS[row.card.sees],
            capsize=2,
            label=f"{row.policy}: {share:.1f} %",
        )
    for text in here.legend(frameon=False, fontsize="small", loc="lower left").get_texts():
        text.set_parse_math(False)
    there.set_title("as published: Sudoku-Extreme, which is harder", loc="left", fontsize="medium")
    points = [(row["weights"], row["percent"]) for row in published if row["weights"]]
    for published_row in published:
        weights, share = published_row["weights"], published_row["percent"]
        if weights:
            there.plot(weights, share, "o", color=_COLOURS[published_row["sees"]])
            is_close = any(weights < x < 2 * weights and abs(y - share) < 3 for x, y in points)
            _name(there, published_row["system"], weights, share, weights < 1e6 or is_close)
    for axes in (here, there):
        axes.set_xscale("log")
        axes.set_xlabel("trained weights")
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    here.set_xlim(1e3, 1e6)
    there.set_xlim(2e4, 2e9)
    here.set_ylim(0, 104)
    here.set_ylabel("% of boards solved")
    figure.supxlabel(
        "blue: sees the constraints, orange: only the grid; round: one shot, square: sequential, "
        "triangle: search",
        fontsize="small",
        color="#444444",
    )
    return figure


def _name(axes: Any, text: str, weights: float, share: float, is_left: bool) -> None:
    """Write a name beside a point."""
    axes.annotate(
        text,
        (weights, share),
        xytext=(-8 if is_left else 8, -3),
        textcoords="offset points",
        ha="right" if is_left else "left",
        fontsize="x-small",
    ).set_parse_math(False)
