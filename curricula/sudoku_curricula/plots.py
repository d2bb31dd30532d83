"""Plots of the curves of runs, one panel or more per group, with seeds as a band."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor, inf, isfinite, log10
from pathlib import Path
from types import MappingProxyType

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
_STYLES = ("-", "--", ":", "-.")  # of the curves of a panel, where colours stand for folders
_FLOOR_COLOUR = "#444444"
_FLOOR_STYLES = ("--", ":", "-.")
_COLUMNS = 3
_DECADES = 2  # a loss that spans more than this many is drawn on a logarithmic axis
_SHARES = ("curriculum", "evaluation", "training", "search")  # groups that hold shares
_MAX_SCALE_RATIO = 10  # curves share an axis if their maxima differ by at most this factor
_LOG_AXIS_MIN = 1e-5  # the lower end of logarithmic axes: some losses fall to 0
_NO_FLOORS: Floors = MappingProxyType({})


@dataclass(frozen=True)
class Panel:
    """Some curves of a group that share an axis."""

    group: str  # part of the names before the slash
    tags: tuple[str, ...]  # names of the curves
    scale: str = "linear"  # `linear`, `log`, or `share`: linear from 0 to 1

    @property
    def title(self) -> str:
        """The one curve's name, or the group's."""
        return _label(self.tags[0] if len(self.tags) == 1 else self.group).capitalize()


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
    floors: Floors = _NO_FLOORS,
) -> None:
    """Draw the curves of runs over environment steps, a panel or more for each group.

    Several runs make one line: their mean, in a band from the lowest of them to the highest.

    Args:
        folders: each with the event files of one run, or with several runs anywhere below it.
        path: output PNG, written to a temporary name and renamed.
        compare: draw a line for each folder, under its name; else all runs of all folders are one.
        floors: level lines of players without learning, three a curve at most, e.g.
            `{"evaluation/completion_rate": {"hidden singles": 0.53}}`. A curve with floors has a
            panel of its own.

    Raises:
        ValueError: if a folder holds no curves, or there are more to compare than colours; if there
            are more floors than line styles; if the path does not end in `.png`.
    """
    check_suffix(path, "a plot", ".png")
    if compare and len(folders) > len(_COLOURS):
        raise ValueError(
            f"{len(folders)} folders can't be told apart: compare {len(_COLOURS)} at most"
        )
    runs_by_folder = {os.fspath(folder): _read_runs(folder) for folder in folders}
    runs = [run for part in runs_by_folder.values() for run in part]
    for tag, heights in floors.items():
        if len(heights) > len(_FLOOR_STYLES):
            raise ValueError(f"{len(heights)} floors of {tag}: give {len(_FLOOR_STYLES)} at most")
    panels = panels_of(runs, apart=floors)
    if not compare:
        runs_by_folder = {"": runs}
    figure = _figure(len(panels))
    for axes, panel in zip(figure.axes, panels, strict=False):
        _draw_panel(axes, panel, runs_by_folder, floors, compare)
    for axes in figure.axes[len(panels) :]:
        axes.set_visible(False)
    if compare:
        handles = [Line2D([], [], color=colour, linewidth=2) for colour in _COLOURS[: len(folders)]]
        names = list(runs_by_folder)
        figure.legend(handles, names, loc="outside upper left", ncols=4, frameon=False)
    with atomic_write(path) as temporary:
        figure.savefig(temporary, dpi=130, format="png")


def panels_of(runs: Runs, apart: Collection[str] = ()) -> list[Panel]:
    """Choose the panels of all curves, in the order of the groups.

    The level, each of the `charts` and the curves in `apart` have panels of their own. Of the rest
    of a group, shares share panels, and so do losses that span decades, and others of similar size.

    Raises:
        ValueError: if no curve belongs to a group.
    """
    values: dict[str, NDArray[np.float64]] = {}
    # The iteration is a straight line, left to TensorBoard.
    for tag in sorted({tag for run in runs for tag in run} - {curves.ITERATION}):
        values[tag] = np.concatenate([run[tag][1] for run in runs if tag in run])
    panels = []
    for group in curves.GROUPS:
        panels += _panels_of_group(
            group, {tag: all_ for tag, all_ in values.items() if tag.startswith(f"{group}/")}
        )
    if not panels:
        raise ValueError(f"the runs hold no curve of a group to draw: {', '.join(curves.GROUPS)}")
    return [part for panel in panels for part in _split_out(panel, apart)]


def mean_and_range(runs: Runs, tag: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the steps of all runs' points, float64 `[T]`, and mean, min, max there, `[3, T]`.

    A run is interpolated linearly between its points, and left out before and after them. T is 0
    if no run has the curve.
    """
    points = [run[tag] for run in runs if tag in run]
    if not points:
        return np.empty(0), np.empty((3, 0))
    steps = np.unique(np.concatenate([np.asarray(at, np.float64) for at, _ in points]))
    values = np.array([np.interp(steps, *point, np.nan, np.nan) for point in points])
    return steps, np.array([f(values, axis=0) for f in (np.nanmean, np.nanmin, np.nanmax)])


def _panels_of_group(group: str, values: dict[str, NDArray[np.float64]]) -> list[Panel]:
    alone, shares, losses, others = [], [], [], {}
    for tag, all_ in values.items():
        if tag == curves.BLANKS_LEVEL or group == "charts":
            alone.append(tag)
        elif group in _SHARES and 0 <= all_.min() and all_.max() <= 1:
            shares.append(tag)
        elif group == "losses" and _spans_decades(all_):
            losses.append(tag)
        else:
            others[tag] = float(np.abs(all_).max())
    return [
        *(Panel(group, (tag,)) for tag in alone),
        *(Panel(group, tags, "share") for tags in _chunks(shares)),
        *(Panel(group, tags) for alike in _group_by_magnitude(others) for tags in _chunks(alike)),
        *(Panel(group, tags, "log") for tags in _chunks(losses)),
    ]


def _split_out(panel: Panel, tags: Collection[str]) -> Iterator[Panel]:
    """Split a panel: one with each listed tag, then one with the rest."""
    rest = tuple(tag for tag in panel.tags if tag not in tags)
    for part in (*((tag,) for tag in panel.tags if tag in tags), rest):
        if part:
            yield replace(panel, tags=part)


def _spans_decades(values: NDArray[np.float64]) -> bool:
    """Whether to use a log axis: no negative values, over 2 decades; zeros are clipped."""
    low, high = values.min(), values.max()
    return bool(low >= 0 and high > 10**_DECADES * max(low, _LOG_AXIS_MIN))


def _group_by_magnitude(sizes: dict[str, float]) -> list[list[str]]:
    """Group tags by the size of their values, the largest first."""
    groups: list[list[str]] = []
    largest = inf
    for tag in sorted(sizes, key=lambda tag: -sizes[tag]):
        if not groups or sizes[tag] * _MAX_SCALE_RATIO < largest:
            groups.append([])
            largest = sizes[tag]
        groups[-1].append(tag)
    return groups


def _chunks(tags: Sequence[str]) -> list[tuple[str, ...]]:
    """Distribute tags evenly over as few panels as possible."""
    panels = ceil(len(tags) / len(_STYLES)) or 1
    parts = np.array_split(np.array(tags, object), panels)
    return [tuple(part) for part in parts if len(part)]


def _read_runs(folder: str | os.PathLike[str]) -> Runs:
    """Read every run in a folder or below it, without the points that are no numbers."""
    found = {file.parent for file in Path(folder).rglob("events.out.tfevents.*")}
    return [_finite(curves.read_curves(run)) for run in sorted(found) or [Path(folder)]]


def _finite(run: curves.Curves) -> curves.Curves:
    kept: curves.Curves = {}
    for tag, (steps, values) in run.items():
        finite = [i for i, value in enumerate(values) if isfinite(value)]
        if finite:
            kept[tag] = [steps[i] for i in finite], [values[i] for i in finite]
    return kept


def _figure(panels: int) -> Figure:
    columns = min(panels, _COLUMNS)
    rows = ceil(panels / columns)
    figure = Figure(figsize=(4.2 * columns, 2.9 * rows + 0.3))
    figure.set_layout_engine("constrained", h_pad=0.12, w_pad=0.08)
    figure.subplots(rows, columns)
    label = "environment steps (supervised training: positions seen)"
    figure.supxlabel(label, fontsize="medium", color="#444444")
    return figure


def _draw_panel(
    axes: Axes, panel: Panel, runs_by_folder: dict[str, Runs], floors: Floors, compare: bool
) -> None:
    """Draw some curves: colours stand for the folders if they are compared, else for the curves."""
    for number, tag in enumerate(panel.tags):
        style = _STYLES[number] if compare else "-"
        for index, runs in enumerate(runs_by_folder.values()):
            steps, (mean, low, high) = mean_and_range(runs, tag)
            if not steps.size:
                continue
            colour = _COLOURS[index if compare else number]
            marker = "o" if steps.size == 1 else None  # a single point makes no line
            axes.plot(steps, mean, style, color=colour, linewidth=2, marker=marker)
            if len(runs) > 1:
                axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)
        if len(panel.tags) > 1:
            colour = "black" if compare else _COLOURS[number]
            axes.plot([], [], style, color=colour, label=_label(tag))
        heights = floors.get(tag, {})
        for (name, height), dashes in zip(heights.items(), _FLOOR_STYLES, strict=False):
            axes.axhline(height, color=_FLOOR_COLOUR, linestyle=dashes, linewidth=1.2, label=name)
    axes.set_title(panel.title, loc="left")
    if len(panel.tags) == 1:
        axes.set_title(panel.group, loc="right", color="#888888", fontsize="small")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    _set_scales(axes, panel.scale)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(frameon=False, fontsize="small")


def _set_scales(axes: Axes, scale: str) -> None:
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    low, high = axes.dataLim.intervaly
    if scale == "share":
        axes.set_ylim(-0.02, 1.02)
    elif scale == "log":
        axes.set_yscale("log")
        low, high = max(low, _LOG_AXIS_MIN), max(high, _LOG_AXIS_MIN)
        axes.set_ylim(10.0 ** floor(log10(low)), 10.0 ** ceil(log10(high)))
    else:
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
        if high >= 10_000:
            axes.yaxis.set_major_formatter(EngFormatter(sep=""))


def _label(tag: str) -> str:
    return tag.rpartition("/")[2].replace("_", " ")
