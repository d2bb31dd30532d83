"""The supervised 4x4 papers: Multiverse's tables and figure, and the recurrent transformer's.

Each part runs unattended, writes its JSON row by row, and goes on where it was stopped when it is
started again with the same options.

    python benchmarks/neural_4x4.py multiverse --out docs/results/neural-multiverse.json
    python benchmarks/neural_4x4.py transformer --out docs/results/neural-transformer.json
    python benchmarks/neural_4x4.py verses --out docs/results/neural-verses.json
    python benchmarks/neural_4x4.py figure --out docs/results/neural-multiverse.json
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from results import Results, Row
from sudoku_baselines.neural.config import SupervisedConfig
from sudoku_baselines.neural.learner import SupervisedLearner
from sudoku_baselines.neural.model import cell_loss
from sudoku_baselines.neural.multiverse import Multiverse, MultiverseConfig, MultiverseTraining
from sudoku_baselines.neural.puzzles import PuzzlesConfig
from sudoku_baselines.neural.recurrent_transformer import (
    RecurrentTransformerConfig,
    RecurrentTransformerTraining,
)
from sudoku_curricula.schedules import ConstantConfig
from sudoku_gym import evaluate, puzzles
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import seeded
from supervised_runs import Options, main_of, spread, timed_share, train

MULTIVERSES = {
    "M12": (MultiverseConfig(12), 22),
    "M10": (MultiverseConfig(10), 28),
    "M6": (MultiverseConfig(6), 100),
    "No Conv": (MultiverseConfig(6, convolution=False), 15),
    "No Dense": (MultiverseConfig(6, dense=False), 15),
    "No LSTM": (MultiverseConfig(6, lstms=0), 15),
    "One LSTM": (MultiverseConfig(6, lstms=1), 15),
    "M5": (MultiverseConfig(5), 15),
}
"""The models of tables 2 and 3 and their epochs."""
DIVISIONS = ("random", "orbits")


@dataclass(frozen=True, kw_only=True)
class MultiverseTables(Options):
    """Multiverse, tables 2 and 3 and figure 5: completion on the part kept back, epoch by epoch."""

    models: tuple[str, ...] = tuple(MULTIVERSES)
    """which of them"""
    divisions: tuple[str, ...] = DIVISIONS
    """how the puzzles are divided"""
    epochs: int | None = None
    """at most so many epochs"""

    def run(self, results: Results) -> None:
        """Train and play whatever the file lacks."""
        for division in self.divisions:
            for name in self.models:
                model, epochs = MULTIVERSES[name]
                parts = PuzzlesConfig(division, distinct=self.distinct)
                config = MultiverseTraining(
                    run=self.runs / f"multiverse-{name.replace(' ', '-')}-{division}-{self.seed}",
                    seed=self.seed,
                    model=model,
                    puzzles=parts,
                    **QUIETLY,
                )
                last = min(epochs, self.epochs or epochs)
                by_epoch(results, {"model": name, "division": division}, config, last, self)


TRANSFORMERS = ((16, 2), (16, 4), (32, 2), (32, 4), (128, 2), (128, 4), (24, 6), (96, 6))
"""Embedding and heads of table 4."""


@dataclass(frozen=True, kw_only=True)
class TransformerTable(Options):
    """The recurrent transformer at 4x4, table 4: one and two iterations, after 15 epochs."""

    models: tuple[tuple[int, int], ...] = TRANSFORMERS
    """embedding and heads"""
    iterations: tuple[int, ...] = (1, 2)
    """how often the block is applied"""
    divisions: tuple[str, ...] = DIVISIONS
    """how the puzzles are divided"""
    epochs: int = 15
    """epochs of each"""

    def run(self, results: Results) -> None:
        """Train and play whatever the file lacks."""
        for division in self.divisions:
            for rounds in self.iterations:
                for embedding, heads in self.models:
                    name = f"{embedding}x{heads}, {rounds}"
                    config = RecurrentTransformerTraining(
                        run=self.runs / f"transformer-{embedding}-{heads}-{rounds}-{division}",
                        seed=self.seed,
                        model=RecurrentTransformerConfig(embedding, heads, rounds=rounds),
                        puzzles=PuzzlesConfig(division, distinct=self.distinct),
                        **QUIETLY,
                    )
                    key = {"model": name, "division": division}
                    by_epoch(results, key, config, self.epochs, self)


@dataclass(frozen=True, kw_only=True)
class Verses(Options):
    """What an update and an epoch of a Multiverse take: all verses at once, and one by one."""

    verses: tuple[int, ...] = (5, 6, 10, 12)
    """how many verses"""
    updates: int = 20
    """timed of each, in turns"""

    def run(self, results: Results) -> None:
        """Train and play whatever the file lacks."""
        chosen = puzzles.load("4x4", "train")[:32]
        boards, solutions = torch.from_numpy(chosen.puzzles), torch.from_numpy(chosen.solutions)
        for verses in self.verses:
            key = {"verses": verses}
            if not results.lacks(key):
                continue
            make = MultiverseConfig(verses).build
            batched: Multiverse = seeded(self.seed, lambda make=make: make(chosen.geometry))
            models = {"batched": batched, "loop": LoopOfVerses(batched)}
            seconds = dict.fromkeys(models, 0.0)
            for _ in range(self.updates):
                for name, model in models.items():
                    start = time.process_time()
                    found = model(boards).log_probabilities
                    cell_loss(
                        found, solutions, torch.ones_like(boards, dtype=torch.bool)
                    ).backward()
                    seconds[name] += time.process_time() - start
            each = {name: total / self.updates for name, total in seconds.items()}
            results.add(
                key
                | {f"{name}: seconds an update": round(value, 5) for name, value in each.items()}
                | {"batched: seconds an epoch": round(each["batched"] * 77_069 / 32, 1)}
                | {"speed-up": round(each["loop"] / each["batched"], 2)}
            )


@dataclass(frozen=True, kw_only=True)
class Figure(Options):
    """Draw figure 5 from the rows of the tables."""

    picture: Path = Path("docs/results/neural-multiverse.png")
    """where the picture goes"""

    def run(self, results: Results) -> None:
        """Write the picture of what `multiverse` wrote."""
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.5), sharey=True, layout="constrained")
        for division, axis in zip(DIVISIONS, axes, strict=True):
            for number, name in enumerate(("M6", "M10", "M12")):
                points = [
                    (row["epochs"], 100 * row["solved"] / row["count"])
                    for row in results.rows
                    if (row["model"], row["division"], row["seed"]) == (name, division, self.seed)
                ]
                if points:
                    axis.plot(*zip(*points, strict=True), label=name, color=f"C{number}")
            axis.set(title=f"divided {'at random' if division == 'random' else 'by orbits'}")
            axis.set(xlabel="epochs", ylabel="puzzles solved at once, %", ylim=(0, 100))
            if axis.lines:
                axis.legend(loc="lower right")
        figure.savefig(self.picture, dpi=150)


QUIETLY: dict[str, Any] = {
    "evaluate_every": 100_000,  # the figures are taken here, not in the loop
    "checkpoint_every": 1,
    "curriculum": ConstantConfig(blanks=8),
}


class LoopOfVerses(nn.Module):
    """A Multiverse with its weights, run one verse after the other by torch's own layers.

    Args:
        model: with both dense layers and with LSTMs.
    """

    def __init__(self, model: Multiverse) -> None:
        super().__init__()
        self.geometry: Geometry = model.geometry
        self.convolution, self.dense = model.convolution, model.dense
        self.termination = model.termination
        self.verses = nn.ModuleList(
            nn.ModuleList(_one_verse(lstm, verse) for lstm in model.lstms)
            for verse in range(len(model.dense.weight))
        )

    def forward(self, boards: torch.Tensor) -> Any:
        """Answer as the model does."""
        values, parts = self.geometry.size + 1, []
        cells = nn.functional.one_hot(boards.flatten(1).long(), values).float()
        for number, lstms in enumerate(self.verses):
            verse = cells @ self.convolution.weight[number] + self.convolution.bias[number]
            verse = verse.flatten(1) @ self.dense.weight[number] + self.dense.bias[number]
            sequence = verse.view(cells.shape)
            for lstm in lstms:
                sequence = lstm(sequence)[0]
            parts.append(sequence.unflatten(2, (2, values)))  # [B, a, directions, r]
        joined = torch.stack(parts, 3).flatten(2)
        found = torch.log_softmax(self.termination(joined), 2)
        return _Found(found[None, ..., 1:])


@dataclass(frozen=True)
class _Found:
    log_probabilities: torch.Tensor


def _one_verse(lstm: Any, verse: int) -> nn.LSTM:
    gates, width = lstm.recurrent.shape[2], lstm.recurrent.shape[3]
    parts = lstm.inputs.shape[4]
    one = nn.LSTM(parts * width, width, batch_first=True, bidirectional=True)
    with torch.no_grad():
        for direction, ending in enumerate(("", "_reverse")):
            inputs = lstm.inputs[direction, verse].reshape(gates * width, -1)
            getattr(one, f"weight_ih_l0{ending}").copy_(inputs)
            recurrent = lstm.recurrent[direction, verse].reshape(gates * width, -1)
            getattr(one, f"weight_hh_l0{ending}").copy_(recurrent)
            getattr(one, f"bias_ih_l0{ending}").copy_(lstm.bias[direction, verse].flatten())
            getattr(one, f"bias_hh_l0{ending}").zero_()
    return one


def by_epoch(
    results: Results, key: Row, config: SupervisedConfig, epochs: int, options: Options
) -> None:
    """Train epoch by epoch, and play the puzzles kept back after each."""
    test = spread(config.puzzles.divide(config.env).test, options.count)
    key = key | {"seed": options.seed}
    for epoch in range(1, epochs + 1):
        row = key | {"epochs": epoch}
        if not results.lacks(row):
            continue
        training = train(replace(config, iterations=epoch), SupervisedLearner)
        weights = sum(p.numel() for p in training.learner.model.parameters())
        start = time.process_time()
        found = evaluate(training.learner.policy(), test)
        more = {"weights": weights, "training seconds": round(training.seconds, 1)}
        orbits = {"orbits solved": list(found.orbits_solved)} if found.orbits_solved else {}
        results.add(row | timed_share(found.solved, start) | more | orbits)


PARTS = {
    "multiverse": MultiverseTables,
    "transformer": TransformerTable,
    "verses": Verses,
    "figure": Figure,
}


def main(argv: Sequence[str] | None = None) -> list[Row]:
    return main_of(__file__, PARTS, argv)


if __name__ == "__main__":
    main()
