"""Training and held-out puzzles of any source, two parts that share no orbit.

As in the shipped banks the orbit is that of the solution from 9x9 up, and below that of the puzzle.
A source that divides itself answers for its orbits; of its parts equal puzzles alone are looked
for.
"""

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
from sudoku_gym.puzzles.sources import BankSource, Blanks, PuzzleSource, resolve_source

Parts: TypeAlias = tuple[PuzzleSource, PuzzleSource]  # to train on, and held out

_HELD_OUT = 0.1  # share of the orbits
_COMPARED = 200  # draws of each part, of a source that divides itself
_DRAWN = 1_000  # puzzles of a generator, among which the held-out ones are chosen
_MOST_KEYS = 10_000  # boards whose orbits are found, 3 ms each; equal ones alone beyond that
_ROUNDS = 100  # draws in search of a puzzle that is not held out
_REMEDY = "give the source a method split(name), for 'train' and 'validation'"


def training_and_held_out(source: object, geometry: Geometry | None = None, seed: int = 0) -> Parts:
    """Return the puzzles to train on, and those to hold out, of whatever `resolve_source` takes.

    A bank has splits, and a source may have a method `split(name)`. Else a tenth of the orbits is
    held out, drawn with `seed`, and a warning says so: of a list those of its puzzles, of a
    generator those of 1,000 draws, which training then draws again.

    Raises:
        ValueError: as `resolve_source`; or if the parts share a puzzle, or there are fewer than
            two orbits.
        TypeError: if it is no source.
    """
    if isinstance(source, str) and source in banks.NAMES:
        return resolve_source(source, "train"), resolve_source(source, "validation")
    whole = resolve_source(source, "all", geometry)
    if callable(getattr(whole, "split", None)):
        parts = resolve_source(whole, "train"), resolve_source(whole, "validation")
        _check_apart(whole, *parts)
        return parts
    if isinstance(whole, BankSource):
        return _divide_list(whole.puzzle_set, seed)
    return _divide_draws(whole, seed)


class TrainingSource:
    """Draws from a source what is not held out, nor held out with more cells revealed.

    `keys` are those of the held-out orbits, as `_keys_of` returns them.
    """

    def __init__(
        self,
        source: PuzzleSource,
        held_out: PuzzleSet,
        keys: NDArray[np.uint64],
        by_orbit: bool,
    ) -> None:
        self.geometry = source.geometry
        self.max_blanks = source.max_blanks
        self._source, self._held_out = source, held_out
        self._keys, self._by_orbit = keys, by_orbit

    def sample(
        self, count: int, blanks: Blanks, rng: np.random.Generator
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Draw puzzles and their solutions, int8 `[count, N, N]` each.

        Raises:
            ValueError: as the source, or if it draws nothing but what is held out.
        """
        puzzles = np.zeros((0, self.geometry.size, self.geometry.size), np.int8)
        solutions = puzzles
        for _ in range(_ROUNDS):
            drawn = self._source.sample(count - len(puzzles), blanks, rng)
            made = PuzzleSet(*drawn, self.geometry, repr(self._source))
            free = ~np.isin(_keys_of(made, self._by_orbit), self._keys)
            if self.geometry.size < banks.SPLIT_BY_SOLUTION:  # else their solutions are equal
                free &= ~_reveal_some_of(made, self._held_out)
            puzzles = np.concatenate([puzzles, made.puzzles[free]])
            solutions = np.concatenate([solutions, made.solutions[free]])
            if len(puzzles) == count:
                return puzzles, solutions
        raise ValueError(
            f"{self._source!r}: {_ROUNDS} draws with blanks={blanks!r} gave nothing but held-out "
            f"puzzles; {_REMEDY}"
        )

    def __repr__(self) -> str:
        return f"TrainingSource({self._source!r}, {len(self._keys)} held-out orbits)"


def _divide_list(puzzles: PuzzleSet, seed: int) -> Parts:
    numbers, kind = puzzles.orbits.astype(np.uint64), "orbit"
    if (puzzles.orbits == NOT_KNOWN).any():
        by_orbit = len(puzzles) <= _MOST_KEYS and _finds_orbits(puzzles.geometry)
        numbers, kind = _keys_of(puzzles, by_orbit), _kind(by_orbit)
    held_out = np.isin(numbers, _choose(puzzles.name, numbers, kind, seed))
    training = replace(puzzles[~held_out], split="train")
    validation = replace(puzzles[held_out], split="validation")
    _say(puzzles.name, f"{len(training)} to train on, {len(validation)} held out", kind, seed)
    return BankSource(training), BankSource(validation)


def _divide_draws(source: PuzzleSource, seed: int) -> Parts:
    name, by_orbit = repr(source), _finds_orbits(source.geometry)
    drawn = source.sample(_DRAWN, None, np.random.default_rng(seed))
    puzzles = PuzzleSet(*drawn, source.geometry, name, "validation")
    numbers = _keys_of(puzzles, by_orbit)
    chosen = _choose(name, numbers, _kind(by_orbit), seed)
    held_out = puzzles[np.isin(numbers, chosen)]
    _say(name, f"{len(held_out)} of {_DRAWN:,} draws are held out", _kind(by_orbit), seed)
    return TrainingSource(source, held_out, chosen, by_orbit), BankSource(held_out)


def _reveal_some_of(puzzles: PuzzleSet, others: PuzzleSet) -> NDArray[np.bool_]:
    """Return which puzzles are some of the others with cells revealed, bool `[M]`."""
    found = np.zeros(len(puzzles), np.bool_)
    for other, solution in zip(others.puzzles, others.solutions, strict=True):
        kept = ((other == 0) | (puzzles.puzzles == other)).all((1, 2))
        found |= kept & (puzzles.solutions == solution).all((1, 2))
    return found


def _choose(name: str, numbers: NDArray[np.uint64], kind: str, seed: int) -> NDArray[np.uint64]:
    """Draw the numbers of the orbits that are held out."""
    orbits = np.unique(numbers)
    if len(orbits) < 2:
        raise ValueError(
            f"{name}: all puzzles have the same {kind}, so that none can be held out from "
            f"training; use more puzzles, or {_REMEDY}"
        )
    count = max(1, round(_HELD_OUT * len(orbits)))
    return np.sort(np.random.default_rng(seed).permutation(orbits)[:count])


def _say(name: str, parts: str, kind: str, seed: int) -> None:
    warnings.warn(
        f"{name} says no split: divided by {kind} with seed {seed}, {parts}; to choose them, "
        f"{_REMEDY}",
        stacklevel=4,
    )


def _check_apart(whole: PuzzleSource, training: PuzzleSource, held_out: PuzzleSource) -> None:
    first, second = (_exact_keys(_some_of(part)) for part in (training, held_out))
    if common := np.isin(first, second).sum():
        raise ValueError(
            f"{whole!r}: the puzzles to train on and those of the split 'validation' share puzzles "
            f"({common} of {len(first)}), so that held-out games would measure memory; let "
            "split(name) return parts without a common puzzle"
        )


def _some_of(part: PuzzleSource) -> PuzzleSet:
    """Return the puzzles of a list, and some draws of another source."""
    if isinstance(part, BankSource):
        return part.puzzle_set
    drawn = part.sample(_COMPARED, None, np.random.default_rng(0))
    return PuzzleSet(*drawn, part.geometry, repr(part))


def _kind(by_orbit: bool) -> str:
    return "orbit" if by_orbit else "equal boards"


def _finds_orbits(geometry: Geometry) -> bool:
    """Whether orbits can be told apart: large groups need igraph."""
    try:
        canonical_keys(np.zeros((1, geometry.size, geometry.size), np.int8), geometry)
    except ModuleNotFoundError:
        return False
    return True


def _keys_of(puzzles: PuzzleSet, by_orbit: bool) -> NDArray[np.uint64]:
    """Return a number a puzzle, uint64 `[M]`, equal where they may not be apart."""
    if not by_orbit:
        return _exact_keys(puzzles)
    return _orbit_keys(_compared(puzzles).tobytes(), puzzles.geometry)


def _exact_keys(puzzles: PuzzleSet) -> NDArray[np.uint64]:
    """Return a hash of each board, whatever its digits are called: uint64 `[M]`."""
    boards = _compared(puzzles).reshape(len(puzzles), -1)
    names = np.zeros((len(boards), puzzles.geometry.size + 1), np.uint64)
    weights = np.random.default_rng(0).integers(1, 2**64, boards.shape[1], np.uint64)
    for digit in range(1, puzzles.geometry.size + 1):
        names[:, digit] = ((boards == digit) * weights).sum(1, dtype=np.uint64)
    return (names**3).sum(1, dtype=np.uint64)


@lru_cache(maxsize=4)
def _orbit_keys(boards: bytes, geometry: Geometry) -> NDArray[np.uint64]:
    shape = (-1, geometry.size, geometry.size)
    return canonical_keys(np.frombuffer(boards, np.int8).reshape(shape), geometry)


def _compared(puzzles: PuzzleSet) -> NDArray[np.int8]:
    by_solution = puzzles.geometry.size >= banks.SPLIT_BY_SOLUTION
    return puzzles.solutions if by_solution else puzzles.puzzles
