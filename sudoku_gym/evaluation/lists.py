"""Play a list of puzzles of any length, part by part, with shares by source and by rating."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.evaluation.games import Evaluation, evaluate, join_evaluations
from sudoku_gym.evaluation.list_results import ListRow, Share
from sudoku_gym.policies import Convergence, Policy
from sudoku_gym.puzzles.puzzle_set import PuzzleSet

RATING_BUCKETS = (0, 1, 10, 20, 40, 80)
"""The least rating of each group of puzzles."""

_MOST_SOURCES = 1_000
_DIGITS = 6  # decimals of the seconds in a file
_BETWEEN_WRITES = 5.0  # s


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
            if number == 0 and not part.geometry.is_standard:
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


def rating_names() -> Iterator[tuple[str, int, int]]:
    """Yield the name of each group of ratings, its least rating, and the least above it."""
    for low, high in pairwise((*RATING_BUCKETS, np.iinfo(np.int32).max + 1)):
        last = f"{low} and more" if low == RATING_BUCKETS[-1] else f"{low} to {high - 1}"
        yield (str(low) if high == low + 1 else last), low, high


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
