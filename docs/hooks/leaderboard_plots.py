"""Plots of the leaderboard: shares of 9x9 puzzles solved over grade, blanks and time a puzzle.

Every kind of player has a panel of its own, in which colours tell the rows apart.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

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
        "times": _figure(results, "processor seconds a hard puzzle", {}),
    }


def _figure(results: LeaderboardResults, label: str, ticks: Mapping[str, str]) -> Figure:
    """Draw the shares of the sets in `{set: tick}`; without any, of the hard puzzles over time."""
    kinds = list(dict.fromkeys(row.kind for row in results.rows.values() if row.cells)) or [""]
    columns = min(len(kinds), _COLUMNS)
    lines = ceil(len(kinds) / columns)
    figure = Figure(figsize=(4.2 * columns, 3.6 * lines + 0.2), layout="constrained")
    panels = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axes in panels[len(kinds) :]:
        axes.set_visible(False)
    for axes, kind in zip(panels, kinds, strict=False):
        if ticks:
            axes.set_xticks(range(len(ticks)), list(ticks.values()), fontsize="small")
        else:
            axes.set_xscale("log")
            axes.xaxis.set_minor_formatter(NullFormatter())
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
    figure.supylabel(f"share of {_BANK if ticks else _HARD} puzzles solved", fontsize="medium")
    return figure


def _draw_row(
    axes: Axes, i: int, policy: str, cells: Mapping[str, LeaderboardCell], ticks: Mapping[str, str]
) -> None:
    """Draw the shares of a policy with their intervals; `i` is its number in the panel."""
    places = {name: x + _DODGE * i for x, name in enumerate(ticks)}
    if not ticks:
        timing = cells[_HARD].timing if _HARD in cells else None
        places = {_HARD: timing.mean} if timing and timing.mean else {}
    played = [name for name in places if name in cells and cells[name].played]
    if not played and not ticks:
        return
    below = [max(cells[name].share - cells[name].interval[0], 0.0) for name in played]
    above = [max(cells[name].interval[1] - cells[name].share, 0.0) for name in played]
    axes.errorbar(
        [places[name] for name in played],
        [cells[name].share for name in played],
        (below, above),
        linestyle="-" if ticks else "",
        marker=_MARKERS[i // len(_COLOURS) % len(_MARKERS)],
        color=_COLOURS[i % len(_COLOURS)],
        markersize=5,
        capsize=2,
        elinewidth=1,
        label=f" {policy}",  # matplotlib leaves out what starts with _
    )
