"""Results of policies on a list of puzzles, and the JSON file that keeps them.

The file is written while a policy plays; a run that was stopped goes on there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from sudoku_gym.evaluation.intervals import wilson_interval
from sudoku_gym.policies import ModelCard
from sudoku_gym.storage.atomic import write_json
from sudoku_gym.storage.configs import decode_json
from sudoku_gym.storage.reading import error_context, read_json

_LONGEST = 60_000_000  # bytes


@dataclass(frozen=True)
class Share:
    """How many puzzles of a group were solved, with a Wilson 95 % interval in percent."""

    count: int
    solved: int
    low: float
    high: float

    @classmethod
    def of(cls, solved: int, count: int) -> Share:
        """Return that of so many of so many."""
        low, high = (round(100 * end, 2) for end in wilson_interval(solved, count))
        return cls(count, solved, low, high)


@dataclass
class ListRow:
    """The results of a policy on a list, as far as it has been played."""

    policy: str
    options: dict[str, bool | int | str | None]
    """of `evaluate`"""
    weights: str
    """SHA-256 of the policy's weights, empty if it has none"""
    package: str = ""
    """name and version of the package that the policy comes from, empty if unknown"""
    card: ModelCard | None = None
    is_done: bool = False
    """whether the whole list was played"""
    sha256: str = ""
    """of the boards that were played, and of the units where these are not the standard ones"""
    all: Share = field(default_factory=lambda: Share.of(0, 0))
    by_source: dict[str, Share] = field(default_factory=dict)
    by_rating: dict[str, Share] = field(default_factory=dict)
    rounds: float | None = None
    """mean of a puzzle; None where the policy can't tell"""
    converged: Share | None = None
    """of the puzzles whose evaluations had all converged, how many were solved"""
    milliseconds: float = 0.0
    """processor time a puzzle"""
    illegal: int = 0
    seconds: float = 0.0
    """wall time of the policy"""
    processor_seconds: float = 0.0
    constraint_fraction: float = 0.0
    outcomes: str = ""
    """1 for each puzzle solved, 0 for others, in the order of the list"""
    converged_outcomes: str = ""
    """1 for each puzzle whose evaluations had all converged; empty where the policy can't tell"""
    rounds_of_each: list[int] = field(default_factory=list)


@dataclass
class ListResults:
    """The rows of a file: policies that have played the same list."""

    format: Literal["sudoku-gym list"]
    puzzles: dict[str, bool | int | str | None]
    """which list: its name, split, draw and seed"""
    left_out: int | None = None
    """puzzles left out because a training split holds them up to symmetry; None: not looked for, or
    not known before a policy has played the whole list"""
    rows: list[ListRow] = field(default_factory=list)

    def find(self, policy: str) -> ListRow | None:
        """Return the row of a policy, if there is one."""
        return next((row for row in self.rows if row.policy == policy), None)


class ListFile:
    """A JSON file of `ListResults`.

    Args:
        path: of the file, which may be there already; None keeps the results in memory.
        puzzles: which list is played.

    Raises:
        ValueError: if the file is no such file, or holds the results of another list.
    """

    def __init__(self, path: Path | None, puzzles: Mapping[str, bool | int | str | None]) -> None:
        self._path = path
        self.results = ListResults("sudoku-gym list", dict(puzzles))
        if path is not None and path.exists():
            self.results = read_list_results(path)
            if self.results.puzzles != self.results.puzzles | dict(puzzles):
                raise ValueError(
                    f"{path} holds results of other puzzles ({self.results.puzzles}): give another "
                    "file, or remove it"
                )

    def begin(self, row: ListRow, again: bool = False) -> ListRow:
        """Return the row of before, if there is one and its policy is made of the same.

        Else it is `row`, which takes the place of the one before at once. With `again` it is `row`
        in any case, and the one before stays until `finish`.

        Raises:
            ValueError: if a row that stays was played with other options.
        """
        for other in self.results.rows:
            changed = [k for k, v in row.options.items() if other.options.get(k) != v]
            if changed and not (again and other.policy == row.policy):
                name = changed[0]
                raise ValueError(
                    f"{self._path} holds {other.policy} with {name}={other.options.get(name)}, not "
                    f"{row.options[name]}: give another file"
                )
        before = self.results.find(row.policy)
        if before is not None:
            if _made_of(before) == _made_of(row) and not again:
                before.card = row.card
                return before
            if again:
                return row
            self.results.rows.remove(before)
            if not any(other.is_done for other in self.results.rows):
                self.results.left_out = None
        self.results.rows.append(row)
        return row

    def copy_of(self, policy: str) -> ListRow | None:
        """Return the row of a policy as it is now, for `restore`."""
        row = self.results.find(policy)
        return None if row is None else replace(row)

    def finish(self, row: ListRow, left_out: int | None) -> None:
        """Put a row that is done in the place of the one before, beside what its list left out."""
        rows = self.results.rows
        rows[:] = [row if each.policy == row.policy else each for each in rows]
        self.results.left_out = left_out

    def restore(self, policy: str, before: ListRow | None) -> None:
        """Put the row of a policy back as it was, if there was one, and write the file."""
        rows = self.results.rows
        rows[:] = [each for each in rows if each.policy != policy]
        if before is not None:
            rows.append(before)
        self.write()

    def write(self) -> None:
        """Write the file, if there is one."""
        if self._path is not None:
            write_json(self._path, asdict(self.results), indent=1)


def read_list_results(path: Path) -> ListResults:
    """Read the results of a list; ValueError if the file holds none, in a message that names it."""
    with error_context(path, "it holds no results of a list"):
        return decode_json(ListResults, read_json(path, _LONGEST), "the results")


def json_of_row(row: ListRow) -> dict[str, Any]:
    """Return what a row says beyond its `Evaluation`, fit for JSON; nothing that is unknown."""
    card = asdict(row.card) if row.card else None
    shares = {name: asdict(row)[name] for name in ("by_source", "by_rating")}
    return {name: value for name, value in {"model_card": card, **shares}.items() if value}


def _made_of(row: ListRow) -> tuple[Any, ...]:
    return row.package, row.weights
