"""Training and held-out puzzles of any source, two parts that share no orbit."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles import banks
from sudoku_gym.puzzles.orbits import canonical_keys
from sudoku_gym.puzzles.puzzle_set import NOT_KNOWN, PuzzleSet
from sudoku_gym.puzzles.sources import BankSource, PuzzleSource, resolve_source

Parts: TypeAlias = tuple[PuzzleSource, PuzzleSource]  # to train on, and held out

_HELD_OUT = 0.1  # share of the orbits
_SEED = 0  # of their draw
_MOST_KEYS = 10_000  # boards whose orbits are found, 3 ms each; equal ones alone beyond that
_REMEDY = "give the source a method split(name), for 'train' and 'validation'"


def training_and_held_out(source: object) -> Parts:
    """Return the puzzles to train on, and those to hold out, of whatever `resolve_source` takes.

    A bank has splits, and a source may have a method `split(name)`, which answers for its orbits.
    Of any other list a tenth of the orbits is held out, drawn with seed 0, and a warning says so.

    Raises:
        ValueError: as `resolve_source`; if the source is no list and has no method `split`, or a
            list has fewer than two orbits.
        TypeError: if it is no source.
    """
    if isinstance(source, str) and source in banks.NAMES:
        return resolve_source(source, "train"), resolve_source(source, "validation")
    whole = resolve_source(source, "all")
    if callable(getattr(whole, "split", None)):
        return resolve_source(whole, "train"), resolve_source(whole, "validation")
    if isinstance(whole, BankSource):
        return _divide_list(whole.puzzle_set)
    raise ValueError(f"{whole!r} does not say which puzzles are held out: {_REMEDY}")


def _divide_list(puzzles: PuzzleSet) -> Parts:
    numbers, kind = puzzles.orbits.astype(np.uint64), "orbit"
    if (puzzles.orbits == NOT_KNOWN).any():
        numbers, kind = _numbers_of(puzzles)
    orbits = np.unique(numbers)
    if len(orbits) < 2:
        raise ValueError(
            f"{puzzles.name}: all puzzles have the same {kind}, so that none can be held out from "
            "training; use more puzzles"
        )
    count = max(1, round(_HELD_OUT * len(orbits)))
    held_out = np.isin(numbers, np.random.default_rng(_SEED).permutation(orbits)[:count])
    training = replace(puzzles[~held_out], split="train")
    validation = replace(puzzles[held_out], split="validation")
    warnings.warn(
        f"{puzzles.name} says no split: divided by {kind} with seed {_SEED}, {len(training)} to "
        f"train on, {len(validation)} held out; to choose them, {_REMEDY}",
        stacklevel=3,
    )
    return BankSource(training), BankSource(validation)


def _numbers_of(puzzles: PuzzleSet) -> tuple[NDArray[np.uint64], str]:
    """Return a number a puzzle, uint64 `[M]`, equal where they may not be apart; and what it is."""
    if len(puzzles) <= _MOST_KEYS:
        try:
            return _orbit_keys(puzzles.orbit_boards.tobytes(), puzzles.geometry), "orbit"
        except ModuleNotFoundError:  # large groups need igraph
            pass
    return _exact_keys(puzzles), "equal boards"


@lru_cache(maxsize=4)
def _orbit_keys(boards: bytes, geometry: Geometry) -> NDArray[np.uint64]:
    shape = (-1, geometry.size, geometry.size)
    return canonical_keys(np.frombuffer(boards, np.int8).reshape(shape), geometry)


def _exact_keys(puzzles: PuzzleSet) -> NDArray[np.uint64]:
    """Return a hash of each board, whatever its digits are called: uint64 `[M]`."""
    boards = puzzles.orbit_boards.reshape(len(puzzles), -1)
    names = np.zeros((len(boards), puzzles.geometry.size + 1), np.uint64)
    weights = np.random.default_rng(0).integers(1, 2**64, boards.shape[1], np.uint64)
    for digit in range(1, puzzles.geometry.size + 1):
        names[:, digit] = ((boards == digit) * weights).sum(1, dtype=np.uint64)
    return (names**3).sum(1, dtype=np.uint64)
