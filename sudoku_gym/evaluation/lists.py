"""Policies on lists of puzzles of any length: they are played part by part, results kept in a file.

The JSON file is written while a policy plays; a run that was stopped goes on there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.evaluation.games import Evaluation, evaluate, join_evaluations
from sudoku_gym.evaluation.intervals import wilson_interval
from sudoku_gym.policies import Convergence, ModelCard, Policy
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.storage.atomic import write_json
from sudoku_gym.storage.configs import decode_json
from sudoku_gym.storage.reading import error_context, read_json

RATING_BUCKETS = (0, 1, 10, 20, 40, 80)
"""The least rating of each group of puzzles."""

_LONGEST = 60_000_000  # bytes of a file of results
_DIGITS = 6  # decimals of the seconds in a file
_BETWEEN_WRITES = 5.0  # s


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
        self._before: ListRow | None = None  # the row of the policy that plays, as it was
        self.results = ListResults("sudoku-gym list", dict(puzzles))
        if path is not None and path.exists():
            self.results = read_list_results(path)
            if self.results.puzzles != self.results.puzzles | dict(puzzles):
                raise ValueError(
                    f"{path} holds results of other puzzles ({self.results.puzzles}): give another "
                    "file, or remove it"
                )

    def begin(self, row: ListRow, again: bool = False) -> ListRow:
        """Return the row of before, if there is one of the same package and weights.

        Else it is `row`, which takes the place of the one before at once. With `again` it is `row`
        in any case, and the one before stays until `row` is done.

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
        self._before = before and replace(before)
        if before is None:
            self.results.rows.append(row)
        elif not again:
            if (before.package, before.weights) == (row.package, row.weights):
                before.card = row.card
                return before
            self._put(row)
            if not any(other.is_done for other in self.results.rows):
                self.results.left_out = None
        return row

    def write(self, row: ListRow, left_out: int | None) -> None:
        """Write the file, if there is one, with a row as far as it has been played.

        Args:
            row: the one that `begin` returned.
            left_out: puzzles that its list left out, for a row that is done.

        Raises:
            ValueError: if a row that is done was played on another list than those before, as a
                file of puzzles may change; the file then has the row of before.
        """
        rows, changed_since = self.results.rows, None
        if row.is_done:
            done = (each for each in rows if each.policy != row.policy and each.is_done)
            changed_since = next((each for each in done if each.sha256 != row.sha256), None)
            if changed_since is None:
                self._put(row)
                self.results.left_out = left_out
            elif self._before is not None:
                self._put(self._before)
            else:
                rows.remove(row)
        if self._path is not None:
            write_json(self._path, asdict(self.results), indent=1)
        if changed_since is not None:
            raise ValueError(
                f"{self.results.puzzles['name']} has changed since {changed_since.policy} played "
                f"it: what {row.policy} has played now is left out; give another --out"
            )

    def _put(self, row: ListRow) -> None:
        """Put a row in the place of the one of its policy."""
        rows = self.results.rows
        rows[:] = [row if each.policy == row.policy else each for each in rows]


def read_list_results(path: Path) -> ListResults:
    """Read the results of a list; ValueError if the file holds none, in a message that names it."""
    with error_context(path, "it holds no results of a list"):
        return decode_json(ListResults, read_json(path, _LONGEST), "the results")


def json_of_row(row: ListRow) -> dict[str, Any]:
    """Return what a row says beyond its `Evaluation`, fit for JSON; nothing that is unknown."""
    card = asdict(row.card) if row.card else None
    shares = {name: asdict(row)[name] for name in ("by_source", "by_rating")}
    return {name: value for name, value in {"model_card": card, **shares}.items() if value}


def play_list(
    policy: Policy,
    parts: Iterable[PuzzleSet],
    row: ListRow,
    *,
    on_filled: Callable[[], None] = lambda: None,
    on_progress: Callable[[float], None] | None = None,
    **options: Any,
) -> Evaluation:
    """Let a policy play what a row lacks of a list; the row is filled in meanwhile.

    The games are those that `evaluate` would play of the whole list with the same options, since
    each part is one of its batches.

    Args:
        policy: the policy to evaluate.
        parts: the list, at most `batch_size` puzzles at a time, each time in the same parts.
        row: its results so far.
        on_filled: called when the row has been filled in: every few seconds, at the end, and when
            the play is interrupted.
        on_progress: called with the share of the present part that is done, 0 to 1.
        options: of `evaluate`, but for `batch_size`.

    Raises:
        ValueError: if there is no puzzle, or the list is not the one that the row was played on.
    """
    digest, groups = sha256(), _Groups()
    played, reached = list[Evaluation](), ""  # `reached`: the digest of the list up to there
    num_before, wanted = len(row.outcomes), row.sha256
    start, filled_in, last = 0, num_before, -_BETWEEN_WRITES
    is_other_list = f"{row.policy} has played another list: remove its results"

    def fill_in() -> None:
        nonlocal filled_in, last
        if start > filled_in:
            filled_in = start
            _fill_in(row, join_evaluations(played), groups, reached)
            on_filled()
            last = time.monotonic()

    try:
        for number, part in enumerate(parts):
            if number == 0 and not part.geometry.is_standard:
                digest.update(part.geometry.units.tobytes())
            digest.update(part.puzzles.tobytes())
            end = start + len(part)
            if start < num_before or row.is_done:
                if end > num_before or (end == num_before and digest.hexdigest() != wanted):
                    raise ValueError(is_other_list)
                evaluation = _stored(row, part, start)
            else:
                evaluation = evaluate(
                    policy,
                    part,
                    batch_size=len(part),
                    first_batch=number,
                    on_progress=on_progress,
                    **options,
                )
            played.append(evaluation)
            groups.add(part, evaluation.solved)
            start, reached = end, digest.hexdigest()
            if time.monotonic() - last >= _BETWEEN_WRITES:
                fill_in()
    finally:
        fill_in()
    if not played:
        raise ValueError("no puzzle to play: the list is empty, or training splits hold all of it")
    if start < num_before:
        raise ValueError(is_other_list)
    groups.fill_in(row)  # also of what was played before: the list may have other sources now
    row.is_done = True
    on_filled()
    return join_evaluations(played)


def rating_names() -> Iterator[tuple[str, int, int]]:
    """Yield the name of each group of ratings, its least rating, and the least above it."""
    for low, high in pairwise((*RATING_BUCKETS, np.iinfo(np.int32).max + 1)):
        last = f"{low} and more" if low == RATING_BUCKETS[-1] else f"{low} to {high - 1}"
        yield (str(low) if high == low + 1 else last), low, high


class _Groups:
    """Counts of puzzles (n) and solved ones (k), as [k, n], by source and by rating."""

    def __init__(self) -> None:
        self.by_source: dict[str, list[int]] = {}
        self.by_rating: dict[str, list[int]] = {}

    def add(self, part: PuzzleSet, solved: NDArray[np.bool_]) -> None:
        for source in np.unique(part.sources).tolist():
            if source:
                self._count(self.by_source, source, solved[part.sources == source])
        for name, low, high in rating_names():
            within = (part.ratings >= low) & (part.ratings < high)
            self._count(self.by_rating, name, solved[within])

    def fill_in(self, row: ListRow) -> None:
        """Write the shares of all sources and ratings into a row."""
        by_source, by_rating = self.by_source, self.by_rating
        row.by_source = {name: Share.of(*by_source[name]) for name in sorted(by_source)}
        names = [name for name, _, _ in rating_names() if name in by_rating]
        row.by_rating = {name: Share.of(*by_rating[name]) for name in names}

    @staticmethod
    def _count(counts: dict[str, list[int]], name: str, solved: NDArray[np.bool_]) -> None:
        if len(solved):
            before = counts.get(name, [0, 0])
            counts[name] = [before[0] + int(solved.sum()), before[1] + len(solved)]


def _fill_in(row: ListRow, whole: Evaluation, groups: _Groups, digest: str) -> None:
    """Write what was played into the row."""
    count = len(whole.solved)
    row.sha256, row.all = digest, Share.of(int(whole.solved.sum()), count)
    groups.fill_in(row)
    row.rounds = whole.mean_rounds
    row.converged = Share.of(*whole.converged_solved) if whole.converged_solved else None
    row.illegal, row.constraint_fraction = whole.illegal, whole.constraint_fraction
    row.seconds = round(whole.seconds, _DIGITS)
    row.processor_seconds = round(whole.processor_seconds, _DIGITS)
    row.milliseconds = float(f"{1000 * whole.processor_seconds / count:.3g}")
    row.outcomes = _letters(whole.solved)
    if whole.convergence is not None:
        row.converged_outcomes = _letters(whole.convergence.converged)
        row.rounds_of_each = whole.convergence.rounds.tolist()


def _stored(row: ListRow, part: PuzzleSet, start: int) -> Evaluation:
    """Return what a row holds of a part; sums over the whole row are given to the first part."""
    place, is_first = slice(start, start + len(part)), start == 0
    convergence = None
    if row.converged_outcomes:
        rounds = np.array(row.rounds_of_each[place], np.int64)
        convergence = Convergence(rounds, _outcomes(row.converged_outcomes[place]))
    return Evaluation(
        solved=_outcomes(row.outcomes[place]),
        constraint_fraction=row.constraint_fraction,
        illegal=row.illegal if is_first else 0,
        seconds=row.seconds if is_first else 0.0,
        processor_seconds=row.processor_seconds if is_first else 0.0,
        convergence=convergence,
        orbits=part.orbits,
        seed=int(row.options["seed"] or 0),
    )


def _letters(flags: NDArray[np.bool_]) -> str:
    return np.where(flags, b"1", b"0").tobytes().decode()


def _outcomes(letters: str) -> NDArray[np.bool_]:
    return np.frombuffer(letters.encode(), np.uint8) == ord("1")
