"""The curves of runs as a picture: the same numbers that TensorBoard shows, seeds as a band."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import ceil, floor, log10
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, MaxNLocator
from numpy.typing import NDArray

from sudoku_curricula import curves

Group = list[curves.Curves]  # the runs behind one line

# Okabe and Ito's colours, told apart by colour-blind eyes too
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999")
_STYLES = ("-", "--")
_PANELS = (
    ("Blanks", {curves.BLANKS: "blanks"}),
    (
        "Share solved",
        {curves.SUCCESS_RATE: "at the level", curves.COMPLETION_RATE: "minimal, validation"},
    ),
    ("Return of an episode", {curves.EPISODIC_RETURN: "return"}),
    ("Policy, nats", {curves.POLICY_LOSS: "loss", curves.ENTROPY: "entropy"}),
    ("Value loss", {curves.VALUE_LOSS: "value loss"}),
    (
        "Throughput",
        {
            curves.GAMES_PER_SECOND: "games a second",
            curves.STEPS_PER_SECOND: "environment steps a second",
        },
    ),
)


def plot_runs(
    folders: Sequence[str | os.PathLike[str]],
    path: str | os.PathLike[str],
    *,
    compare: bool = False,
) -> None:
    """Draw curriculum, success, returns, losses and throughput over the steps of TensorBoard.

    Several runs make one line: their mean, in a band from the lowest of them to the highest.

    Args:
        folders: each with the event files of one run, or with several runs anywhere below it.
        path: of the PNG; it is written to a temporary name and renamed.
        compare: draw a line for each folder, under its name; else all runs of all folders are one.

    Raises:
        ValueError: if a folder holds no curves, or there is none, or more to compare than colours.
    """
    if not folders:
        raise ValueError("there is nothing to draw: give the folder of a run")
    if compare and len(folders) > len(_COLOURS):
        raise ValueError(
            f"{len(folders)} folders can't be told apart: compare {len(_COLOURS)} at most"
        )
    groups = {os.fspath(folder): _read_runs(folder) for folder in folders}
    if not compare:
        groups = {"": [run for runs in groups.values() for run in runs]}
    figure = Figure(figsize=(12, 6), layout="constrained")
    for axes, (title, lines) in zip(figure.subplots(2, 3).flat, _PANELS, strict=True):
        _draw_panel(axes, title, lines, groups)
    if compare:
        handles = [
            Line2D([], [], color=c, linewidth=2) for c, _ in zip(_COLOURS, groups, strict=False)
        ]
        figure.legend(handles, list(groups), loc="outside upper left", ncols=4, frameon=False)
    target = Path(path)
    draft = target.with_name(f".{target.name}.draft")
    figure.savefig(draft, dpi=130, format="png")
    os.replace(draft, target)


def mean_and_range(runs: Group, tag: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the steps `[T]` at which any of the runs has a point, and its mean, min, max there.

    Between its own points a run counts with the straight line between them; before its first and
    after its last it does not count.

    Returns:
        The steps, float64 `[T]`, and float64 `[3, T]`; T is 0 if no run has the curve.
    """
    points = [run[tag] for run in runs if tag in run]
    if not points:
        return np.empty(0), np.empty((3, 0))
    steps = np.unique(np.concatenate([np.asarray(at, np.float64) for at, _ in points]))
    values = np.array([np.interp(steps, *point, np.nan, np.nan) for point in points])
    return steps, np.array([kind(values, axis=0) for kind in (np.nanmean, np.nanmin, np.nanmax)])


def _read_runs(folder: str | os.PathLike[str]) -> Group:
    """Read every run in a folder or below it."""
    found = {file.parent for file in Path(folder).rglob("events.out.tfevents.*")}
    return [curves.read_curves(run) for run in sorted(found) or [Path(folder)]]


def _draw_panel(axes: Axes, title: str, lines: dict[str, str], groups: dict[str, Group]) -> None:
    """Draw some curves: groups are told apart by colour, or, if there is one, the curves are."""
    compare = len(groups) > 1
    for number, (tag, label) in enumerate(lines.items()):
        style = _STYLES[number]
        for place, runs in enumerate(groups.values()):
            steps, (mean, low, high) = mean_and_range(runs, tag)
            if not steps.size:
                continue
            colour = _COLOURS[(place if compare else number)]
            axes.plot(steps, mean, style, color=colour, linewidth=2)
            if len(runs) > 1:
                axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)
        if len(lines) > 1 and any(tag in run for runs in groups.values() for run in runs):
            axes.plot([], [], style, color="black" if compare else colour, label=label)
    axes.set_title(title, loc="left")
    axes.set_xlabel("step")
    axes.grid(alpha=0.3)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.spines[["top", "right"]].set_visible(False)
    if curves.SUCCESS_RATE in lines:
        axes.set_ylim(-0.02, 1.02)
    elif curves.VALUE_LOSS not in lines:
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    elif axes.get_lines():
        _make_logarithmic(axes)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(frameon=False, fontsize="small")


def _make_logarithmic(axes: Axes) -> None:
    """Show whole decades, none below 1e-5: the value loss falls to 0 where all games are won."""
    axes.set_yscale("log")
    low, high = axes.dataLim.intervaly
    axes.set_ylim(10 ** floor(log10(max(low, 1e-5))), 10 ** ceil(log10(max(high, 1e-4))))
