"""The puzzles that policies are evaluated on: a set, or a file of any length, in parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from sudoku_gym import puzzles
from sudoku_gym.cli.puzzle_arguments import Split, parse_blanks, read_puzzles
from sudoku_gym.cli.terminal import progress
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles import files
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.sources import BankSource


@dataclass
class PlaceInList:
    """Where in a list the present part lies, as shares of the list."""

    start: float = 0.0
    length: float = 0.0

    def move_to(self, end: float) -> None:
        """Go on to the part that ends there."""
        self.start += self.length
        self.length = max(end - self.start, 0.0)


@dataclass
class PuzzleList:
    """Puzzles to play."""

    name: str
    """the bank, or the path of a file"""
    split: str
    geometry: Geometry | None
    """None for a file that has not been read"""
    whole: PuzzleSet | None
    """None for a file that is read while it is played"""
    left_out: int | None
    """puzzles of a training split that were left out; None: not looked for"""

    def parts(self, count: int, place: PlaceInList) -> Iterator[PuzzleSet]:
        """Yield the puzzles in parts of at most `count`, the same each time.

        `place` is moved along.
        """
        if count < 1:
            raise ValueError(f"batch_size must be at least 1, not {count}")
        if self.whole is None:
            stream = files.read_in_parts(
                self.name, self.geometry, chunk=count, on_progress=place.move_to
            )
            yield from self._without_training(stream)
            return
        for start in range(0, len(self.whole), count):
            place.move_to(min((start + count) / len(self.whole), 1.0))
            yield self.whole[start : start + count]

    def _without_training(self, parts: Iterable[PuzzleSet]) -> Iterator[PuzzleSet]:
        left_out = 0
        for part in parts:
            self.geometry = part.geometry
            if self.left_out is not None:
                is_known = puzzles.find_in_training(part)
                left_out += int(is_known.sum())
                self.left_out = left_out
                part = part[~is_known]
            if len(part):
                yield part


def select_puzzles(
    name: str,
    split: Split | None,
    geometry: Geometry | None,
    count: int | None,
    blanks: str,
    seed: int,
    *,
    leave_out_training: bool,
) -> PuzzleList:
    """Choose the puzzles of a bank, a file or a `module:attribute`; for errors see `read_puzzles`.

    Args:
        name: as in `read_puzzles`, as `split` and `geometry` are.
        split: part of a bank.
        geometry: of the boards.
        count: number of puzzles that are drawn; None takes all.
        blanks: see `parse_blanks`.
        seed: of the draw.
        leave_out_training: leave out puzzles that `find_in_training` finds.
    """
    if count is not None and count < 1:
        raise ValueError(f"count must be at least 1, not {count}")
    left_out = 0 if leave_out_training else None
    is_file = name.endswith(files.SUFFIXES)
    if is_file and split in (None, "all") and count is None and not blanks:
        return PuzzleList(name, "all", geometry, None, left_out)
    rng = np.random.default_rng(seed)
    if is_file and split in (None, "all") and count is not None and not blanks:
        with progress([name]) as start:
            whole = files.read_sample(name, count, rng, geometry, on_progress=start(name))
    else:
        whole = _draw(read_puzzles(name, split, geometry), count, blanks, rng)
    chosen = PuzzleList(whole.name, whole.split, whole.geometry, whole, left_out)
    if leave_out_training:
        kept = list(chosen._without_training([whole]))
        if not kept:
            raise ValueError(f"{whole.name}: training splits hold all {len(whole)} puzzles")
        chosen.whole = kept[0]
    return chosen


def _draw(whole: PuzzleSet, count: int | None, blanks: str, rng: np.random.Generator) -> PuzzleSet:
    if blanks:
        drawn = BankSource(whole).sample(count or len(whole), parse_blanks(blanks), rng)
        return PuzzleSet(*drawn, whole.geometry, whole.name, whole.split)
    if count is None:
        return whole
    if count > len(whole):
        raise ValueError(f"count {count}: {whole.name} ({whole.split}) has {len(whole)}")
    return whole[rng.permutation(len(whole))[:count]]
