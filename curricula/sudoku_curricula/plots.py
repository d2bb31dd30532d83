"""The curves of a run as a picture: the same numbers that TensorBoard shows."""

from __future__ import annotations

import os
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from sudoku_curricula import tensorboard as curves

_BLUE, _ORANGE, _GREY = "#0072b2", "#e69f00", "#999999"  # told apart by colour-blind eyes too


def plot_run(folder: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Draw a run's curriculum, success and losses over its iterations.

    Args:
        folder: of the run, with its event files.
        path: of the PNG; it is written to a temporary name and renamed.

    Raises:
        ValueError: if the folder holds no curves.
    """
    read = curves.read_curves(folder)
    figure = Figure(figsize=(9, 6), layout="constrained")
    (level, success), (policy, value) = figure.subplots(2, 2)
    _draw(level, read, {curves.BLANKS: ("blanks", _BLUE)}, "Curriculum")
    level.set_ylim(bottom=0)
    _draw(
        success,
        read,
        {
            curves.SUCCESS_RATE: ("at the level", _BLUE),
            curves.COMPLETION_RATE: ("minimal puzzles", _ORANGE),
        },
        "Solved greedily, held-out puzzles",
    )
    success.set_ylim(-0.02, 1.02)
    entropies = {curves.POLICY_LOSS: ("cross entropy", _BLUE), curves.ENTROPY: ("entropy", _GREY)}
    _draw(policy, read, entropies, "Policy, nats")
    _draw(value, read, {curves.VALUE_LOSS: ("squared error", _BLUE)}, "Value")
    if curves.VALUE_LOSS in read:
        value.set_yscale("log")
        value.set_ylim(bottom=1e-5)  # it falls below by chance, when all games of a level are won
    for axes in (policy, value):
        axes.set_xlabel("iteration")
    target = Path(path)
    draft = target.with_name(f".{target.name}.draft")
    figure.savefig(draft, dpi=130, format="png")
    os.replace(draft, target)


def _draw(axes: Axes, read: curves.Curves, lines: dict[str, tuple[str, str]], title: str) -> None:
    for style, (tag, (label, colour)) in zip(("-", "--"), lines.items(), strict=False):
        if tag in read:
            axes.plot(*read[tag], style, label=label, color=colour, linewidth=2)
    axes.set_title(title, loc="left")
    axes.grid(alpha=0.3)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    if len(axes.get_lines()) > 1:
        axes.legend(frameon=False)
