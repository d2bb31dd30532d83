"""The table and the picture of `examples/train_language_model.py`, from its file of results.

python benchmarks/language_model.py
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro
from matplotlib.figure import Figure

from results import Row, read, table


@dataclass(frozen=True)
class Config:
    """What to show.

    Attributes:
        results: the file of the example.
        plot: the picture to draw.
    """

    results: Path = Path("docs/results/language-model.json")
    plot: Path = Path("docs/results/language-model.png")


def in_percent(row: Row) -> str:
    share = 100 * row["solved"] / row["count"]
    return f"{share:.1f} % ({row['low']:.1f} to {row['high']:.1f})"


def draw(rows: list[Row], path: Path) -> None:
    """Draw the share of held-out boards by update: a panel a setting, a colour a seed."""
    settings = list(dict.fromkeys(row["setting"] for row in rows))
    figure = Figure(figsize=(3 * len(settings), 3), layout="constrained")
    panels = figure.subplots(1, len(settings), sharey=True, squeeze=False)[0]
    for panel, setting in zip(panels, settings, strict=True):
        for row in (row for row in rows if row["setting"] == setting):
            steps = [check["step"] for check in row["checks"]]
            for name, style in (("sampled", "-"), ("greedy", ":")):
                shares = [100 * c[name]["solved"] / c[name]["count"] for c in row["checks"]]
                label = None if row["seed"] else name
                panel.plot(steps, shares, style, color=f"C{row['seed']}", label=label)
        panel.set(title=setting, xlabel="updates by GRPO", ylim=(0, 100))
    panels[0].set_ylabel("held-out boards solved, %")
    panels[0].legend()
    figure.savefig(path, dpi=120)


def main(argv: list[str] | None = None) -> None:
    config = tyro.cli(Config, args=argv)
    rows = sorted(read(config.results)["rows"], key=lambda row: row["setting"])
    shown: dict[tuple[str, str], Row] = {}
    for row in rows:
        for name in ("sampled", "greedy"):
            line = shown.setdefault((row["setting"], name), {"setting": row["setting"]})
            line |= {"played": name, "before": in_percent(row["checks"][0][name])}
            line[f"seed {row['seed']}"] = in_percent(row["checks"][-1][name])
    print(table(list(shown.values()), names=2))
    draw(rows, config.plot)


if __name__ == "__main__":
    main()
