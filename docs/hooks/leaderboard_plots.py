"""The plot of the leaderboard: the share of hard puzzles solved over the time a puzzle.

Lines are frontiers: what no other policy beats in both.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from leaderboard_page import PAGE, SORTED_BY, Results, is_shown, seconds_of, share_of

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

# Okabe and Ito's colours, told apart by colour-blind eyes too
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999")
_MARKERS = "os^DvPX"
LEARNED = ("learned without solutions", "supervised")
"""The kinds of networks that play without a search."""
PICTURE = "images/leaderboard-times.png"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the plot to the files of the site."""
    from mkdocs.structure.files import File

    results = json.loads(Path(config.docs_dir, "results/leaderboard.json").read_text("utf-8"))
    file = io.BytesIO()
    plot(results).savefig(file, dpi=110, format="png")
    files.append(File.generated(config, PICTURE, content=file.getvalue()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Show the plot in the place that the page has for it."""
    if page.file.src_uri == PAGE:
        told = "Share of hard puzzles solved against processor time, all policies in one panel"
        markdown = markdown.replace("<!-- leaderboard: site_times -->", f"![{told}]({PICTURE})")
    return markdown


def frontier(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return the names that none beats in both of `{name: (seconds, share)}`, the fastest first."""
    found: list[str] = []
    for name in sorted(points, key=lambda each: (points[each][0], -points[each][1])):
        if not found or points[name][1] > points[found[-1]][1]:
            found.append(name)
    return found


def plot(results: Results) -> Figure:
    """Draw the share of hard puzzles over time, all policies in one panel."""
    cells = {name: row["cells"].get(SORTED_BY) for name, row in results["rows"].items()}
    cells = {name: cell for name, cell in cells.items() if is_shown(cell) and seconds_of(cell)}
    points = {name: (seconds_of(cell), share_of(cell)[0]) for name, cell in cells.items()}
    kinds = {name: results["rows"][name]["kind"] for name in points}
    figure = Figure(figsize=(10, 6), layout="constrained")
    axes = figure.add_subplot(xscale="log", ylim=(-0.1, 1.2))
    for i, kind in enumerate(dict.fromkeys(kinds.values())):
        names = [name for name in points if kinds[name] == kind]
        shares = [share_of(cells[name]) for name in names]
        ends = [(max(share - low, 0.0), max(high - share, 0.0)) for share, low, high in shares]
        axes.errorbar(
            [points[name][0] for name in names],
            [share for share, *_ in shares],
            np.transpose(ends),
            fmt=_MARKERS[i],
            color=_COLOURS[i],
            elinewidth=1,
            label=kind,
        )
    learned = {name: each for name, each in points.items() if kinds[name] in LEARNED}
    for chosen, line, label, side in (
        (points, "-", "frontier of all", 1),
        (learned, ":", "frontier of networks that play without search", -1),
    ):
        names = frontier(chosen)
        seconds, shares = ([points[name][i] for name in names] for i in (0, 1))
        axes.step(seconds, shares, line, where="post", color="#444444", linewidth=1, label=label)
        for i, name in enumerate(names):  # names of points side by side stand at two heights
            place = {"xytext": (4, side * (14 + 10 * (i % 2))), "textcoords": "offset points"}
            axes.annotate(name, points[name], fontsize="small", **place)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.set_xlabel("processor seconds a hard puzzle, one core", color="#444444")
    axes.set_ylabel(f"share of {SORTED_BY} puzzles solved")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize="small")
    return figure
