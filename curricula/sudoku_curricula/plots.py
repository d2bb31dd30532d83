"""The curves of runs as a picture: the same numbers that TensorBoard shows, seeds as a band."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter
from numpy.typing import NDArray

from sudoku_curricula import tensorboard as curves

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
        ValueError: if a folder holds no curves, or there is none.
    """
    if not folders:
        raise ValueError("there is nothing to draw: give the folder of a run")
    groups = {os.fspath(folder): _read_runs(folder) for folder in folders}
    if not compare:
        groups = {"": [run for runs in groups.values() for run in runs]}
    figure = Figure(figsize=(12, 6), layout="constrained")
    for axes, (title, lines) in zip(figure.subplots(2, 3).flat, _PANELS, strict=True):
        _draw_panel(axes, title, lines, groups)
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
    steps = np.unique(np.concatenate([np.asarray(at, np.float64) for at, _ in points] or [[]]))
    values = np.array([np.interp(steps, *point, np.nan, np.nan) for point in points])
    if not steps.size:
        return steps, np.empty((3, 0))
    return steps, np.array([kind(values, axis=0) for kind in (np.nanmean, np.nanmin, np.nanmax)])


def _read_runs(folder: str | os.PathLike[str]) -> Group:
    """Read every run in a folder or below it."""
    found = sorted({file.parent for file in Path(folder).rglob("events.out.tfevents.*")})
    return [curves.read_curves(run) for run in found or [folder]]


def _draw_panel(axes: Axes, title: str, lines: dict[str, str], groups: dict[str, Group]) -> None:
    """Draw some curves: groups are told apart by colour, or, if there is one, the curves are."""
    compare = len(groups) > 1
    for place, (name, runs) in enumerate(groups.items()):
        for number, (tag, label) in enumerate(lines.items()):
            steps, (mean, low, high) = mean_and_range(runs, tag)
            if not steps.size:
                continue
            colour = _COLOURS[(place if compare else number) % len(_COLOURS)]
            text = f"{name}: {label}" if compare and len(lines) > 1 else name or label
            axes.plot(steps, mean, _STYLES[number], label=text, color=colour, linewidth=2)
            if len(runs) > 1:
                axes.fill_between(steps, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.set_title(title, loc="left")
    axes.set_xlabel("step")
    axes.grid(alpha=0.3)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.spines[["top", "right"]].set_visible(False)
    if curves.BLANKS in lines:
        axes.set_ylim(bottom=0)
    elif curves.SUCCESS_RATE in lines:
        axes.set_ylim(-0.02, 1.02)
    elif curves.VALUE_LOSS in lines and axes.get_lines():
        axes.set_yscale("log")
        axes.set_ylim(bottom=max(1e-5, axes.get_ylim()[0]))  # won games alone make it fall to 0
    if len(axes.get_lines()) > 1:
        axes.legend(frameon=False, fontsize="small")
