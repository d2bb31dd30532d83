"""The puzzles of the leaderboard: fixed sets, the same for every policy on every machine.

A set holds the test puzzles of a bank whose SHA-256, over the seed and the puzzle, is smallest. It
depends on no random generator and on no order of the bank, its first k puzzles are a random part of
it, and a checksum guards it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path

import numpy as np

from sudoku_gym import board
from sudoku_gym.puzzles import banks, files
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_gym.puzzles.puzzle_set import PuzzleSet

SEED = 0  # selects the puzzles and seeds the policies
FILE = "file "  # prefix of `SetInfo.source` for a file of puzzles
FILE_COUNT = 200  # maximum number of puzzles taken from a file
_SETS = resources.files("sudoku_gym.evaluation.leaderboard") / "fixed_sets.json"


@dataclass(frozen=True, kw_only=True)
class FixedSet:
    """The selection of a set of puzzles."""

    name: str
    title: str  # column heading
    bank: str  # a bank, whose test split is used, or a file of puzzles
    count: int  # number of puzzles; of a file, at most
    grade: str = ""  # only puzzles of this grade, one of `difficulty.GRADES`
    fewest_givens: bool = False  # only the puzzles with the fewest givens
    blanks: int = 0  # only puzzles with at least this many blanks, revealed down to it
    timed: bool = False  # whether the time per puzzle is measured too
    sha256: str = ""  # checksum of the puzzles, one a line; empty for a file

    @property
    def is_file(self) -> bool:
        """Whether the puzzles come from a file."""
        return self.bank not in banks.NAMES

    @property
    def source(self) -> str:
        """Where the puzzles come from, in words; the folder of a file is left out."""
        return f"{FILE}{Path(self.bank).name}" if self.is_file else f"bank {self.bank}, test split"

    def load(self, seed: int) -> PuzzleSet:
        """Choose the puzzles; ValueError if there are too few, or their checksum differs."""
        puzzles = _choose(self, seed)
        actual = checksum(puzzles)
        if self.sha256 and actual != self.sha256:
            raise ValueError(
                f"the set {self.name} has the checksum {actual}, not {self.sha256}: its puzzles "
                "are not those that others have played; take the bank and the list of sets of one "
                "release"
            )
        return puzzles


@cache
def fixed_sets() -> tuple[FixedSet, ...]:
    """Return the sets that come with the package, in the order in which they are played."""
    return tuple(FixedSet(**each) for each in json.loads(_SETS.read_text(encoding="utf-8")))


def set_of_file(path: Path) -> FixedSet:
    """Return the set that a file of puzzles is played as.

    A ValueError says if it has another suffix, or the name of a set that comes with the package.
    """
    if path.suffix not in files.SUFFIXES:
        raise ValueError(f"{path}: a list of puzzles ends in {', '.join(files.SUFFIXES)}")
    if path.stem in {each.name for each in fixed_sets()}:
        raise ValueError(f"{path}: {path.stem} is a set of the leaderboard; rename the file")
    return FixedSet(name=path.stem, title=path.stem, bank=str(path), count=FILE_COUNT)


def checksum(puzzles: PuzzleSet) -> str:
    """Return the SHA-256 of the puzzles, one a line."""
    return sha256("".join(f"{line}\n" for line in _lines(puzzles)).encode()).hexdigest()


@cache
def _choose(fixed: FixedSet, seed: int) -> PuzzleSet:
    pool = files.read_puzzle_set(fixed.bank) if fixed.is_file else banks.load(fixed.bank, "test")
    if fixed.grade:
        pool = pool[pool.grades == GRADES.index(fixed.grade)]
    pool = pool[pool.blanks >= fixed.blanks]
    if len(pool) < fixed.count and not fixed.is_file:
        raise ValueError(f"the set {fixed.name} wants {fixed.count} puzzles of {len(pool)}")
    hashes = [_hash(seed, line) for line in _lines(pool)]
    order = sorted(range(len(pool)), key=lambda i: hashes[i])
    if fixed.fewest_givens:
        order.sort(key=lambda i: -pool.blanks[i])
    # The fewest givens stand in the order of the hashes too, so that the first k represent all.
    chosen = pool[np.array(sorted(order[: fixed.count], key=lambda i: hashes[i]))]
    return _reveal(chosen, fixed.blanks, seed) if fixed.blanks else chosen


def _reveal(puzzles: PuzzleSet, blanks: int, seed: int) -> PuzzleSet:
    """Reveal cells until only the `blanks` blanks with the smallest hashes are left."""
    boards = puzzles.puzzles.copy()
    for index, line in enumerate(_lines(puzzles)):
        cells = np.flatnonzero(boards[index] == 0)
        order = sorted(cells, key=lambda cell: _hash(seed, f"{line} {cell}"))
        shown = np.array(order[blanks:], np.int64)
        boards[index].flat[shown] = puzzles.solutions[index].flat[shown]
    whole = (puzzles.solutions, puzzles.geometry, puzzles.name, puzzles.split)
    return PuzzleSet(boards, *whole, orbits=puzzles.orbits)


def _lines(puzzles: PuzzleSet) -> list[str]:
    return [board.to_line(puzzle) for puzzle in puzzles.puzzles]


def _hash(seed: int, text: str) -> bytes:
    return sha256(f"{seed} {text}".encode()).digest()
