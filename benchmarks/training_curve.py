"""How a network of cAlphaZero gets better: the checkpoints of a run play test puzzles.

    sudoku-gym train expert-iteration --run runs/mine --keep-checkpoints None
    python benchmarks/training_curve.py --run runs/mine --out curve.json --plot curve.png

Each row is a checkpoint and a set of puzzles, with the processor time of the training so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import tyro

from results import Results, Row, command_of, in_words, played, some
from sudoku_agents.calphazero import loading
from sudoku_gym import evaluate, puzzles
from sudoku_gym.storage.atomic import atomic_write
from sudoku_learning.training.checkpoint import read_checkpoint
from sudoku_learning.training.run_folder import complete_checkpoints


@dataclass(frozen=True)
class Config:
    """Which checkpoints play what."""

    run: Path
    """folder of a run that has kept its checkpoints"""
    sets: tuple[str, ...] = ("9x9", "9x9-hard", "9x9-hardest", "x9x9", "jigsaw9x9", "16x16")
    """banks, of which test puzzles are played"""
    count: int = 100
    """at most so many puzzles of each"""
    every: int = 10
    """iterations between the checkpoints that play; the last one plays too"""
    rounds: int | None = None
    """of the network in each evaluation; None takes those of the checkpoint"""
    restarts: int = 0
    """further starts of boards that have not converged"""
    seed: int = 0
    """of the draw of puzzles"""
    out: Path | None = None
    """a JSON file for the figures; what it holds is not played again"""
    plot: Path | None = None
    """a picture of the curves"""


def main(argv: Sequence[str] | None = None) -> list[Row]:
    config = tyro.cli(Config, description=__doc__.splitlines()[0], args=argv)
    torch.set_num_threads(1)
    results = Results(config.out, command_of(__file__, argv)) if config.out else None
    rows = []
    for folder in chosen_checkpoints(config):
        saved = read_checkpoint(folder)
        start = {"iteration": saved.progress["iteration"], "minutes": round(saved.seconds / 60, 1)}
        for name in config.sets:
            key = start | {"puzzles": name, "starts": 1 + config.restarts, "most": config.count}
            row = results.find(key) if results else None
            if row is None:
                row = key | games(folder, name, config)
                if results:
                    results.add(row)
            print(f"{row['minutes']} min, {name}: {in_words(row)}", flush=True)
            rows.append(row)
    if config.plot is not None:
        draw(rows, config.plot)
    return rows


def chosen_checkpoints(config: Config) -> list[Path]:
    """Return the checkpoints to play, oldest first."""
    *others, last = complete_checkpoints(config.run)
    return [*(each for each in others if int(each.name) % config.every == 0), last]


def games(folder: Path, name: str, config: Config) -> Row:
    """Let a checkpoint play puzzles of a bank."""
    policy = loading.load(folder, rounds=config.rounds, restarts=config.restarts)
    result = evaluate(policy, some(puzzles.load(name, "test"), config.count, config.seed))
    row = played(result) | {"rounds": round(result.mean_rounds or 0)}
    if result.converged_solved is not None:
        row["converged"] = result.converged_solved[1]
    return row


def draw(rows: Sequence[Row], path: Path) -> None:
    """Draw the share solved over the processor time of the training, with intervals."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    for name in dict.fromkeys(row["puzzles"] for row in rows):
        mine = [row for row in rows if row["puzzles"] == name]
        minutes = [row["minutes"] for row in mine]
        shares = [100 * row["solved"] / row["count"] for row in mine]
        (line,) = axes.plot(minutes, shares, marker="o", markersize=3, label=name)
        ends = ([row[end] for row in mine] for end in ("low", "high"))
        axes.fill_between(minutes, *ends, color=line.get_color(), alpha=0.12, linewidth=0)
    axes.set(xlabel="processor minutes of training", ylabel="% of test puzzles solved")
    axes.set_xlim(left=0)
    axes.set_ylim(0, 101)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    with atomic_write(path) as temporary:
        figure.savefig(temporary, dpi=150)


if __name__ == "__main__":
    main()
