"""Plots of the leaderboard: shares of 9x9 puzzles solved over grade, blanks and time a puzzle.

Every kind of player has a panel of its own, in which colours tell the rows apart.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from math import ceil

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from sudoku_gym.evaluation.leaderboard import LeaderboardCell, LeaderboardResults, LeaderboardRow
from sudoku_gym.evaluation.leaderboard.fixed_sets import FixedSet, fixed_sets
from sudoku_gym.puzzles.difficulty import GRADES

# Okabe and Ito's colours, told apart by colour-blind eyes too
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999")
_MARKERS = "os^DvPX"
_COLUMNS = 3
_BANK = "9x9"
_HARD = "9x9-hard"

_DODGE = 0.06  # how far apart the rows of a panel stand, in steps of the axis

Points = Sequence[tuple[float, LeaderboardCell]]
Draw = Callable[[Axes, LeaderboardRow, int], None]  # axes, row, its number in the panel


def plots(results: LeaderboardResults) -> dict[str, bytes]:
    """Draw shares solved over grade, blanks and time: `{name.png: content}`."""
    ours = [each for each in fixed_sets() if each.bank == _BANK]
    by_grade = sorted((each for each in ours if each.grade), key=lambda s: GRADES.index(s.grade))
    by_blanks = sorted((each for each in ours if each.blanks), key=lambda each: each.blanks)
    technique = [each.grade.replace(" ", "\n", 1) for each in by_grade]
    blanks = [str(each.blanks) for each in by_blanks]
    pictures = {
        "grades": _figure(results, "technique that the puzzle takes", _curve(by_grade, technique)),
        "blanks": _figure(results, "blanks", _curve(by_blanks, blanks)),
        "times": _figure(results, "processor seconds a hard puzzle", _point, is_log=True),
    }
    return {f"leaderboard-{name}.png": _png(figure) for name, figure in pictures.items()}


def _figure(results: LeaderboardResults, label: str, draw: Draw, is_log: bool = False) -> Figure:
    kinds = list(dict.fromkeys(row.kind for row in results.rows if row.cells)) or [""]
    columns = min(len(kinds), _COLUMNS)
    lines = ceil(len(kinds) / columns)
    figure = Figure(figsize=(4.2 * columns, 3.6 * lines + 0.2), layout="constrained")
    panels = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, kind in zip(panels, kinds, strict=False):
        rows = [row for row in results.rows if row.kind == kind and row.cells]
        for i, row in enumerate(rows):
            draw(axes, row, i)
        _dress(axes, kind, is_log)
    for axes in panels[len(kinds) :]:
        axes.set_visible(False)
    figure.supxlabel(label, fontsize="medium", color="#444444")
    figure.supylabel(f"share of {_HARD if is_log else _BANK} puzzles solved", fontsize="medium")
    return figure


def _curve(sets: Sequence[FixedSet], labels: Sequence[str]) -> Draw:
    def draw(axes: Axes, row: LeaderboardRow, number: int) -> None:
        axes.set_xticks(range(len(sets)), labels, fontsize="small")
        cells = [(i + _DODGE * number, row.cells.get(each.name)) for i, each in enumerate(sets)]
        played = [(x, cell) for x, cell in cells if cell is not None and cell.played]
        _mark(axes, row, number, played, "-")

    return draw


def _point(axes: Axes, row: LeaderboardRow, number: int) -> None:
    cell = row.cells.get(_HARD)
    if cell is not None and cell.played and cell.seconds_per_puzzle:
        _mark(axes, row, number, [(cell.seconds_per_puzzle, cell)], "")


def _mark(
    axes: Axes,
    row: LeaderboardRow,
    number: int,
    cells: Sequence[tuple[float, LeaderboardCell]],
    style: str,
) -> None:
    """Draw shares, with their intervals, at their places."""
    shares = [cell.share for _, cell in cells]
    below = [max(cell.share - cell.interval[0], 0.0) for _, cell in cells]
    above = [max(cell.interval[1] - cell.share, 0.0) for _, cell in cells]
    axes.errorbar(
        [x for x, _ in cells],
        shares,
        (below, above),
        linestyle=style,
        marker=_MARKERS[number // len(_COLOURS) % len(_MARKERS)],
        color=_COLOURS[number % len(_COLOURS)],
        markersize=5,
        capsize=2,
        elinewidth=1,
        label=f" {row.policy}",  # matplotlib leaves out what starts with _
    )


def _dress(axes: Axes, kind: str, is_log: bool) -> None:
    axes.set_title(kind, loc="left", parse_math=False)
    axes.set_ylim(-0.04, 1.04)
    if is_log:
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelbottom=True, labelleft=True)
    if axes.get_legend_handles_labels()[1]:
        for text in axes.legend(frameon=False, fontsize="x-small").get_texts():
            text.set_parse_math(False)


def _png(figure: Figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, dpi=110, format="png")
    return file.getvalue()
