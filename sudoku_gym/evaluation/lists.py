"""Play a list of puzzles of any length, part by part, with shares by source and by rating.

The results can be written to a JSON file meanwhile; a run that was stopped goes on there.
"""

from __future__ import annotations

import json
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
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Convergence, ModelCard, Policy
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.storage.atomic import write_text
from sudoku_gym.storage.configs import decode_json
from sudoku_gym.storage.reading import naming, read_json

RATING_BUCKETS = (0, 1, 10, 20, 40, 80)
"""The least rating of each group of puzzles."""

_LONGEST = 60_000_000  # bytes
_BYTES, _MORE_FOR_ROUNDS = 1, 12  # a puzzle of a policy, and where it tells its rounds
_MOST_ROWS, _MOST_PUZZLES, _MOST_SOURCES = 1_000, 10**9, 1_000
_DIGITS = 6  # decimals of the seconds in a file
_BETWEEN_WRITES = 5.0  # s


@dataclass(frozen=True)
class Share:
    """How many puzzles of a group were solved, with a Wilson 95 % interval in percent."""

    count: int
    solved: int
    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0 <= self.solved <= self.count <= _MOST_PUZZLES:
            raise ValueError(f"{self.solved:.6g} solved of {self.count:.6g} puzzles")
        if not 0 <= self.low <= self.high <= 100:
            raise ValueError(f"an interval from {self.low} to {self.high} percent")

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
    """checksum of the policy's weights, empty if it has none"""
    code: str = ""
    """checksum of the code of another's policy, empty for those of this project"""
    config: str = ""
    """checksum of the configuration of its checkpoint, empty if it has none"""
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

    def __post_init__(self) -> None:
        if set(self.outcomes + self.converged_outcomes) - {"0", "1"}:
            raise ValueError("outcomes must consist of 0 and 1")
        if not 0 <= self.constraint_fraction <= 1:
            raise ValueError(f"constraint_fraction={self.constraint_fraction}: not from 0 to 1")
        times = (self.seconds, self.processor_seconds, self.milliseconds, self.rounds or 0.0)
        if not (min(times) >= 0 and np.isfinite(times).all()):
            raise ValueError("times and rounds must be finite and not negative")
        lost = self.outcomes.count("0")
        if not 0 <= self.illegal <= lost:
            raise ValueError(f"illegal={self.illegal:.6g}: more games than were lost")
        if (self.all.solved, self.all.count) != (len(self.outcomes) - lost, len(self.outcomes)):
            raise ValueError(f"{self.all.solved} of {self.all.count} are not those of the outcomes")
        for shares in (self.by_source, self.by_rating):
            if sum(share.count for share in shares.values()) > self.all.count:
                raise ValueError("groups of more puzzles than were played")
        if (
            not 0
            <= min(self.rounds_of_each, default=0)
            <= max(self.rounds_of_each, default=0)
            < 2**63
        ):
            raise ValueError("rounds_of_each must be from 0 to 2^63 - 1")
        lengths = {len(self.converged_outcomes), len(self.rounds_of_each)}
        if not lengths <= {0} and lengths != {len(self.outcomes)}:
            raise ValueError("there must be as many rounds and converged outcomes as outcomes")


@dataclass
class ListResults:
    """The rows of a file: policies that have played the same list."""

    format: Literal["sudoku-gym list"]
    puzzles: dict[str, bool | int | str | None]
    """which list: its name, split, draw and seed"""
    left_out: int | None = None
    """puzzles left out because a training split holds them up to symmetry; None: not looked for"""
    rows: list[ListRow] = field(default_factory=list)

    def __post_init__(self) -> None:
        names = [row.policy for row in self.rows]
        if len(names) > _MOST_ROWS:
            raise ValueError(f"{len(names):,} rows, more than {_MOST_ROWS:,}")
        if len({*names}) < len(names):
            raise ValueError("two rows of one policy")
        if not 0 <= (self.left_out or 0) <= _MOST_PUZZLES:
            raise ValueError(f"left_out={self.left_out:.6g}")

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
        in any case, and the one before stays until `exchange`.

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
        self.results.rows.append(row)
        return row

    def copy_of(self, policy: str) -> ListRow | None:
        """Return the row of a policy as it is now, for `restore`."""
        row = self.results.find(policy)
        return None if row is None else replace(row)

    def exchange(self, row: ListRow) -> None:
        """Put a row that was played again in the place of the one before."""
        rows = self.results.rows
        rows[:] = [row if each.policy == row.policy else each for each in rows]

    def restore(self, policy: str, before: ListRow | None) -> None:
        """Put the row of a policy back as it was, if there was one, and write the file."""
        rows = self.results.rows
        rows[:] = [each for each in rows if each.policy != policy]
        if before is not None:
            rows.append(before)
        self.write()

    def write(self) -> None:
        """Write the file, if there is one.

        Raises:
            ValueError: if it would be too large to be read again once all rows are as long as the
                longest; the file stays as it was.
        """
        if self._path is None:
            return
        longest = max((len(row.outcomes) for row in self.results.rows), default=0)
        tell = sum(bool(row.rounds_of_each) for row in self.results.rows)
        text = json.dumps(asdict(self.results), indent=1) + "\n"
        soon = longest * (_BYTES * len(self.results.rows) + _MORE_FOR_ROUNDS * tell)
        needed = max(soon, len(text))
        if needed > _LONGEST:
            raise ValueError(
                f"{self._path} would take {needed:,} bytes, more than the {_LONGEST:,} that can be "
                "read again: give another file to some of the policies"
            )
        write_text(self._path, text)


def read_list_results(path: Path) -> ListResults:
    """Read the results of a list; ValueError if the file holds none, in a message that names it."""
    with naming(path, "it holds no results of a list"):
        return decode_json(ListResults, read_json(path, _LONGEST), "the results")


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
    played = list[tuple[Evaluation, str]]()  # with the digest of the list up to there
    before, wanted = row.outcomes, row.sha256
    start, filled_in, last = 0, len(before), -_BETWEEN_WRITES

    def fill_in() -> None:
        nonlocal filled_in, last
        if start > filled_in:
            filled_in = start
            _fill_in(row, join_evaluations([each for each, _ in played]), groups, played[-1][1])
            on_filled()
            last = time.monotonic()

    try:
        for number, part in enumerate(parts):
            if number == 0 and part.geometry != Geometry.standard(part.geometry.size):
                digest.update(part.geometry.units.tobytes())
            digest.update(part.puzzles.tobytes())
            if start < len(before):
                evaluation = _stored(row, part, slice(start, start + len(part)), start == 0)
                if start + len(part) == len(before) and digest.hexdigest() != wanted:
                    raise ValueError(f"{row.policy} has played another list: remove its results")
            elif row.is_done:
                raise ValueError(f"{row.policy} has played another list: remove its results")
            else:
                evaluation = evaluate(
                    policy,
                    part,
                    batch_size=len(part),
                    first_batch=number,
                    on_progress=on_progress,
                    **options,
                )
            played.append((evaluation, digest.hexdigest()))
            groups.add(part, evaluation.solved)
            start += len(part)
            if time.monotonic() - last >= _BETWEEN_WRITES:
                fill_in()
    finally:
        fill_in()
    if not played:
        raise ValueError("no puzzle to play: the list is empty, or training splits hold all of it")
    if start < len(before):
        raise ValueError(f"{row.policy} has played another list: remove its results")
    groups.fill_in(row)  # also of what was played before: the list may have other sources now
    row.is_done = True
    on_filled()
    return join_evaluations([each for each, _ in played])


def json_of_row(row: ListRow) -> dict[str, Any]:
    """Return what a row says beyond its `Evaluation`, fit for JSON; nothing that is unknown."""
    card = asdict(row.card) if row.card else None
    shares = {name: asdict(row)[name] for name in ("by_source", "by_rating")}
    return {name: value for name, value in {"model_card": card, **shares}.items() if value}


def rating_names() -> Iterator[tuple[str, int, int]]:
    """Yield the name of each group of ratings, its least rating, and the least above it."""
    for low, high in pairwise((*RATING_BUCKETS, np.iinfo(np.int32).max)):
        last = f"{low} and more" if low == RATING_BUCKETS[-1] else f"{low} to {high - 1}"
        yield (str(low) if high == low + 1 else last), low, high


def _made_of(row: ListRow) -> tuple[Any, ...]:
    return row.package, row.code, row.weights, row.config


class _Groups:
    """Puzzles and solved ones, by source and by rating."""

    def __init__(self) -> None:
        self.by_source: dict[str, NDArray[np.int64]] = {}
        self.by_rating: dict[str, NDArray[np.int64]] = {}

    def add(self, part: PuzzleSet, solved: NDArray[np.bool_]) -> None:
        names, numbers = np.unique(part.sources, return_inverse=True)
        counts = np.stack(
            [np.bincount(numbers[solved], minlength=len(names)), np.bincount(numbers)]
        )
        for source, added in zip(names.tolist(), counts.T, strict=True):
            if source:
                self._count(self.by_source, source, added)
        for name, low, high in rating_names():
            chosen = (part.ratings >= low) & (part.ratings < high)
            self._count(self.by_rating, name, np.array([(solved & chosen).sum(), chosen.sum()]))

    def fill_in(self, row: ListRow) -> None:
        """Write the shares of all ratings, and of the sources with most puzzles, into a row."""
        order = [name for name, _, _ in rating_names()]
        most = sorted(self.by_source, key=lambda name: -self.by_source[name][1])[:_MOST_SOURCES]
        rated = sorted(self.by_rating.items(), key=lambda each: order.index(each[0]))
        row.by_source = _shares({name: self.by_source[name] for name in sorted(most)})
        row.by_rating = _shares(dict(rated))

    @staticmethod
    def _count(counts: dict[str, NDArray[np.int64]], name: str, added: NDArray[np.int64]) -> None:
        """Add solved puzzles, and all, to a group that has some."""
        if added[1]:
            counts[name] = counts.get(name, np.zeros(2, np.int64)) + added


def _shares(counts: Mapping[str, NDArray[np.int64]]) -> dict[str, Share]:
    return {name: Share.of(int(solved), int(count)) for name, (solved, count) in counts.items()}


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


def _stored(row: ListRow, part: PuzzleSet, place: slice, is_first: bool) -> Evaluation:
    """Return what a row holds of a part; sums over the whole row are given to the first part."""
    convergence = None
    if row.converged_outcomes:
        rounds = np.array(row.rounds_of_each[place], np.int64)
        convergence = Convergence(rounds, _outcomes(row.converged_outcomes[place]))
    evaluation = Evaluation(
        solved=_outcomes(row.outcomes[place]),
        constraint_fraction=row.constraint_fraction,
        illegal=0,
        seconds=0.0,
        processor_seconds=0.0,
        convergence=convergence,
        orbits=part.orbits,
        seed=int(row.options["seed"] or 0),
    )
    if len(evaluation.solved) != len(part):
        raise ValueError(f"{row.policy} has played another list: remove its results")
    if not is_first:
        return evaluation
    sums = ("illegal", "seconds", "processor_seconds")
    return replace(evaluation, **{name: getattr(row, name) for name in sums})


def _letters(flags: NDArray[np.bool_]) -> str:
    return np.where(flags, b"1", b"0").tobytes().decode()


def _outcomes(letters: str) -> NDArray[np.bool_]:
    return np.frombuffer(letters.encode(), np.uint8) == ord("1")
