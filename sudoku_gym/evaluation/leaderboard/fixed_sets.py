"""The puzzles of the leaderboard: fixed sets, the same for every policy on every machine.

A set holds the test puzzles of a bank whose SHA-256, over the seed and the puzzle, is smallest. It
depends on no random generator and on no order of the bank, its first k puzzles are a random part of
it, and a checksum guards it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path

import numpy as np

from sudoku_gym import board
from sudoku_gym.evaluation.leaderboard.results import SetInfo
from sudoku_gym.puzzles import banks, files
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_gym.puzzles.puzzle_set import PuzzleSet

SEED = 0  # selects the puzzles and seeds the policies
_SETS = resources.files("sudoku_gym.evaluation.leaderboard") / "fixed_sets.json"


@dataclass(frozen=True, kw_only=True)
class FixedSet:
    """The selection of a set of puzzles."""

    name: str
    title: str  # column heading
    bank: str | Path  # a bank, whose test split is used, or a file of puzzles
    count: int = 200  # number of puzzles; of a file, at most
    subset: int = 50  # how many of them, the first ones, are played by policies that are slow
    grade: str = ""  # only puzzles of this grade, one of `difficulty.GRADES`
    max_givens: int = 0  # only puzzles with at most so many givens; 0 for any
    blanks: int = 0  # only puzzles with at least this many blanks, revealed down to it
    timed: bool = False  # whether the time per puzzle is measured too
    sha256: str = ""  # checksum of the puzzles, one a line; empty for a file

    @property
    def is_file(self) -> bool:
        """Whether the puzzles come from a file."""
        return isinstance(self.bank, Path) or self.bank not in banks.NAMES

    def load(self, seed: int = SEED) -> PuzzleSet:
        """Choose the puzzles; ValueError if their checksum differs."""
        puzzles = _choose(self, seed)
        actual = checksum(puzzles)
        if self.sha256 and actual != self.sha256:
            raise ValueError(
                f"the set {self.name} has the checksum {actual}, not {self.sha256}: its puzzles "
                "are not those that others have played; take the bank and the list of sets of one "
                "release"
            )
        return puzzles

    def info(self) -> SetInfo:
        """Describe the puzzles; the folder of a file is left out."""
        puzzles = self.load()
        givens = puzzles.geometry.num_cells - puzzles.blanks
        return SetInfo(
            title=self.title,
            bank=Path(self.bank).name,
            is_file=self.is_file,
            board=puzzles.geometry.name,
            count=len(puzzles),
            subset=min(self.subset, len(puzzles)),
            givens=(int(givens.min()), int(givens.max())),
            sha256=checksum(puzzles),
        )


@cache
def fixed_sets() -> tuple[FixedSet, ...]:
    """Return the sets that come with the package, in the order in which they are played."""
    return tuple(FixedSet(**each) for each in json.loads(_SETS.read_text(encoding="utf-8")))


def checksum(puzzles: PuzzleSet) -> str:
    """Return the SHA-256 of the puzzles, one a line."""
    return sha256("".join(f"{line}\n" for line in _lines(puzzles)).encode()).hexdigest()


@cache
def _choose(fixed: FixedSet, seed: int) -> PuzzleSet:
    """Choose the puzzles with the smallest hashes, in their order; no more of a file is kept."""
    kept, hashes = list[PuzzleSet](), list[bytes]()
    for part in _parts(fixed):
        hashes += [_hash(seed, line) for line in _lines(part)]
        order = np.argsort(hashes, kind="stable")[: fixed.count]
        kept = [PuzzleSet.join([*kept, part], same_orbits=True)[order]]
        hashes = [hashes[index] for index in order]
    return _reveal(kept[0], fixed.blanks, seed) if fixed.blanks else kept[0]


def _parts(fixed: FixedSet) -> Iterator[PuzzleSet]:
    """Yield the puzzles that may be chosen, of a file in parts."""
    is_file = fixed.is_file
    parts = files.read_in_parts(fixed.bank) if is_file else [banks.load(str(fixed.bank), "test")]
    for part in parts:
        can_be = part.blanks >= fixed.blanks
        if fixed.grade:
            can_be &= part.grades == GRADES.index(fixed.grade)
        if fixed.max_givens:
            can_be &= part.geometry.num_cells - part.blanks <= fixed.max_givens
        yield part[can_be]


def _reveal(puzzles: PuzzleSet, blanks: int, seed: int) -> PuzzleSet:
    """Reveal cells until only the `blanks` blanks with the smallest hashes are left."""
    boards = puzzles.puzzles.copy()
    for index, line in enumerate(_lines(puzzles)):
        cells = np.flatnonzero(boards[index] == 0)
        hashes = [_hash(seed, f"{line} {cell}") for cell in cells]
        shown = cells[np.argsort(hashes)[blanks:]]
        boards[index].flat[shown] = puzzles.solutions[index].flat[shown]
    whole = (puzzles.solutions, puzzles.geometry, puzzles.name, puzzles.split)
    return PuzzleSet(boards, *whole, orbits=puzzles.orbits)


def _lines(puzzles: PuzzleSet) -> list[str]:
    return [board.to_line(puzzle) for puzzle in puzzles.puzzles]


def _hash(seed: int, text: str) -> bytes:
    return sha256(f"{seed} {text}".encode()).digest()
