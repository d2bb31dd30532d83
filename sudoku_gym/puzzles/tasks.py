"""Tasks: what a curriculum chooses among: boards, numbers of blanks, parts of a bank."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from math import inf
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudoku_gym.puzzles.difficulty import FINE_GRADES, GRADES, grade
from sudoku_gym.puzzles.puzzle_set import PuzzleSet

AS_STORED = -1  # the blanks of a task whose puzzles are drawn as they are


class Task(NamedTuple):
    """A board, a number of blanks, and the range of a column of the bank to draw from."""

    name: str  # in curves and plots
    blanks: int = AS_STORED
    column: str = ""  # `grade`, `fine grade`, `rating` or `puzzle`; "" is the whole bank
    low: float = 0
    high: float = inf  # exclusive
    board: str = ""  # name of a geometry; "" is that of whoever draws


@dataclass(frozen=True)
class Tasks:
    """T tasks by a text such as `"blanks=2..12"`, meant to go from easy to hard.

    Factors with ` x ` between them are multiplied, the last one varies fastest; products with ` + `
    between them follow one another.

    - `blanks=2..12`, `blanks=20..50:5` (every fifth), `blanks=4,8,stored`: numbers of blanks.
      `stored` reveals no cell; without this factor none is revealed.
    - `grade`, or `grade=hidden singles,search`: grades of `sudoku_gym.puzzles.GRADES`. Those of
      `FINE_GRADES` that divide `search` can be named too, as in `grade=pairs,triples,X-Wing`.
    - `rating=0..10..100`: bands of the bank's ratings, each from a bound to below the next.
    - `puzzle=0..999`: single puzzles, by their index into the bank.
    - `board=4x4,9x9,16x16`: geometries by name. Several environments share these tasks; each draws
      those of its own board alone.

    Raises:
        ValueError: if a factor has another name or other values.
    """

    text: str

    def __post_init__(self) -> None:
        if len(self) == 0:
            raise ValueError(f"tasks={self.text!r} names no task")

    @cached_property
    def each(self) -> tuple[Task, ...]:
        """The tasks, in order."""
        tasks: list[Task] = []
        for term in self.text.split(" + "):
            factors = [list(_factor(factor, self.text)) for factor in term.split(" x ")]
            if len(factors) == 1:
                tasks += factors[0]
            else:
                tasks += (_combine(chosen, self.text) for chosen in product(*factors))
        return tuple(tasks)

    @cached_property
    def blanks(self) -> NDArray[np.int64]:
        """The number of blanks of each task, or `AS_STORED`: int64 `[T]`."""
        return np.array([task.blanks for task in self.each], np.int64)

    @cached_property
    def of_blanks(self) -> dict[int, int]:
        """The task of each number of blanks, where tasks are nothing else."""
        return {task.blanks: index for index, task in enumerate(self.each)}

    @property
    def only_blanks(self) -> bool:
        """Whether each task is nothing but a number of blanks."""
        others = (task.blanks == AS_STORED or task.column or task.board for task in self.each)
        return not any(others)

    @property
    def only_puzzles(self) -> bool:
        """Whether tasks are single puzzles, so that no other puzzle tells of them."""
        return any(task.column == "puzzle" for task in self.each)

    @property
    def boards(self) -> list[str]:
        """The boards that are named, each once, in order."""
        return list(dict.fromkeys(task.board for task in self.each if task.board))

    def __len__(self) -> int:
        return len(self.each)


@dataclass(frozen=True, eq=False)
class TaskWeights:
    """How often each of some tasks is drawn; taken wherever a number of blanks is.

    `weights`, float `[T]`, need not sum to 1.
    """

    tasks: Tasks
    weights: NDArray[np.float64]

    @classmethod
    def equal(cls, text: str) -> TaskWeights:
        """Return equal weights of the tasks of a text."""
        tasks = Tasks(text)
        return cls(tasks, np.ones(len(tasks)))

    def on(self, board: str) -> NDArray[np.float64]:
        """Return the weights, float64 `[T]`, 0 for the tasks of other boards."""
        weights = np.asarray(self.weights, np.float64)
        if not self.tasks.boards:
            return weights
        return np.where([task.board in ("", board) for task in self.tasks.each], weights, 0.0)


@dataclass(frozen=True, eq=False)
class PuzzleWeights:
    """How often each puzzle of a list is drawn, in place of those of the source.

    `weights`, float `[M]`, need not sum to 1.
    """

    puzzle_set: PuzzleSet
    weights: NDArray[np.float64]


class TaskTable(NamedTuple):
    """Which rows of a bank each of T tasks draws from, for the kernels."""

    cdf: NDArray[np.float64]  # [T], cumulative weights; [0]: there is one task
    starts: NDArray[np.int64]  # [T], where in `members` the rows of a task begin
    counts: NDArray[np.int64]  # [T], how many they are
    blanks: NDArray[np.int64]  # [T], its number of blanks, or `AS_STORED`
    members: NDArray[np.int64]  # rows of the bank; [0] stands for all of them, in order


TaskRows: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""`starts`, `counts` and `members` of a `TaskTable`."""


def rows_of(tasks: Tasks, puzzle_set: PuzzleSet, order: NDArray[np.int64]) -> TaskRows:
    """Return the rows of each task in a bank, `order` its puzzles with the most blanks first."""
    columns: dict[str, NDArray[Any]] = {
        "": np.zeros(len(order)),
        "grade": puzzle_set.grades[order],
        "rating": puzzle_set.ratings[order],
    }
    if any(task.column == "fine grade" for task in tasks.each):
        columns["fine grade"] = grade(puzzle_set.puzzles, puzzle_set.geometry, fine=True)[order]
    blanks, row_of = puzzle_set.blanks[order], np.argsort(order)
    parts: dict[tuple[str, float, float], tuple[int, NDArray[np.int64]]] = {}
    starts, counts, end = [], [], 0
    for task in tasks.each:
        part = task.column, task.low, task.high
        if part not in parts:
            if task.column == "puzzle":  # without a look through all of them
                rows = row_of[int(task.low) : int(task.high)]
            else:
                values = columns[task.column]
                rows = np.flatnonzero((values >= task.low) & (values < task.high))
            parts[part] = end, rows
            end += len(rows)
        start, rows = parts[part]
        starts.append(start)
        counts.append(int((blanks[rows] >= task.blanks).sum()))  # the first rows of the part
    members = np.concatenate([rows for _, rows in parts.values()])
    return np.array(starts), np.array(counts), members


def task_table(chosen: TaskWeights, rows: TaskRows, board: str) -> TaskTable:
    """Return the table to draw a board's tasks; ValueError if one with a weight has no puzzle."""
    tasks, weights = chosen.tasks, chosen.on(board)
    cdf = cumulative(weights, len(tasks), f"the weights of {tasks.text!r}")
    starts, counts, members = rows
    for task in np.flatnonzero((counts == 0) & (weights > 0))[:1]:
        raise ValueError(f"the source has no puzzle for {tasks.each[task].name!r}")
    return TaskTable(cdf, starts, counts, tasks.blanks, members)


def cumulative(weights: ArrayLike, count: int, name: str) -> NDArray[np.float64]:
    """Return the cumulative distribution of weights, float64 `[count]`.

    A ValueError says if they are not `count` finite numbers, none negative and not all zero.
    """
    chances = np.asarray(weights, np.float64)
    total = chances.sum()
    if chances.shape != (count,) or not (chances >= 0).all() or not 0 < total < inf:
        raise ValueError(f"{name} must be {count} finite numbers, none negative, not all zero")
    cdf: NDArray[np.float64] = chances.cumsum() / total
    cdf[np.flatnonzero(chances)[-1] :] = 1.0  # no rounding may leave a draw without an index
    return cdf


def _factor(text: str, tasks: str) -> Iterator[Task]:
    """Yield the tasks of a factor, such as `blanks=2..12`."""
    name, _, values = (part.strip() for part in text.partition("="))
    try:
        if name == "blanks":
            for number in _numbers(values):
                yield Task(f"{number} blanks", number) if number != AS_STORED else Task("as stored")
        elif name == "puzzle":
            for number in _numbers(values):
                yield Task(f"puzzle {number}", AS_STORED, name, number, number + 1)
        elif name == "grade":
            for told in map(str.strip, values.split(",") if values else GRADES):
                column, names = (name, GRADES) if told in GRADES else ("fine grade", FINE_GRADES)
                yield Task(told, AS_STORED, column, at := names.index(told), at + 1)
        elif name == "rating":
            for low, high in pairwise(map(float, values.split(".."))):
                yield Task(f"rating {low:g} to {high:g}", AS_STORED, name, low, high)
        elif name == "board" and re.fullmatch(r"\w+( *, *\w+)*", values):
            for told in map(str.strip, values.split(",")):
                yield Task(told, board=told)
        else:
            raise ValueError(name)
    except ValueError:
        raise ValueError(
            f"tasks={tasks!r}: {text.strip()!r} is no factor; write blanks=2..12, grade, "
            f"grade={GRADES[0]},{GRADES[-1]}, rating=0..10..100, puzzle=0..999, board=4x4,9x9, "
            "' x ' or ' + ' between them"
        ) from None


def _numbers(values: str) -> Iterator[int]:
    """Yield the numbers of `2..12`, `20..50:5` or `4,8,stored`."""
    for part in values.split(","):
        ends = re.fullmatch(r"(\d+)\.\.(\d+)(?::([1-9]\d*))?", part.strip())
        if ends:
            yield from range(int(ends[1]), int(ends[2]) + 1, int(ends[3] or 1))
        else:
            yield AS_STORED if part.strip() == "stored" else int(part)


def _combine(chosen: tuple[Task, ...], tasks: str) -> Task:
    """Return the task that meets all of the chosen ones."""
    merged: dict[str, Any] = {}
    for task in chosen:
        told = {k: v for k, v in task._asdict().items() if v != Task._field_defaults.get(k)}
        del told["name"]
        if merged.keys() & told.keys():
            raise ValueError(f"tasks={tasks!r}: multiply boards, blanks and one other factor")
        merged |= told
    return Task(", ".join(task.name for task in chosen), **merged)
