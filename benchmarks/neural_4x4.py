"""The supervised 4x4 papers: Multiverse's tables, and the recurrent transformer's.

Each part runs unattended, writes its JSON row by row, and goes on where it was stopped when it is
started again with the same options.

    python benchmarks/neural_4x4.py multiverse --out docs/results/neural-multiverse.json
    python benchmarks/neural_4x4.py transformer --out docs/results/neural-transformer.json
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from results import Results, Row
from sudoku_baselines.neural.learner import SupervisedConfig, SupervisedLearner
from sudoku_baselines.neural.multiverse import MultiverseConfig, MultiverseTraining
from sudoku_baselines.neural.puzzles import PuzzlesConfig
from sudoku_baselines.neural.recurrent_transformer import (
    RecurrentTransformerConfig,
    RecurrentTransformerTraining,
)
from sudoku_curricula.schedules import ConstantConfig
from sudoku_gym import evaluate
from supervised_runs import Options, main_of, timed_share, train

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
    folds: tuple[int | None, ...] = (None,)
    """of the random division, 0 to 8, which the paper has; None: the tenth part is the test"""

    def run(self, results: Results) -> None:
        """Train and play whatever the file lacks."""
        for division, name, fold in product(self.divisions, self.models, self.folds):
            model, epochs = MULTIVERSES[name]
            title = f"multiverse-{name.replace(' ', '-')}-{division}-{self.seed}"
            config = MultiverseTraining(
                run=self.runs / (title if fold is None else f"{title}-fold-{fold}"),
                seed=self.seed,
                model=model,
                puzzles=PuzzlesConfig(division, self.distinct, fold=fold),
                **QUIETLY,
            )
            key = {"model": name, "division": division}
            key |= {} if fold is None else {"fold": fold}
            by_epoch(results, key, config, min(epochs, self.epochs or epochs), self)


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
        for division, rounds, (embedding, heads) in product(
            self.divisions, self.iterations, self.models
        ):
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


QUIETLY: dict[str, Any] = {
    "evaluate_every": 100_000,  # the figures are taken here, not in the loop
    "checkpoint_every": 1,
    "curriculum": ConstantConfig(blanks=8),
}


def by_epoch(
    results: Results, key: Row, config: SupervisedConfig, epochs: int, options: Options
) -> None:
    """Train epoch by epoch, and play the puzzles kept back after each."""
    test = config.puzzles.divide(config.env).test.spread(options.count)
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


PARTS = {"multiverse": MultiverseTables, "transformer": TransformerTable}


def main(argv: Sequence[str] | None = None) -> list[Row]:
    return main_of(__file__, PARTS, argv)


if __name__ == "__main__":
    main()
