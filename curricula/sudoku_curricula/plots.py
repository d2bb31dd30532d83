"""Plots of the curves of runs, a panel each, with seeds as a band."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from itertools import cycle
from math import ceil
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, MaxNLocator
from numpy.typing import NDArray

from sudoku_curricula import curves
from sudoku_gym.storage.atomic import atomic_write, check_suffix

Runs = list[curves.Curves]  # the runs of one line
Floors = Mapping[str, Mapping[str, float]]  # {curve: {label: height of a level line}}

# Okabe and Ito's colours, safe for colour-blind readers
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999")
_FLOOR_COLOUR = "#444444"
_FLOOR_STYLES = ("--", ":", "-.")
_COLUMNS = 3
_LABELS = 8  # tasks, at most, that are named beside a heat map
_SHARES = ("curriculum", "evaluation", "training", "search")  # groups that hold shares
_LOG_AXIS_MIN = 1e-5  # the lower end of logarithmic axes: some losses fall to 0


def plot(
    runs: tuple[Path, ...], /, *, out: Path = Path("curves.png"), compare: bool = False
) -> int:
    """Draw the curves of runs that TensorBoard shows; several seeds as mean and band.

    Args:
        runs: Folders of runs, or folders with several runs below them.
        out: The PNG to write.
        compare: Draw one line per folder; otherwise all runs are seeds of one line.
    """
    plot_runs(runs, out, compare=compare)
    print(f"Wrote {out}")
    return 0


def plot_runs(
    folders: Sequence[str | os.PathLike[str]],
    path: str | os.PathLike[str],
    *,
    compare: bool = False,
    floors: Floors | None = None,
) -> None:
    """Draw the curves of runs over environment steps, a panel each, in the order of the groups.

    Several runs make one line: their mean, in a band from the lowest of them to the highest. Weight
    and success of the tasks of a curriculum are heat maps, of the first run of each line.

    Args:
        folders: each with the event files of one run, or with several runs anywhere below it.
        path: output PNG, written to a temporary name and renamed.
        compare: draw a line for each folder, under its name; else all runs of all folders are one.
        floors: level lines of players without learning, e.g.
            `{"evaluation/completion_rate": {"hidden singles": 0.53}}`.

    Raises:
        ValueError: if a folder holds no curves, there are more than colours to compare, or `path`
            is of another kind.
    """
    check_suffix(path, "a plot", ".png")
    if compare and len(folders) > len(_COLOURS):
        raise ValueError(
            f"{len(folders)} folders can't be told apart: compare {len(_COLOURS)} at most"
        )
    runs_by_folder = {os.fspath(folder): _read_runs(folder) for folder in folders}
    runs = [run for part in runs_by_folder.values() for run in part]
    tags = tags_of(runs)
    if not compare:
        runs_by_folder = {"": runs}
    heats = [
        (group, folder, each[0])
        for folder, each in runs_by_folder.items()
        for group in curves.TASK_GROUPS
        if any(tag.startswith(f"{group}/") for tag in each[0])
    ]
    figure = _figure(len(tags) + len(heats))
    panels = iter(figure.axes)
    for tag in tags:
        _draw_panel(next(panels), tag, list(runs_by_folder.values()), (floors or {}).get(tag, {}))
    for heat in heats:
        _draw_heat(next(panels), *heat)
    for axes in panels:
        axes.set_visible(False)
    if compare:
        handles = [Line2D([], [], color=colour, linewidth=2) for colour in _COLOURS[: len(folders)]]
        names = list(runs_by_folder)
        figure.legend(handles, names, loc="outside upper left", ncols=4, frameon=False)
    with atomic_write(path) as temporary:
        figure.savefig(temporary, dpi=130, format="png")


def tags_of(runs: Runs) -> list[str]:
    """Return the names of the curves to draw, in the order of the groups; ValueError if none.

    The iteration, a straight line, is left to TensorBoard.
    """
    found = sorted({tag for run in runs for tag in run} - {curves.ITERATION})
    tags = [tag for group in curves.GROUPS for tag in found if tag.startswith(f"{group}/")]
    if not tags:
        raise ValueError(f"the runs hold no curve of a group to draw: {', '.join(curves.GROUPS)}")
    return tags


def mean_and_range(runs: Runs, tag: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the steps of all runs' points, float64 `[T]`, and mean, min, max there, `[3, T]`.

    A run is interpolated linearly between its points, and left out before and after them; one at
    least has the curve.
    """
    points = [run[tag] for run in runs if tag in run]
    steps = np.unique(np.concatenate([np.asarray(at, np.float64) for at, _ in points]))
    values = np.array([np.interp(steps, *point, np.nan, np.nan) for point in points])
    return steps, np.array([f(values, axis=0) for f in (np.nanmean, np.nanmin, np.nanmax)])


def task_history(
    run: curves.Curves, group: str
) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Return tasks, steps `[S]` and values `[T, S]` of the curves `group/task` of a run.

    A value holds until the next one; before the first it is nan. Tasks are in the order of the
    numbers in their names, since some loggers write them by the alphabet; `stored` comes last.
    """
    tags = [tag for tag in run if tag.startswith(f"{group}/")]
    tags.sort(key=lambda tag: [float(n) for n in re.findall(r"\d+", tag.replace("stored", "9999"))])
    steps = np.unique(np.concatenate([np.asarray(run[tag][0], np.float64) for tag in tags]))
    counts = [np.searchsorted(run[tag][0], steps, "right") for tag in tags]  # of points until then
    values = [np.append(np.nan, run[tag][1])[n] for n, tag in zip(counts, tags, strict=True)]
    return [tag.partition("/")[2] for tag in tags], steps, np.array(values)


def _read_runs(folder: str | os.PathLike[str]) -> Runs:
    """Read every run in a folder or below it."""
    found = {file.parent for file in Path(folder).rglob("events.out.tfevents.*")}
    return [curves.read_curves(run) for run in sorted(found) or [Path(folder)]]


def _figure(panels: int) -> Figure:
    columns = min(panels, _COLUMNS)
    rows = ceil(panels / columns)
    figure = Figure(figsize=(4.2 * columns, 2.9 * rows + 0.3))
    figure.set_layout_engine("constrained", h_pad=0.12, w_pad=0.08)
    figure.subplots(rows, columns)
    for axes in figure.axes:
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    label = "environment steps (supervised training: positions seen)"
    figure.supxlabel(label, fontsize="medium", color="#444444")
    return figure


def _draw_panel(axes: Axes, tag: str, lines: Sequence[Runs], floors: Mapping[str, float]) -> None:
    """Draw a curve, a line of another colour for each list of runs."""
    for runs, colour in zip(lines, _COLOURS, strict=False):
        if any(tag in run for run in runs):
            steps, (mean, low, high) = mean_and_range(runs, tag)
            marker = "o" if steps.size == 1 else None  # a single point makes no line
            axes.plot(steps, mean, color=colour, linewidth=2, marker=marker)
            if len(runs) > 1:
                axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)
    for (name, height), dashes in zip(floors.items(), cycle(_FLOOR_STYLES), strict=False):
        axes.axhline(height, color=_FLOOR_COLOUR, linestyle=dashes, linewidth=1.2, label=name)
    group, _, name = tag.partition("/")
    axes.set_title(name.replace("_", " ").capitalize(), loc="left")
    axes.set_title(group, loc="right", color="#888888", fontsize="small")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    values = [run[tag][1] for runs in lines for run in runs if tag in run]
    set_scale(axes, tag, np.concatenate(values))
    if floors:
        axes.legend(frameon=False, fontsize="small")


def _draw_heat(axes: Axes, group: str, folder: str, run: curves.Curves) -> None:
    """Draw the values of all tasks over time, the first task below."""
    tasks, steps, values = task_history(run, group)
    mesh = axes.pcolormesh(steps, np.arange(len(tasks)), values, shading="nearest", vmin=0)
    axes.figure.colorbar(mesh, ax=axes)
    shown = np.linspace(0, len(tasks) - 1, min(len(tasks), _LABELS)).round().astype(int)
    axes.set_yticks(shown, [tasks[i] for i in shown], fontsize="small")
    axes.set_title(group.replace("_", " ").capitalize(), loc="left")
    axes.set_title(Path(folder).name, loc="right", color="#888888", fontsize="small")


def set_scale(axes: Axes, tag: str, values: NDArray[np.float64]) -> None:
    """Fit the vertical axis of a curve's panel to its values `[T]`.

    Shares go from 0 to 1, losses that span decades are on a logarithmic axis, all others begin at 0
    or below.
    """
    group, low, high = tag.partition("/")[0], values.min(), values.max()
    if group in _SHARES and tag != curves.BLANKS_LEVEL and low >= 0 and high <= 1:
        axes.set_ylim(-0.02, 1.02)
    elif group == "losses" and low >= 0 and high > 100 * max(low, _LOG_AXIS_MIN):
        axes.set_yscale("log")
        axes.set_ylim(bottom=max(axes.get_ylim()[0], _LOG_AXIS_MIN))
    else:
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
        if high >= 10_000:
            axes.yaxis.set_major_formatter(EngFormatter(sep=""))
