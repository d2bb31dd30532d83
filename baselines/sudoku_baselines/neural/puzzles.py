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
from sudoku_gym.envs.options import EnvOptions
from sudoku_gym.plugins import find_env
from sudoku_gym.puzzles import banks
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource, PuzzleSource
from sudoku_gym.puzzles.splitting import training_and_held_out
from sudoku_gym.storage.checks import check_counts, check_not_negative
from sudoku_gym.storage.configs import registered

_FOLDS = 9  # of the random division, and a tenth part
_DRAWN = 10_000  # puzzles of a generator, at least


class Division(NamedTuple):
    """A bank in three parts; with `random` validation and test are the same."""

    train: PuzzleSet
    validation: PuzzleSet
    test: PuzzleSet


@registered("neural/puzzles")
@dataclass(frozen=True)
class PuzzlesConfig:
    """The puzzles of a training."""

    division: Literal["orbits", "random"] = "orbits"
    """`orbits`: the splits of the bank, which share no orbit. `random`: ten parts at random, the
    last of which is tested on, as the papers do, and serves the held-out games too"""
    distinct: int | None = None
    """train on so many puzzles only; those of a smaller number are among those of a larger one"""
    seed: int = 0
    """of the random division and of the draw of distinct puzzles; apart from the run's, so that
    runs with different seeds have the same puzzles"""
    fold: int | None = None
    """with `random`, one of the nine other parts, from 0, which takes the place of the last: nine
    folds of cross-validation, which leave the last part out, as Multiverse does"""

    def __post_init__(self) -> None:
        check_counts(self, "distinct")
        check_not_negative(self, "seed")
        if self.fold is not None and not (self.division == "random" and 0 <= self.fold < _FOLDS):
            raise ValueError(f"fold={self.fold}: 0 to {_FOLDS - 1}, and with division=random")

    def divide(self, env: str) -> Division:
        """Divide the puzzles of an environment, e.g. `"Sudoku4x4-v0"`.

        A source that is no bank is divided as `training_and_held_out` says, and its held-out
        puzzles serve validation and test; of a part that is no list they are 10,000 draws, or
        twice `distinct`.

        Raises:
            ValueError: if it is unknown, or its bank has fewer training puzzles than `distinct`.
        """
        return _divide(self, env)

    def count_training(self, env: str) -> int:
        """Return the number of training puzzles; ValueError as in `divide`."""
        return len(self.divide(env).train) if self.distinct is None else self.distinct


@cache
def _divide(config: PuzzlesConfig, env: str) -> Division:
    options = find_env(env).kwargs
    source = options["source"]
    whole = EnvOptions(source, "all", options.get("board")).resolve_source()
    is_bank = isinstance(source, str) and source in banks.SPLIT_NAMES
    if config.division == "random":
        parts = _at_random(config, puzzles.load(source) if is_bank else _as_list(whole, config))
    elif is_bank:
        parts = Division(*(puzzles.load(source, split) for split in puzzles.SPLITS))
    else:
        train, held_out = (_as_list(part, config) for part in training_and_held_out(whole))
        parts = Division(train, held_out, held_out)
    if config.distinct is None:
        return parts
    count = len(parts.train)
    if config.distinct > count:
        name = parts.train.name
        raise ValueError(f"distinct={config.distinct}: {name} has {count:,} training puzzles")
    drawn = np.random.default_rng(config.seed).permutation(count)[: config.distinct]
    return parts._replace(train=parts.train[drawn])


def _as_list(source: PuzzleSource, config: PuzzlesConfig) -> PuzzleSet:
    """Return the puzzles of a list, or different draws of a generator."""
    if isinstance(source, BankSource):
        return source.puzzle_set
    rng = np.random.default_rng(config.seed)
    drawn, solutions = source.sample(max(_DRAWN, 2 * (config.distinct or 0)), None, rng)
    first = np.sort(np.unique(drawn, return_index=True, axis=0)[1])
    return PuzzleSet(drawn[first], solutions[first], source.geometry, repr(source))


def _at_random(config: PuzzlesConfig, whole: PuzzleSet) -> Division:
    order = np.random.default_rng(config.seed).permutation(len(whole))
    *others, test = np.array_split(order, _FOLDS + 1)
    if config.fold is not None:
        test = others.pop(config.fold)
    return Division(whole[np.concatenate(others)], whole[test], whole[test])
