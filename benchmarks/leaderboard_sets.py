"""The puzzles of the leaderboard: fixed sets, the same for every policy on every machine.

A set holds the test puzzles of a bank whose SHA-256, over the seed and the puzzle, is smallest. It
depends on no random generator and on no order of the bank, and its first k puzzles are a random
part of it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from sudoku_gym import board
from sudoku_gym.puzzles import banks, files
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_gym.puzzles.puzzle_set import PuzzleSet

SEED = 0  # selects the puzzles


@dataclass(frozen=True, kw_only=True)
class FixedSet:
    """The selection of a set of puzzles.

    Attributes:
        name: of the set, unique.
        title: heading of its column.
        bank: a bank, whose test split is used, or a file of puzzles.
        count: number of puzzles; of a file, at most.
        subset: how many of them, the first ones, are played by policies that are slow.
        grade: only puzzles of this grade, one of `difficulty.GRADES`; empty for any.
        max_givens: only puzzles with at most so many givens; 0 for any.
        blanks: only puzzles with at least so many blanks, revealed down to it; 0 for any.
        timed: whether the time a puzzle is measured too.
        sha256: of the puzzles, one a line; empty for a file.
    """

    name: str
    title: str
    bank: str | Path
    count: int = 100
    subset: int = 50
    grade: str = ""
    max_givens: int = 0
    blanks: int = 0
    timed: bool = False
    sha256: str = ""

    def describe(self) -> dict[str, Any]:
        """Describe the puzzles; the folder of a file is left out."""
        puzzles = puzzles_of(self)
        givens = puzzles.geometry.num_cells - puzzles.blanks
        return {
            "title": self.title,
            "bank": Path(self.bank).name,
            "is_file": isinstance(self.bank, Path),
            "board": puzzles.geometry.name,
            "count": len(puzzles),
            "subset": min(self.subset, len(puzzles)),
            "givens": [int(givens.min()), int(givens.max())],
            "grade": self.grade,
            "blanks": self.blanks,
            "timed": self.timed,
            "sha256": checksum(puzzles),
        }


SETS = tuple(
    FixedSet(**each) for each in json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
)
"""The sets in the order in which they are played."""


@cache
def puzzles_of(fixed: FixedSet) -> PuzzleSet:
    """Choose the puzzles of a set with the smallest hashes, in their order.

    Raises:
        ValueError: if their checksum differs from that of the set.
    """
    kept, hashes = list[PuzzleSet](), list[bytes]()
    bank = fixed.bank
    for part in files.read_in_parts(bank) if isinstance(bank, Path) else [banks.load(bank, "test")]:
        allowed = part.blanks >= fixed.blanks
        if fixed.grade:
            allowed &= part.grades == GRADES.index(fixed.grade)
        if fixed.max_givens:
            allowed &= part.geometry.num_cells - part.blanks <= fixed.max_givens
        hashes += [_hash(line) for line in _lines(part[allowed])]
        order = np.argsort(hashes, kind="stable")[: fixed.count]
        kept = [PuzzleSet.join([*kept, part[allowed]])[order]]
        hashes = [hashes[index] for index in order]
    puzzles = _reveal(kept[0], fixed.blanks) if fixed.blanks else kept[0]
    if fixed.sha256 not in ("", actual := checksum(puzzles)):
        raise ValueError(f"the set {fixed.name} has the checksum {actual}, not {fixed.sha256}")
    return puzzles


def checksum(puzzles: PuzzleSet) -> str:
    """Return the SHA-256 of the puzzles, one a line."""
    return sha256("".join(f"{line}\n" for line in _lines(puzzles)).encode()).hexdigest()


def _reveal(puzzles: PuzzleSet, blanks: int) -> PuzzleSet:
    """Reveal cells until only the `blanks` blanks with the smallest hashes are left."""
    boards = puzzles.puzzles.copy()
    for index, line in enumerate(_lines(puzzles)):
        cells = np.flatnonzero(boards[index] == 0)
        shown = cells[np.argsort([_hash(f"{line} {cell}") for cell in cells])[blanks:]]
        boards[index].flat[shown] = puzzles.solutions[index].flat[shown]
    whole = (puzzles.solutions, puzzles.geometry, puzzles.name, puzzles.split)
    return PuzzleSet(boards, *whole, orbits=puzzles.orbits)


def _lines(puzzles: PuzzleSet) -> list[str]:
    return [board.to_line(puzzle) for puzzle in puzzles.puzzles]


def _hash(text: str) -> bytes:
    return sha256(f"{SEED} {text}".encode()).digest()
