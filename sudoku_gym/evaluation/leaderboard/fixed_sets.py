"""The puzzles of the leaderboard: fixed sets, the same for every policy, on any machine.

A set is chosen from the test split of a bank by hashes alone, so that no generator of random
numbers and no order of a bank has a say in it: the puzzles whose SHA-256, with the seed before it,
comes first. So the first k puzzles of a set are a random part of it too. A checksum says that they
are the ones that all others have played.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.puzzles import banks, files
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_gym.puzzles.puzzle_set import PuzzleSet

FILE = "file "  # how the source of a list of puzzles begins
_PROGRAMME = resources.files("sudoku_gym.evaluation.leaderboard") / "fixed.json"
LIST_COUNT = 200  # of a list of puzzles at most so many are played


@dataclass(frozen=True, kw_only=True)
class FixedSet:
    """How a set of puzzles is chosen.

    Attributes:
        name: of the set.
        title: the head of its column.
        bank: a bank, whose test puzzles are taken, or a file of puzzles.
        count: how many puzzles; of a file, at most.
        grade: take those of this grade only, one of `difficulty.GRADES`.
        fewest_givens: take those with the fewest givens.
        blanks: take those that have so many blanks or more, and reveal cells until so many are
            left.
        timed: whether the time that a puzzle takes is measured too.
        sha256: of the puzzles, one a line, each line with its end; empty for a file, which
            vouches for itself.
    """

    name: str
    title: str
    bank: str
    count: int
    grade: str = ""
    fewest_givens: bool = False
    blanks: int = 0
    timed: bool = False
    sha256: str = ""

    @property
    def is_file(self) -> bool:
        """Whether the puzzles come from a file."""
        return self.bank not in banks.NAMES

    @property
    def source(self) -> str:
        """Where the puzzles come from, in words; of a file not where it lies."""
        return f"{FILE}{Path(self.bank).name}" if self.is_file else f"bank {self.bank}, test split"

    def load(self, seed: int) -> PuzzleSet:
        """Choose the puzzles.

        Raises:
            ValueError: if there are too few, or they are others than the checksum says.
        """
        puzzles = _chosen(self, seed)
        found = checksum(puzzles)
        if self.sha256 and found != self.sha256:
            raise ValueError(
                f"the set {self.name} has the checksum {found}, not {self.sha256}: its puzzles are "
                "not those that others have played; take the bank and the list of sets of one "
                "release"
            )
        return puzzles


@dataclass(frozen=True)
class Listed:
    """A policy that the leaderboard always has a row of.

    Attributes:
        policy: its name with its options, as `load_policy` takes it.
        kind: what kind of player it is, in a few words.
    """

    policy: str
    kind: str


@dataclass(frozen=True)
class Programme:
    """What is played: `fixed.json`.

    Attributes:
        seed: of the choice of puzzles and of the policies.
        sets: all sets, in the order in which they are played.
        tables: the titles of the tables and the sets that are their columns.
        rows: who plays.
        left_out: policies that come with the package and have no row, and why.
    """

    seed: int
    sets: tuple[FixedSet, ...]
    tables: dict[str, tuple[str, ...]]
    rows: tuple[Listed, ...]
    left_out: dict[str, str]


@cache
def programme() -> Programme:
    """Return what comes with the package."""
    stored: dict[str, Any] = json.loads(_PROGRAMME.read_text(encoding="utf-8"))
    return Programme(
        seed=stored["seed"],
        sets=tuple(FixedSet(**each) for each in stored["sets"]),
        tables={each["title"]: tuple(each["sets"]) for each in stored["tables"]},
        rows=tuple(Listed(**each) for each in stored["rows"]),
        left_out=stored["left_out"],
    )


def list_of_puzzles(path: Path) -> FixedSet:
    """Return the set that a file of puzzles is played as.

    Raises:
        ValueError: if the file's name is no list's or that of a set that comes with the package.
    """
    if path.suffix not in files.SUFFIXES:
        raise ValueError(f"{path}: a list of puzzles ends in {', '.join(files.SUFFIXES)}")
    if path.stem in {each.name for each in programme().sets}:
        raise ValueError(f"{path}: {path.stem} is a set of the leaderboard; rename the file")
    return FixedSet(name=path.stem, title=path.stem, bank=str(path), count=LIST_COUNT)


def checksum(puzzles: PuzzleSet) -> str:
    """Return the SHA-256 of the puzzles, one a line."""
    return sha256("".join(f"{line}\n" for line in _lines(puzzles)).encode()).hexdigest()


@cache
def _chosen(fixed: FixedSet, seed: int) -> PuzzleSet:
    found = files.read(fixed.bank) if fixed.is_file else banks.load(fixed.bank, "test")
    if fixed.grade:
        found = found[found.grades == GRADES.index(fixed.grade)]
    found = found[found.blanks >= fixed.blanks]
    if len(found) < fixed.count and not fixed.is_file:
        raise ValueError(f"the set {fixed.name} wants {fixed.count} puzzles of {len(found)}")
    first_by_hash = [_hash(seed, line) for line in _lines(found)]
    order = sorted(range(len(found)), key=lambda i: first_by_hash[i])
    if fixed.fewest_givens:
        order.sort(key=lambda i: -found.blanks[i])
    # Those with the fewest givens come in any order too, so that the first k tell of all.
    order = sorted(order[: fixed.count], key=lambda i: first_by_hash[i])
    chosen = found[np.array(order)]
    return _revealed(chosen, fixed.blanks, seed) if fixed.blanks else chosen


def _revealed(puzzles: PuzzleSet, blanks: int, seed: int) -> PuzzleSet:
    """Reveal cells until `blanks` are left: those blanks stay whose hashes come first."""
    boards = puzzles.puzzles.copy()
    for index, line in enumerate(_lines(puzzles)):
        cells = np.flatnonzero(boards[index] == 0)
        order = sorted(cells, key=lambda cell: _hash(seed, f"{line} {cell}"))
        shown = np.array(order[blanks:], np.int64)
        boards[index].flat[shown] = puzzles.solutions[index].flat[shown]
    return PuzzleSet(
        boards,
        puzzles.solutions,
        puzzles.geometry,
        puzzles.name,
        puzzles.split,
        orbits=puzzles.orbits,
    )


def _lines(puzzles: PuzzleSet) -> list[str]:
    return [board.to_line(puzzle) for puzzle in puzzles.puzzles]


def _hash(seed: int, text: str) -> bytes:
    return sha256(f"{seed} {text}".encode()).digest()


def givens_of(puzzles: PuzzleSet) -> NDArray[np.int64]:
    """Return how many givens each puzzle has, int64 `[M]`."""
    return puzzles.geometry.num_cells - puzzles.blanks
