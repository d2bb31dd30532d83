"""The puzzles a network is trained, validated and tested on: divided by orbits, or at random.

The papers on 4x4 divide the 85,632 minimal puzzles at random. These are 36 orbits, so every test
puzzle is a training puzzle up to symmetry; both divisions are here, to compare the figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

import numpy as np

from sudoku_gym import puzzles
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.storage.configs import registered
from sudoku_learning.training.environments import check_env

_RANDOM_PARTS = 10  # the last is the test set
DIVISIONS = ("orbits", "random")


class Division(NamedTuple):
    """A bank in three parts; with `random` and no fold, validation and test are the same."""

    train: PuzzleSet
    validation: PuzzleSet
    test: PuzzleSet


@registered("neural/puzzles")
@dataclass(frozen=True)
class PuzzlesConfig:
    """The puzzles of a training."""

    division: Literal["orbits", "random"] = "orbits"
    """`orbits`: the splits of the bank, which share no orbit. `random`: ten parts at random, the
    last of which is tested on, as the papers do"""
    fold: int | None = None
    """with `random`, which of the other nine parts validates, 0 to 8; None trains on all nine, and
    the part that is tested on serves the held-out games too"""
    distinct: int | None = None
    """train on so many puzzles only; those of a smaller number are among those of a larger one"""
    seed: int = 0
    """of the random division and of the draw of distinct puzzles; apart from the run's, so that
    runs with different seeds have the same puzzles"""

    def __post_init__(self) -> None:
        if self.division not in DIVISIONS:
            raise ValueError(f"division must be one of {DIVISIONS}, not {self.division!r}")
        if self.fold is not None and (self.division != "random" or self.fold not in range(9)):
            raise ValueError(f"fold={self.fold}: a random division has the folds 0 to 8")
        if self.distinct is not None and self.distinct < 1:
            raise ValueError(f"distinct must be at least 1, not {self.distinct}")
        if self.seed < 0:
            raise ValueError(f"seed must not be negative, but is {self.seed}")

    def divide(self, env: str) -> Division:
        """Divide the puzzles of an environment, e.g. `"Sudoku4x4-v0"`.

        Raises:
            ValueError: if it is unknown, or its bank has fewer training puzzles than `distinct`.
        """
        return _divide(self, check_env(env).kwargs["source"])

    def count_training(self, env: str) -> int:
        """Return the number of training puzzles; ValueError as in `divide`."""
        return len(self.divide(env).train) if self.distinct is None else self.distinct


@cache
def _divide(config: PuzzlesConfig, bank: str) -> Division:
    if config.division == "orbits":
        parts = Division(*(puzzles.load(bank, split) for split in puzzles.SPLITS))
    else:
        parts = _at_random(config, bank)
    if config.distinct is None:
        return parts
    count = len(parts.train)
    if config.distinct > count:
        raise ValueError(f"distinct={config.distinct}: {bank} has {count:,} training puzzles")
    drawn = np.random.default_rng(config.seed).permutation(count)[: config.distinct]
    return parts._replace(train=parts.train[drawn])


def _at_random(config: PuzzlesConfig, bank: str) -> Division:
    whole = puzzles.load(bank)
    order = np.random.default_rng(config.seed).permutation(len(whole))
    *folds, test = np.array_split(order, _RANDOM_PARTS)
    if config.fold is None:
        return Division(whole[np.concatenate(folds)], whole[test], whole[test])
    validation = folds.pop(config.fold)
    return Division(whole[np.concatenate(folds)], whole[validation], whole[test])
