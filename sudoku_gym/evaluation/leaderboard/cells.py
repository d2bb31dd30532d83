"""One cell of the leaderboard: a policy plays a set, whole or its subset, or is timed on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.evaluation.games import count_orbits, evaluate
from sudoku_gym.evaluation.intervals import wilson_interval
from sudoku_gym.evaluation.leaderboard.fixed_sets import SEED, FixedSet
from sudoku_gym.evaluation.leaderboard.players import OutOfTimeError, RemotePolicy
from sudoku_gym.evaluation.leaderboard.results import LeaderboardCell, Timing
from sudoku_gym.geometry import symmetry
from sudoku_gym.policies.identity import ChangedFilesError
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.storage.reading import describe_error

BATCH_CELLS = 2048  # cells of the boards played in parallel: 25 boards of 9x9, 3 of 25x25
TIMED_PUZZLES = 10
OUT_OF_TIME = "it takes more than"  # how the error of a policy that was stopped at a limit begins
_MIN_SECONDS = 0.5  # least time measured, unless `_MAX_LAPS` laps over the puzzles take less
_MAX_LAPS = 60
_REMEMBERED = 2 / 3  # of the time of the first lap; later laps that take less are of a memory
_DIGITS = 6  # decimals of the seconds in a file


@dataclass(frozen=True)
class CellTask:
    """A cell to play, or to time."""

    policy: str
    fixed: FixedSet
    puzzles: PuzzleSet
    """Those of the set, as they were read when its checksum was taken: a file may change."""
    cell: LeaderboardCell
    """The cell as it is before; if it has a timing, it is to be timed."""
    limit: float
    """Processor seconds of the policy, after which it is said not to play the set."""
    described: Mapping[str, Any] | None = None
    """What its row says of the policy, if it is to be compared with what plays."""


class _ChangedError(Exception):
    """The files of a policy are others than its row says."""


def perform_task(task: CellTask, policy: RemotePolicy) -> Iterator[LeaderboardCell | str]:
    """Play or time a cell; yield it whenever there is more of it, or at last why it is lost.

    Raises:
        EOFError: if the process of the policy has died.
    """
    timing = task.cell.timing
    try:
        if timing is None:
            yield from _play(task, policy)
        else:
            yield replace(task.cell, timing=_time(task, policy, timing))
    except OutOfTimeError as error:
        yield task.cell if timing else _out_of_time(task.cell, error)
    except _ChangedError:
        yield (
            "its files have changed since its row was begun (does it write into its own folder? "
            "then let it write elsewhere)"
        )


def _load(task: CellTask, policy: RemotePolicy) -> bool:
    """Load the policy of a task; one of ours plays a small game, so that compilation is not timed.

    It is made once: some of what policies do when they are made a process can do once. One of
    another package might set itself up for the first board that it sees. Returns whether it is
    ours.

    Raises:
        _ChangedError: if its row stands for another one.
    """
    try:
        described = policy.load(task.policy)
    except ChangedFilesError as error:
        raise _ChangedError from error
    if task.described is not None and described != task.described:
        raise _ChangedError
    is_own = not described["code"]
    if is_own:
        with suppress(ValueError, ModuleNotFoundError):  # it may not support 4x4 boards
            evaluate(policy, board.parse("1234....21.34..1")[None])
    policy.restart_clocks()
    return is_own


def _out_of_time(cell: LeaderboardCell, limit: OutOfTimeError) -> LeaderboardCell:
    """Return the cell of a policy that was stopped at its limit."""
    return replace(cell, error=f"{OUT_OF_TIME} {limit}")


def _play(task: CellTask, policy: RemotePolicy) -> Iterator[LeaderboardCell]:
    """Let a policy play a set, boards of `BATCH_CELLS` cells in parallel; yield after each batch.

    It plays the subset first, and then the rest if the whole set will take no longer than the
    budget at the pace so far. If the subset of another package's policy is a single batch, the next
    one is played for the pace, too. An error of the policy is kept in the cell.
    """
    puzzles = task.puzzles
    count, cell, solved = len(puzzles), task.cell, np.empty(0, np.bool_)
    subset = min(task.fixed.subset, count)
    batch = min(BATCH_CELLS // puzzles.geometry.num_cells, subset)
    first = 0.0  # s of the first batch
    try:
        is_own = _load(task, policy)
        starts = [*range(0, subset, batch), *range(subset, count, batch)]
        for start, end in pairwise([*starts, count]):
            is_slow = start == subset and cell.seconds * count > cell.budget * subset
            if is_slow and (is_own or start > batch):
                return
            try:
                result = evaluate(policy, puzzles[start:end], seed=SEED + start)
            except (OutOfTimeError, ValueError):
                if is_slow:
                    return  # what it has played of the subset stands
                raise
            first = first or policy.seconds
            seconds = policy.seconds if is_own else _at_pace(policy.seconds, first, batch, end)
            if is_slow and seconds * count > cell.budget * end:
                yield replace(cell, seconds=round(seconds * subset / end, _DIGITS))
                return
            solved = np.append(solved, result.solved)
            cell = replace(
                cell,
                outcomes="".join(map(str, solved.astype(int))),
                illegal=cell.illegal + result.illegal,
                orbits=orbits_solved(puzzles, solved),
                seconds=round(seconds, _DIGITS),
            )
            yield cell
    except OutOfTimeError as error:
        yield _out_of_time(replace(cell, seconds=round(policy.seconds, _DIGITS)), error)
    except (ValueError, ModuleNotFoundError) as error:  # what the policy has raised
        yield replace(cell, error=describe_error(error))


def _at_pace(seconds: float, first: float, batch: int, played: int) -> float:
    """Return the seconds of so many puzzles, of which the first batch counts no more than others.

    The policy may have compiled, or set itself up, at its first board.
    """
    if played == batch:
        return seconds
    later = seconds - first
    return later + min(first, later * batch / (played - batch))


def orbits_solved(puzzles: PuzzleSet, solved: NDArray[np.bool_]) -> tuple[int, int] | None:
    """Return what a cell says of orbits, given which of the first puzzles of a set are solved."""
    orbits = count_orbits(puzzles.orbits[: len(solved)], solved)
    return orbits if orbits and 0 < 2 * orbits[1] <= len(solved) else None


def _time(task: CellTask, policy: RemotePolicy, empty: Timing) -> Timing:
    """Return the processor seconds of each of the first `TIMED_PUZZLES` puzzles, played one by one.

    They are turned, mirrored, exchanged and renamed as the symmetries of their geometry allow, so
    that no policy has seen them before. One is played before it counts. The clock of a process may
    tick every few milliseconds only, so short puzzles are played repeatedly, by other symmetries
    each time, and their mean is taken; but of a policy that remembers boards up to symmetry, which
    takes far less for them later, it is the first time. Where a far smaller share is solved than in
    the games that count, or the policy fails before all were played once, an error stands in place
    of times.
    """
    puzzles = task.puzzles[:TIMED_PUZZLES]
    boards, geometry = puzzles.puzzles, puzzles.geometry
    rng = np.random.default_rng(SEED)
    laps: list[list[float]] = []
    solved = 0
    failure = ""  # that did not occur in the games
    try:
        _load(task, policy)
        others = task.puzzles.puzzles[TIMED_PUZZLES:]
        first = (others if len(others) else boards)[:1]
        first = symmetry.sample(geometry, 1, rng).apply(first)
        evaluate(policy, first, geometry=geometry, seed=SEED)
        while len(laps) < _MAX_LAPS and sum(map(sum, laps)) < _MIN_SECONDS:
            laps.append([])
            for i, given in enumerate(symmetry.sample(geometry, len(boards), rng).apply(boards)):
                before = policy.seconds
                game = evaluate(policy, given[None], geometry=geometry, seed=SEED + i)
                laps[-1].append(policy.seconds - before)
                solved += int(game.solved[0])
    except OutOfTimeError as limit:
        failure = f"{OUT_OF_TIME} {limit}"
    except (ValueError, ModuleNotFoundError) as error:  # what the policy has raised
        failure = describe_error(error)
    outcomes = task.cell.outcomes[: len(puzzles)]
    if worse := _worse_one_by_one(solved, sum(map(len, laps)), outcomes):
        return replace(empty, error=f"not timed: {worse}")
    whole = [lap for lap in laps if len(lap) == len(puzzles)]
    if not whole:
        return replace(empty, error=f"not timed: {failure}")
    later = whole[1:]
    if later and sum(map(sum, later)) < _REMEMBERED * len(later) * sum(whole[0]):
        whole = whole[:1]
    means = (sum(same) / len(whole) for same in zip(*whole, strict=True))
    return replace(empty, seconds=tuple(round(mean, _DIGITS) for mean in means))


def _worse_one_by_one(solved: int, timed: int, outcomes: str) -> str:
    """Say that fewer were solved than in the games that count, if that is beyond chance."""
    counted = outcomes.count("1")
    if not timed or wilson_interval(solved, timed)[1] >= wilson_interval(counted, len(outcomes))[0]:
        return ""
    return (
        f"it solves {solved} of {timed} boards one by one, by symmetries of theirs, and "
        f"{counted} of the same {len(outcomes)} puzzles in batches"
    )
