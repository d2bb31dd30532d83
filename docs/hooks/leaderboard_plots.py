"""Plots of the leaderboard: shares of 9x9 puzzles solved over grade, blanks and time a puzzle.

Over grade and blanks every kind of player has a panel of its own, in which colours tell the rows
apart. Over time all stand in one, with the frontier: what no other policy beats in both.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from leaderboard_page import SORTED_BY, Cell, Results, is_shown, read, seconds_of, share_of

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

# Okabe and Ito's colours, told apart by colour-blind eyes too
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999")
_MARKERS = "os^DvPX"
_COLUMNS = 3
_BANK = "9x9"
LEARNED = ("learned without solutions", "supervised")
"""The kinds of networks that play without a search."""
PLOTS = {
    "times": "Share of hard puzzles solved against processor time, all policies in one panel",
    "grades": "Share of 9x9 puzzles solved by grade",
    "blanks": "Share of 9x9 puzzles solved by blanks",
}
_DODGE = 0.06  # how far apart the rows of a panel stand, in steps of the axis


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the plots to the files of the site."""
    from mkdocs.structure.files import File

    results = read(Path(config.docs_dir) / "results/leaderboard.json")
    for name, figure in plots(results).items():
        file = io.BytesIO()
        figure.savefig(file, dpi=110, format="png")
        path = f"images/leaderboard-{name}.png"
        files.append(File.generated(config, path, content=file.getvalue()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Show the plots in the places that the page has for them."""
    if page.file.src_uri == "leaderboard.md":
        for name, shown in PLOTS.items():
            picture = f"![{shown}](images/leaderboard-{name}.png)"
            markdown = markdown.replace(f"<!-- leaderboard: site_{name} -->", picture)
    return markdown


def plots(results: Results) -> dict[str, Figure]:
    """Draw shares solved over grade, blanks and time."""
    ours = {name: each for name, each in results["sets"].items() if each["bank"] == _BANK}
    grades = {name: s["grade"].replace(" ", "\n", 1) for name, s in ours.items() if s["grade"]}
    blanks = {name: str(each["blanks"]) for name, each in ours.items() if each["blanks"]}
    return {
        "grades": _figure(results, "technique that the puzzle takes", grades),
        "blanks": _figure(results, "blanks", blanks),
        "times": _times(results),
    }


def frontier(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return the names that none beats in both of `{name: (seconds, share)}`, the fastest first."""
    found: list[str] = []
    for name in sorted(points, key=lambda each: (points[each][0], -points[each][1])):
        if not found or points[name][1] > points[found[-1]][1]:
            found.append(name)
    return found


def _times(results: Results) -> Figure:
    """Draw the share of hard puzzles over time, all policies in one panel."""
    cells = {name: row["cells"].get(SORTED_BY) for name, row in results["rows"].items()}
    cells = {name: cell for name, cell in cells.items() if is_shown(cell) and seconds_of(cell)}
    points = {name: (seconds_of(cell), share_of(cell)[0]) for name, cell in cells.items()}
    kinds = {name: results["rows"][name]["kind"] for name in points}
    figure = Figure(figsize=(10, 6), layout="constrained")
    axes = figure.add_subplot(xscale="log", ylim=(-0.1, 1.2))
    for i, kind in enumerate(dict.fromkeys(kinds.values())):
        names = [name for name in points if kinds[name] == kind]
        style = {"marker": _MARKERS[i], "color": _COLOURS[i], "linestyle": "", "label": kind}
        _draw(axes, [points[name][0] for name in names], [cells[name] for name in names], style)
    learned = {name: each for name, each in points.items() if kinds[name] in LEARNED}
    _draw_frontier(axes, points, "-", "frontier of all", 1)
    _draw_frontier(axes, learned, ":", "frontier of networks that play without search", -1)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.set_xlabel("processor seconds a hard puzzle, one core", color="#444444")
    axes.set_ylabel(f"share of {SORTED_BY} puzzles solved")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize="small")
    return figure


def _draw(axes: Axes, places: Sequence[float], cells: Sequence[Cell], style: Any) -> None:
    """Draw shares with their intervals."""
    shares = [share_of(cell) for cell in cells]
    below = [max(share - low, 0.0) for share, low, _ in shares]
    above = [max(high - share, 0.0) for share, _, high in shares]
    axes.errorbar(places, [share for share, *_ in shares], (below, above), elinewidth=1, **style)


def _draw_frontier(
    axes: Axes, points: Mapping[str, tuple[float, float]], line: str, label: str, side: int
) -> None:
    """Draw the frontier of points as steps; `side` has the names above (1) or below (-1) them."""
    names = frontier(points)
    if not names:
        return
    seconds, shares = zip(*(points[name] for name in names), strict=True)
    axes.step(seconds, shares, line, where="post", color="#444444", linewidth=1, label=label)
    near = [
        seconds[i + 1] < 2 * seconds[i] and shares[i + 1] < shares[i] + 0.2
        for i in range(len(names) - 1)
    ]
    levels = [0] * len(names)  # names of points side by side stand one above the other
    for i in range(1, len(names)) if side > 0 else range(len(names) - 2, -1, -1):
        before = i - side
        levels[i] = levels[before] + 1 if near[min(i, before)] else 0
    arrow = {"arrowstyle": "-", "color": "#999999", "linewidth": 0.6, "relpos": (0, 0.5)}
    for name, level in zip(names, levels, strict=True):
        place = {"xytext": (12, side * (10 + 9 * level)), "textcoords": "offset points"}
        axes.annotate(name, points[name], fontsize="small", arrowprops=arrow, **place)


def _figure(results: Results, label: str, ticks: Mapping[str, str]) -> Figure:
    """Draw the shares of the sets in `{set: tick}`, a panel a kind."""
    played = {name: row for name, row in results["rows"].items() if row["cells"]}
    kinds = list(dict.fromkeys(row["kind"] for row in played.values()))
    lines = ceil(len(kinds) / _COLUMNS)
    figure = Figure(figsize=(4.2 * _COLUMNS, 3.6 * lines + 0.2), layout="constrained")
    panels = figure.subplots(lines, _COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
    for axes in panels[len(kinds) :]:
        axes.set_visible(False)
    for axes, kind in zip(panels, kinds, strict=False):
        axes.set_xticks(range(len(ticks)), list(ticks.values()), fontsize="small")
        for i, policy in enumerate(name for name, row in played.items() if row["kind"] == kind):
            _draw_row(axes, i, policy, played[policy]["cells"], ticks)
        axes.set_ylim(-0.04, 1.04)
        axes.set_title(kind, loc="left")
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelbottom=True, labelleft=True)
        axes.legend(frameon=False, fontsize="x-small")
    figure.supxlabel(label, fontsize="medium", color="#444444")
    figure.supylabel(f"share of {_BANK} puzzles solved", fontsize="medium")
    return figure


def _draw_row(
    axes: Axes, i: int, policy: str, cells: Mapping[str, Cell], ticks: Mapping[str, str]
) -> None:
    """Draw the shares of a policy; `i` is its number in the panel."""
    places = {x + _DODGE * i: cells.get(name) for x, name in enumerate(ticks)}
    places = {x: cell for x, cell in places.items() if is_shown(cell)}
    marker, color = _MARKERS[i // len(_COLOURS)], _COLOURS[i % len(_COLOURS)]
    style = {"marker": marker, "color": color, "markersize": 5, "capsize": 2, "label": policy}
    _draw(axes, [*places], [*places.values()], style)
