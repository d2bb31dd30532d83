"""Sources of puzzles for environments: any number of blanks, without a solver at reset.

A puzzle with more givens than a well-posed one is well posed too: so a puzzle is drawn, random
blanks are revealed until exactly as many are left as asked for, and a random symmetry moves it.
"""

# mypy: disable-error-code="no-untyped-def,call-arg"

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudoku_gym import plugins
from sudoku_gym.compiler.intrinsics import borrowed, prefetch
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.compiler.random_stream import new_stream, next_below, next_unit
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.symmetry import draw_symmetry
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.tasks import (
    AS_STORED,
    PuzzleWeights,
    TaskRows,
    Tasks,
    TaskTable,
    TaskWeights,
    cumulative,
    rows_of,
    task_table,
)

Blanks: TypeAlias = (
    int
    | tuple[int, int]
    | Mapping[int, float]
    | Mapping[str, float]
    | str
    | TaskWeights
    | PuzzleWeights
    | None
)
"""How many blanks puzzles have, or which tasks they are drawn from: see `BankSource.table`.
`PuzzleWeights` are for environments alone."""
Bank: TypeAlias = tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.int64]]


@runtime_checkable
class PuzzleSource(Protocol):
    """The interface through which environments draw puzzles."""

    geometry: Geometry
    max_blanks: int  # maximum number of blanks of a drawn puzzle

    def sample(
        self, count: int, blanks: Blanks, rng: np.random.Generator
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Draw puzzles and their solutions, int8 `[count, N, N]` each."""
        ...


class BankSource:
    """Draws from a fixed list of puzzles, each with a blank at least.

    Attributes:
        puzzle_set: the list.
        bank: puzzles int8 `[M, N**2]`, most blanks first; their solutions; and the index of each
            into `puzzle_set`, int64 `[M]`.

    Raises:
        ValueError: if the set is empty or a puzzle has no blank.
    """

    def __init__(self, puzzle_set: PuzzleSet) -> None:
        blanks = puzzle_set.blanks
        if not len(puzzle_set):
            raise ValueError(f"{puzzle_set.name}: no puzzle to draw from in {puzzle_set!r}")
        if blanks.min() == 0:
            raise ValueError(
                f"{puzzle_set.name}: puzzle {int(blanks.argmin())} has no blank; leave it out"
            )
        order = np.argsort(-blanks, kind="stable")
        self.puzzle_set = puzzle_set
        self.geometry = puzzle_set.geometry
        self.max_blanks = int(blanks.max())
        puzzles = np.ascontiguousarray(puzzle_set.puzzles.reshape(len(blanks), -1)[order])
        solutions = np.ascontiguousarray(puzzle_set.solutions.reshape(len(blanks), -1)[order])
        self.bank: Bank = (puzzles, solutions, order)
        numbers = np.bincount(blanks, minlength=self.max_blanks + 1)
        self._enough_blanks = numbers[::-1].cumsum()[::-1].astype(np.int64)
        self._rows: tuple[Tasks, TaskRows] | None = None  # of the latest tasks

    def sample(
        self, count: int, blanks: Blanks, rng: np.random.Generator
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Draw puzzles with `blanks` blanks, without a symmetry: int8 `[count, N, N]`, twice."""
        size = self.geometry.size
        puzzles = np.empty((count, size * size), np.int8)
        solutions = np.empty_like(puzzles)
        no_group = (0, 0, False, np.empty((0, 2 * size + 1), np.int32))
        drawing = DrawTables(self.bank, self.table(blanks), False, no_group)
        draw_puzzles(new_stream(rng), drawing, puzzles, solutions)
        return puzzles.reshape(count, size, size), solutions.reshape(count, size, size)

    def table(self, blanks: Blanks) -> TaskTable:
        """Return the table that puzzles are drawn by.

        Args:
            blanks: as `blanks_cdf` takes them; or `TaskWeights`, which draw tasks, or a text, which
                draws tasks of equal weights: see `Tasks`.

        Raises:
            TypeError: if `blanks` is none of these.
            ValueError: if no puzzle has so many blanks or belongs to a task; or from the weights.
        """
        if isinstance(blanks, str):
            blanks = TaskWeights.equal(blanks)
        if isinstance(blanks, TaskWeights):
            if self._rows is None or self._rows[0] != blanks.tasks:
                self._rows = blanks.tasks, rows_of(blanks.tasks, self.puzzle_set, self.bank[2])
            return task_table(blanks, self._rows[1], self.geometry.name)
        cdf = blanks_cdf(blanks, self.max_blanks)
        everything = np.empty(0, np.int64)
        if not len(cdf):
            one = np.array([[0], [len(self.puzzle_set)], [AS_STORED]], np.int64)
            return TaskTable(cdf, *one, everything)
        starts, numbers = np.zeros(len(cdf), np.int64), np.arange(len(cdf))
        return TaskTable(cdf, starts, self._enough_blanks, numbers, everything)

    def __repr__(self) -> str:
        return f"BankSource({self.puzzle_set!r}, at most {self.max_blanks} blanks)"


def source_of(puzzles: PuzzleWeights, geometry: Geometry) -> tuple[BankSource, TaskWeights]:
    """Return a source of the puzzles alone, and the weights as those of its tasks.

    A ValueError says if they are of another geometry.
    """
    puzzle_set = puzzles.puzzle_set
    if puzzle_set.geometry != geometry:
        raise ValueError(f"{puzzle_set!r} can't be drawn here: the boards are {geometry.name}")
    tasks = Tasks(f"puzzle=0..{len(puzzle_set) - 1}")
    return BankSource(puzzle_set), TaskWeights(tasks, puzzles.weights)


def table_of(source: PuzzleSource, blanks: Blanks) -> TaskTable:
    """Return the table of a source's draws; of one that is no bank, its numbers of blanks alone.

    Raises as `BankSource.table`.
    """
    if isinstance(source, BankSource):
        return source.table(blanks)
    none = np.empty(0, np.int64)
    return TaskTable(blanks_cdf(blanks, source.max_blanks), none, none, none, none)


class EmptySource:
    """A source without puzzles, for boards that are always given one at reset."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        self.max_blanks = geometry.num_cells

    def sample(
        self, count: int, blanks: Blanks, rng: np.random.Generator
    ) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Raise a RuntimeError: there is nothing to draw."""
        raise RuntimeError("there is no puzzle to draw: give one at reset")


def blanks_cdf(blanks: Blanks, max_blanks: int) -> NDArray[np.float64]:
    """Return the cumulative distribution of the number of blanks, float64 `[max_blanks + 1]`.

    `blanks` is None for puzzles as stored (then float64 `[0]`); an int for exactly so many; a
    (low, high) pair for a uniform draw with both ends included; or a mapping for weights (keys may
    be strings).

    Raises:
        TypeError: if `blanks` is none of these.
        ValueError: if a number lies outside 1 to `max_blanks`, or weights add up to nothing.
    """
    if blanks is None:
        return np.empty(0, np.float64)
    weights = np.zeros(max_blanks + 1, np.float64)
    numbers, shares = _weights(blanks, max_blanks)
    if min(numbers, default=1) < 1 or max(numbers, default=1) > max_blanks:
        raise ValueError(f"blanks={blanks!r}: this source serves 1 to {max_blanks} blanks")
    np.add.at(weights, numbers, shares)
    return cumulative(weights, max_blanks + 1, f"blanks={blanks!r}: the weights")


def _weights(blanks: Blanks, max_blanks: int) -> tuple[Sequence[int], ArrayLike]:
    """Return numbers of blanks, of a pair at most one too many, and the weight of each (or all)."""
    if isinstance(blanks, str):
        blanks = TaskWeights.equal(blanks)
    if isinstance(blanks, TaskWeights):
        if not blanks.tasks.only_blanks:
            raise ValueError(
                f"tasks={blanks.tasks.text!r}: this source has no grades, ratings or rows"
            )
        return blanks.tasks.blanks.tolist(), blanks.weights
    if isinstance(blanks, Mapping):
        return [int(number) for number in blanks], [float(each) for each in blanks.values()]
    ends = [*blanks] if isinstance(blanks, tuple | list) else [blanks, blanks]
    if len(ends) != 2 or not all(isinstance(end, int | np.integer) for end in ends):
        raise TypeError(
            f"blanks={blanks!r}: give None, a whole number, a (low, high) pair, or a mapping from "
            "numbers to weights"
        )
    low, high = (int(end) for end in ends if isinstance(end, int | np.integer))
    if low > high:
        raise ValueError(f"blanks={blanks!r}: the lower end of the pair comes first")
    return range(max(0, min(low, max_blanks + 1)), min(high, max_blanks + 1) + 1), 1.0


class DrawTables(NamedTuple):
    """How kernels draw puzzles."""

    bank: Bank  # `BankSource.bank`
    table: TaskTable
    augment: bool  # whether each puzzle is moved by a random symmetry
    group: tuple[int, int, bool, NDArray[np.int32]]  # `symmetry.group_of(geometry)`


@njit(cache=True)
def draw_puzzles(stream, drawing, puzzles, solutions):
    """Draw a puzzle into each row of `puzzles` and `solutions`, int8 `[B, N**2]`."""
    size = int(np.sqrt(puzzles.shape[1]))
    rows, columns = np.empty(size, np.int32), np.empty(size, np.int32)
    digits = np.empty(size + 1, np.int8)
    scratch = borrowed(rows), borrowed(columns), borrowed(digits)
    drawing = borrowed_drawing(drawing)
    stream, boards, solved = borrowed(stream), borrowed(puzzles), borrowed(solutions)
    for b in range(np.uint64(len(boards))):
        copy_puzzle(stream, drawing, choose_puzzle(stream, drawing), scratch, boards, solved, b)


@njit(cache=True, inline="always")
def borrowed_drawing(drawing):
    """Return a `DrawTables` without counts of references; the caller must hold the original."""
    bank, table, augment, group = borrowed(drawing)  # type: ignore[var-annotated]
    return DrawTables(bank, TaskTable(*table), augment, group)


@njit(cache=True, inline="always")
def choose_puzzle(stream, drawing):
    """Draw a row of the bank, a number of blanks (`AS_STORED`: as many as it has), and its task."""
    table = drawing.table
    task = 0
    if len(table.cdf) > 0:
        task = _first_above(table.cdf, next_unit(stream))
    row = table.starts[task] + next_below(stream, table.counts[task])
    if len(table.members) > 0:
        row = table.members[row]
    return row, table.blanks[task], task


@inlined
def _first_above(cdf, chance):
    """Return the first index where `cdf` exceeds `chance`; numba's `searchsorted` compiles long."""
    low, high = 0, len(cdf)
    while low < high:
        middle = (low + high) // 2
        if cdf[middle] > chance:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def copy_puzzle(stream, drawing, chosen, scratch, boards, solved, b):
    """Write the puzzle `chosen` into `boards[b]` and `solved[b]`, int8 `[B, >= N**2]`.

    `scratch`, (int32 `[N]`, int32 `[N]`, int8 `[N + 1]`), is overwritten.
    """
    (puzzles, solutions, _), _, augment, group = drawing
    index, num_blanks, _ = chosen
    rows, columns, digits = scratch
    size = len(rows)
    transpose = False
    prefetch(puzzles, index, 0)
    prefetch(solutions, index, 0)
    if augment:
        transpose = draw_symmetry(stream, group, rows, columns, digits)
    else:
        for i in range(size):
            rows[i] = columns[i] = i
            digits[i + 1] = i + 1
        digits[0] = 0
    row_step, column_step = (1, size) if transpose else (size, 1)
    blanks, reveal = 0, 0
    if num_blanks >= 0:
        for place in range(size * size):
            blanks += puzzles[index, place] == 0
        reveal = blanks - num_blanks
    source, target, cell = np.uint64(index), np.uint64(b), np.uint64(0)
    for row in range(np.uint64(size)):
        start = rows[row] * row_step
        for column in range(np.uint64(size)):
            answer = np.uint64(solutions[source, cell])
            digit = np.uint64(puzzles[source, cell])
            cell += np.uint64(1)
            if reveal > 0 and digit == 0:  # each set of blanks to reveal is equally likely
                if next_below(stream, blanks) < reveal:
                    digit = answer
                    reveal -= 1
                blanks -= 1
            image = np.uint64(start + columns[column] * column_step)
            boards[target, image] = digits[digit]
            solved[target, image] = digits[answer]


def resolve_source(
    source: object, split: str = "train", geometry: Geometry | None = None
) -> PuzzleSource:
    """Find the source that `source` names.

    Args:
        source: a bank's name such as `"9x9"` (all who ask get one source), a file (`.txt`, `.csv`,
            `.npz`), `"module:attribute"` (a source, a PuzzleSet, or a function without arguments
            that returns one), a PuzzleSource, or a PuzzleSet.
        split: which part of a bank, or of a source that has a method `split(name)`, which returns
            a source or a PuzzleSet; anything else is used whole. `"all"` takes everything whole.
        geometry: geometry of the boards in a file; None means the standard one.

    Raises:
        ValueError: if a string names nothing, with the names that exist; or from a file.
        TypeError: if an object is no source.
    """
    if isinstance(source, (str, Path)):
        return _named_source(str(source), split, geometry)
    if isinstance(source, PuzzleSet):
        return BankSource(source)
    if isinstance(source, PuzzleSource):
        divide = getattr(source, "split", None)
        if split == "all" or not callable(divide):
            return source
        return resolve_source(divide(split), "all")
    raise TypeError(
        f"{source!r} is no source of puzzles: it needs `geometry`, `max_blanks` and "
        "`sample(count, blanks, rng)`; or give a PuzzleSet, a bank's name, or a file"
    )


def _named_source(name: str, split: str, geometry: Geometry | None) -> PuzzleSource:
    from sudoku_gym.puzzles import banks, files

    if name in banks.NAMES:
        return _bank_source(name, split)
    if Path(name).suffix in files.SUFFIXES:
        return BankSource(files.read(name, geometry))
    if ":" not in name:
        raise ValueError(
            f"no source of puzzles is called {name!r}: use one of {', '.join(banks.NAMES)}, a file "
            f"that ends in {', '.join(files.SUFFIXES)}, or 'module:attribute'"
        )
    found = plugins.load_attribute(name)
    is_factory = callable(found) and (isinstance(found, type) or not hasattr(found, "sample"))
    return resolve_source(found() if is_factory else found, split)


@cache
def _bank_source(name: str, split: str) -> BankSource:
    """Return the source of a bank, which all environments share: megabytes, and sorted."""
    from sudoku_gym.puzzles import banks

    return BankSource(banks.load(name, split))
