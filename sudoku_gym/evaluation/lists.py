"""Policies on lists of puzzles, their results kept in a JSON file.

The file is written while a policy plays; a run that was stopped goes on there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
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

# The name of each group of ratings, its least rating, and the least above it.
_RATINGS = (
    ("0", 0, 1),
    ("1 to 9", 1, 10),
    ("10 to 19", 10, 20),
    ("20 to 39", 20, 40),
    ("40 to 79", 40, 80),
    ("80 and more", 80, np.inf),
)

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
    """which list: its name, split, draw and seed, and the SHA-256 of its boards"""
    left_out: int | None = None
    """puzzles left out because a training split holds them up to symmetry; None: not looked for"""
    rows: list[ListRow] = field(default_factory=list)

    def begin(self, row: ListRow) -> ListRow:
        """Return the row of before, if there is one of the same package and weights.

        Else it is `row`, which takes the place of the one before.

        Raises:
            ValueError: if the policies before were played with other options.
        """
        for other in self.rows:
            for name, value in row.options.items():
                if other.options.get(name) != value:
                    raise ValueError(
                        f"{other.policy} was played with {name}={other.options.get(name)}, not "
                        f"{value}: give another file"
                    )
        names = [other.policy for other in self.rows]
        if row.policy not in names:
            self.rows.append(row)
            return row
        index = names.index(row.policy)
        before = self.rows[index]
        if (before.package, before.weights) != (row.package, row.weights):
            self.rows[index] = row
        return self.rows[index]

    def write(self, path: Path) -> None:
        """Write the file."""
        write_json(path, asdict(self), indent=1)


def open_results(path: Path | None, puzzles: Mapping[str, bool | int | str | None]) -> ListResults:
    """Return the results in a file, or new ones of some puzzles if there is no such file.

    Raises:
        ValueError: if the file is no such file, or holds the results of another list.
    """
    if path is None or not path.exists():
        return ListResults("sudoku-gym list", dict(puzzles))
    results = read_list_results(path)
    if results.puzzles != puzzles:
        raise ValueError(
            f"{path} holds results of other puzzles ({results.puzzles}): give another file, or "
            "remove it"
        )
    return results


def read_list_results(path: Path) -> ListResults:
    """Read the results of a list; ValueError if the file holds none, in a message that names it."""
    with error_context(path, "it holds no results of a list"):
        return decode_json(ListResults, read_json(path), "the results")


def json_of_row(row: ListRow) -> dict[str, Any]:
    """Return what a row says beyond its `Evaluation`, fit for JSON; nothing that is unknown."""
    card = asdict(row.card) if row.card else None
    shares = {name: asdict(row)[name] for name in ("by_source", "by_rating")}
    return {name: value for name, value in {"model_card": card, **shares}.items() if value}


def play_list(
    policy: Policy,
    puzzles: PuzzleSet,
    row: ListRow,
    *,
    on_filled: Callable[[], None],
    on_progress: Callable[[float], None],
) -> Evaluation:
    """Let a policy play what a row lacks of a list; the row is filled in meanwhile.

    The games are those that `evaluate` would play of the whole list with the options of the row.

    Args:
        policy: the policy to evaluate.
        puzzles: the list, the same each time.
        row: its results so far, and the options.
        on_filled: called when the row has been filled in: every few seconds, at the end, and when
            the play is interrupted.
        on_progress: called with the share of the list that is done, 0 to 1.
    """
    options: dict[str, Any] = row.options
    played, size, num_before = list[Evaluation](), options["batch_size"], len(row.outcomes)
    written, was_done = time.monotonic(), row.is_done
    if size < 1:
        raise ValueError(f"batch_size must be at least 1, not {size}")
    try:
        for number, start in enumerate(range(0, len(puzzles), size)):
            part = puzzles[start : start + size]
            if start < num_before:
                played.append(_stored(row, part, start))
                continue

            def report(share: float, start: int = start, count: int = len(part)) -> None:
                on_progress((start + count * share) / len(puzzles))

            played.append(evaluate(policy, part, first_batch=number, on_progress=report, **options))
            _count_groups(row, part, played[-1].solved)
            if time.monotonic() - written >= _BETWEEN_WRITES:
                _fill_in(row, join_evaluations(played))
                on_filled()
                written = time.monotonic()
        row.is_done = True
    finally:
        if sum(len(part.solved) for part in played) > num_before or row.is_done > was_done:
            _fill_in(row, join_evaluations(played))
            on_filled()
    return join_evaluations(played)


def _count_groups(row: ListRow, part: PuzzleSet, solved: NDArray[np.bool_]) -> None:
    """Add the outcomes of a part to the shares of its sources and ratings."""
    for source in np.unique(part.sources).tolist():
        if source:
            _add(row.by_source, source, solved[part.sources == source])
    for name, low, high in _RATINGS:
        _add(row.by_rating, name, solved[(part.ratings >= low) & (part.ratings < high)])
    row.by_source = dict(sorted(row.by_source.items()))
    row.by_rating = {name: row.by_rating[name] for name, *_ in _RATINGS if name in row.by_rating}


def _add(shares: dict[str, Share], name: str, solved: NDArray[np.bool_]) -> None:
    if len(solved):
        before = shares.get(name, Share.of(0, 0))
        shares[name] = Share.of(before.solved + int(solved.sum()), before.count + len(solved))


def _fill_in(row: ListRow, whole: Evaluation) -> None:
    """Write what was played into the row."""
    count = len(whole.solved)
    row.all = Share.of(int(whole.solved.sum()), count)
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
