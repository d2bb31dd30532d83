"""Tables and the picture of `curricula.py`, from its rows.

Summaries are those of Agarwal et al. (2021, "Deep reinforcement learning at the edge of the
statistical precipice"): interquartile means over the seeds, intervals by the bootstrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from results import Row


def interquartile_mean(values: NDArray[np.float64]) -> float:
    """Return the mean of the middle half of values `[S]`."""
    ordered, cut = np.sort(values), len(values) // 4
    return float(ordered[cut : len(ordered) - cut].mean())


def summary(values: Sequence[float], rng: np.random.Generator) -> str:
    """Return the interquartile mean in percent, with a 95 % bootstrap interval over the seeds."""
    found = np.array(values, np.float64)
    drawn = [interquartile_mean(rng.choice(found, len(found))) for _ in range(2_000)]
    low, high = 100 * np.quantile(drawn, (0.025, 0.975))
    return f"{100 * interquartile_mean(found):.1f} ({low:.1f} to {high:.1f})"


def improvement(ours: Sequence[float], others: Sequence[float]) -> float:
    """Return the probability that a run of ours is better than one of the others, ties half."""
    if not len(ours):
        return np.nan
    x, y = np.array(ours)[:, None], np.array(others)
    return float(((x > y) + 0.5 * (x == y)).mean())


def steps_to(row: Row, share: float = 0.9) -> str:
    """Return the thousands of steps after which a run solves this share of all levels."""
    reached = [at for at, mean in zip(row["steps"], row["mean"], strict=True) if mean >= share]
    return f"{reached[0] / 1000:.0f}" if reached else "-"


def areas(rows: Sequence[Row], setting: str, kind: str) -> dict[str, list[float]]:
    """Return the mean over each run of the shares solved, by schedule; `kind` as in the rows."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if row["setting"] == setting:
            found.setdefault(row["schedule"], []).append(float(np.mean(row[kind])))
    return found


def summarise(rows: Sequence[Row], setting: str) -> list[Row]:
    """Return a row for each schedule, the best over the run at the hardest level first."""
    rng, found = np.random.default_rng(0), []
    everywhere, hardest = (areas(rows, setting, kind) for kind in ("mean", "hardest"))
    for name in hardest:
        own = [row for row in rows if (row["setting"], row["schedule"]) == (setting, name)]
        control = hardest.get("uniform", hardest[name])
        found.append(
            {
                "schedule": name,
                "seeds": len(own),
                "hardest level": summary([row["hardest"][-1] for row in own], rng),
                "area": summary(hardest[name], rng),
                "all levels": summary([row["mean"][-1] for row in own], rng),
                "area, all levels": summary(everywhere[name], rng),
                "steps to 90 %, thousands": ", ".join(map(steps_to, own)),
                "better than uniform": f"{improvement(hardest[name], control):.2f}",
            }
        )
    return sorted(found, key=lambda row: -float(row["area"].split()[0]))


def overview(rows: Sequence[Row], settings: Sequence[str], schedules: Sequence[str]) -> list[Row]:
    """Return a row for each schedule: what is solved at the hardest level at the end of a run."""
    rng = np.random.default_rng(0)
    found: dict[str, Row] = {name: {"schedule": name} for name in schedules}
    for setting, name in product(settings, schedules):
        own = [row for row in rows if (row["setting"], row["schedule"]) == (setting, name)]
        ends = [row["hardest"][-1] for row in own]
        found[name][setting] = summary(ends, rng) if ends else "-"
    return list(found.values())


def draw(rows: Sequence[Row], settings: Sequence[str], schedules: Sequence[str], out: Path) -> None:
    """Draw the probability that a run of a schedule has a larger area than one of `uniform`."""
    figure = Figure((11, 5), layout="constrained")
    names = [name for name in schedules if name not in ("uniform", "untrained")]
    panels = figure.subplots(1, 2, sharey=True)
    for kind, axes in zip(("hardest", "mean"), panels, strict=True):
        found = [areas(rows, setting, kind) for setting in settings]
        shares = np.array(
            [[improvement(each.get(n, ()), each["uniform"]) for each in found] for n in names]
        )
        axes.imshow(shares, cmap="RdBu", vmin=-0.6, vmax=1.6, aspect="auto")
        for (row, column), share in np.ndenumerate(shares):
            said = "" if np.isnan(share) else f"{share:.2f}"
            axes.text(column, row, said, ha="center", va="center", fontsize=8)
        axes.set_xticks(range(len(settings)), settings, rotation=45, ha="right")
        axes.set_yticks(range(len(names)), names)
        axes.set_title("hardest level" if kind == "hardest" else "all levels")
    figure.savefig(out, dpi=100)
