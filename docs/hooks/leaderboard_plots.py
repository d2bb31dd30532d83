"""Plots of the leaderboard: shares of 9x9 puzzles solved over grade, blanks and time a puzzle.

Over grade and blanks every kind of player has a panel of its own, in which colours tell the rows
apart. Over time all stand in one, with the frontier: what no other policy beats in both.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sudoku_gym.evaluation.leaderboard import LeaderboardResults, read_leaderboard
from sudoku_gym.evaluation.leaderboard.fixed_sets import fixed_sets
from sudoku_gym.evaluation.leaderboard.results import LeaderboardCell

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

# Okabe and Ito's colours, told apart by colour-blind eyes too
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999")
_MARKERS = "os^DvPX"
_COLUMNS = 3
_BANK = "9x9"
_HARD = "9x9-hard"
LEARNED = ("learned without solutions", "supervised")
"""The kinds of networks that play without a search."""
_DODGE = 0.06  # how far apart the rows of a panel stand, in steps of the axis


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the plots to the files of the site."""
    from mkdocs.structure.files import File

    results = read_leaderboard(Path(config.docs_dir) / "results/leaderboard.json")
    for name, figure in plots(results).items():
        file = io.BytesIO()
        figure.savefig(file, dpi=110, format="png")
        path = f"images/leaderboard-{name}.png"
        files.append(File.generated(config, path, content=file.getvalue()))
    return files


def plots(results: LeaderboardResults) -> dict[str, Figure]:
    """Draw shares solved over grade, blanks and time."""
    ours = [each for each in fixed_sets() if each.bank == _BANK]
    grades = {each.name: each.grade.replace(" ", "\n", 1) for each in ours if each.grade}
    blanks = {each.name: str(each.blanks) for each in ours if each.blanks}
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


def _times(results: LeaderboardResults) -> Figure:
    """Draw the share of hard puzzles over time, all policies in one panel."""
    cells = {name: row.cells[_HARD] for name, row in results.rows.items() if _HARD in row.cells}
    points = {
        name: (cell.puzzle_seconds, cell.share)
        for name, cell in cells.items()
        if cell.stands and cell.puzzle_seconds
    }
    kinds = {name: results.rows[name].kind for name in points}
    figure = Figure(figsize=(10, 6), layout="constrained")
    axes = figure.add_subplot(xscale="log", ylim=(-0.1, 1.2))
    for i, kind in enumerate(dict.fromkeys(kinds.values())):
        there = [cells[name] for name in points if kinds[name] == kind]
        places = [points[name] for name in points if kinds[name] == kind]
        below = [max(cell.share - cell.interval[0], 0.0) for cell in there]
        above = [max(cell.interval[1] - cell.share, 0.0) for cell in there]
        axes.errorbar(
            *zip(*places, strict=True),
            (below, above),
            linestyle="",
            marker=_MARKERS[i % len(_MARKERS)],
            color=_COLOURS[i % len(_COLOURS)],
            elinewidth=1,
            label=f" {kind}",  # matplotlib leaves out what starts with _
        )
    learned = {name: each for name, each in points.items() if kinds[name] in LEARNED}
    _draw_frontier(axes, points, "-", "frontier of all", 1)
    _draw_frontier(axes, learned, ":", "frontier of networks that play without search", -1)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1])
    axes.set_xlabel("processor seconds a hard puzzle, one core", color="#444444")
    axes.set_ylabel(f"share of {_HARD} puzzles solved")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    legend = figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize="small")
    for text in legend.get_texts():
        text.set_parse_math(False)
    return figure


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
    for name, level in zip(names, levels, strict=True):
        axes.annotate(
            name,
            points[name],
            xytext=(12, side * (10 + 9 * level)),
            textcoords="offset points",
            fontsize="small",
            arrowprops={
                "arrowstyle": "-",
                "color": "#999999",
                "linewidth": 0.6,
                "relpos": (0, 0.5),
            },
        ).set_parse_math(False)


def _figure(results: LeaderboardResults, label: str, ticks: Mapping[str, str]) -> Figure:
    """Draw the shares of the sets in `{set: tick}`."""
    kinds = list(dict.fromkeys(row.kind for row in results.rows.values() if row.cells)) or [""]
    columns = min(len(kinds), _COLUMNS)
    lines = ceil(len(kinds) / columns)
    figure = Figure(figsize=(4.2 * columns, 3.6 * lines + 0.2), layout="constrained")
    panels = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axes in panels[len(kinds) :]:
        axes.set_visible(False)
    for axes, kind in zip(panels, kinds, strict=False):
        axes.set_xticks(range(len(ticks)), list(ticks.values()), fontsize="small")
        rows = [each for each in results.rows.items() if each[1].kind == kind and each[1].cells]
        for i, (policy, row) in enumerate(rows):
            _draw_row(axes, i, policy, row.cells, ticks)
        axes.set_ylim(-0.04, 1.04)
        axes.set_title(kind, loc="left", parse_math=False)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelbottom=True, labelleft=True)
        if axes.get_legend_handles_labels()[1]:
            for text in axes.legend(frameon=False, fontsize="x-small").get_texts():
                text.set_parse_math(False)
    figure.supxlabel(label, fontsize="medium", color="#444444")
    figure.supylabel(f"share of {_BANK} puzzles solved", fontsize="medium")
    return figure


def _draw_row(
    axes: Axes, i: int, policy: str, cells: Mapping[str, LeaderboardCell], ticks: Mapping[str, str]
) -> None:
    """Draw the shares of a policy with their intervals; `i` is its number in the panel."""
    places = {name: x + _DODGE * i for x, name in enumerate(ticks)}
    played = [name for name in places if name in cells and cells[name].stands]
    below = [max(cells[name].share - cells[name].interval[0], 0.0) for name in played]
    above = [max(cells[name].interval[1] - cells[name].share, 0.0) for name in played]
    axes.errorbar(
        [places[name] for name in played],
        [cells[name].share for name in played],
        (below, above),
        linestyle="-",
        marker=_MARKERS[i // len(_COLOURS) % len(_MARKERS)],
        color=_COLOURS[i % len(_COLOURS)],
        markersize=5,
        capsize=2,
        elinewidth=1,
        label=f" {policy}",  # matplotlib leaves out what starts with _
    )
