"""One cell of the leaderboard: a policy plays a set within its budget, or is timed on it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from time import process_time
from typing import Any

import numpy as np

from sudoku_gym import board
from sudoku_gym.evaluation.games import evaluate
from sudoku_gym.evaluation.leaderboard.fixed_sets import FixedSet
from sudoku_gym.evaluation.leaderboard.results import LeaderboardCell
from sudoku_gym.policies import Policy, load_policy
from sudoku_gym.puzzles.puzzle_set import NOT_KNOWN, PuzzleSet

BATCH_CELLS = 2048  # cells of the boards played in parallel: 25 boards of 9x9, 3 of 25x25
TIMED_PUZZLES = 10
_MIN_SECONDS = 0.5  # least time measured, unless `_MAX_LAPS` laps over the puzzles take less
_MAX_LAPS = 60
_DIGITS = 6  # decimals of the seconds in a file
_LONGEST_ERROR = 300


@dataclass(frozen=True)
class CellTask:
    """A cell to play, or to time."""

    policy: str
    fixed: FixedSet
    seed: int  # selects the puzzles, seeds the policy; the batch at puzzle i adds i
    budget: float  # processor seconds of the policy
    run: int  # index of the current run
    timing: bool = False


class OutOfTimeError(Exception):
    """The budget is used up."""


class _TimedPolicy:
    """A policy whose processor time is counted and limited."""

    def __init__(self, policy: Policy, budget: float) -> None:
        self._policy = policy
        self._budget = budget
        self.seconds = 0.0

    def reset(self, *arguments: Any) -> None:
        self._timed(self._policy.reset, arguments)

    def act(self, *arguments: Any) -> Any:
        return self._timed(self._policy.act, arguments)

    def _timed(self, call: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        start = process_time()
        try:
            return call(*arguments)
        finally:
            self.seconds += process_time() - start
            if self.seconds > self._budget:
                raise OutOfTimeError


def play_cell(
    task: CellTask, on_progress: Callable[[LeaderboardCell], None] = lambda cell: None
) -> LeaderboardCell:
    """Let a policy play a set, boards of `BATCH_CELLS` cells in parallel.

    The batch in which the budget ends does not count. An error of the policy is kept in the cell.
    `on_progress` is called after each batch.
    """
    puzzles = task.fixed.load(task.seed)
    cell = unfinished(task)
    policy = None
    batch = BATCH_CELLS // puzzles.geometry.num_cells
    try:
        policy = _TimedPolicy(load_policy(task.policy), task.budget)
        for start in range(0, len(puzzles), batch):
            result = evaluate(policy, puzzles[start : start + batch], seed=task.seed + start)
            outcomes = cell.outcomes + "".join("01"[int(solved)] for solved in result.solved)
            cell = replace(
                cell,
                outcomes=outcomes,
                illegal=cell.illegal + result.illegal,
                orbits=_orbits(puzzles, outcomes),
                seconds=round(policy.seconds, _DIGITS),
            )
            on_progress(cell)
    except OutOfTimeError:
        return replace(cell, seconds=round(policy.seconds, _DIGITS)) if policy else cell
    except Exception as error:  # a third-party policy may raise any
        return replace(cell, state="cannot", error=_one_line(error))
    return replace(cell, state="finished")


def time_cell(task: CellTask) -> tuple[float, ...]:
    """Return the processor seconds of each of the first `TIMED_PUZZLES` puzzles, played one by one.

    Those that the budget cuts off are left out. The first puzzle is played once before it counts.
    The clock of a process may tick every few milliseconds only, so short puzzles are played
    repeatedly, and their mean is taken.
    """
    puzzles = task.fixed.load(task.seed)
    laps: list[list[float]] = []
    times: list[float] = []
    try:
        policy = load_policy(task.policy)
        evaluate(_TimedPolicy(policy, task.budget), puzzles[:1], seed=task.seed)
        while len(laps) < _MAX_LAPS and sum(map(sum, laps)) < min(_MIN_SECONDS, task.budget):
            times = []
            for i in range(min(TIMED_PUZZLES, len(puzzles))):
                timed = _TimedPolicy(policy, task.budget - sum(times))
                evaluate(timed, puzzles[i : i + 1], seed=task.seed + i)
                times.append(timed.seconds)
            laps.append(times)
    except Exception:  # out of time, or an error that did not occur in the games
        laps = laps or [times]
    return tuple(round(sum(same) / len(laps), _DIGITS) for same in zip(*laps, strict=True))


def unfinished(task: CellTask) -> LeaderboardCell:
    """Return a cell in which no puzzle was played to its end."""
    return LeaderboardCell("out of time", "", 0, None, 0.0, task.budget, task.run)


@cache
def warm_up(policy: str) -> None:
    """Let a policy play one small game, so that compilation is not timed."""
    puzzle = board.parse("1234....21.34..1")[None]
    with suppress(Exception):  # it may not support 4x4 boards
        evaluate(load_policy(policy), puzzle)


def _one_line(error: Exception) -> str:
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    return " ".join(f"{kind}{error}".split())[:_LONGEST_ERROR] or type(error).__name__


def _orbits(puzzles: PuzzleSet, outcomes: str) -> tuple[int, int] | None:
    """Return the orbits solved whole and all orbits, where an orbit holds several puzzles."""
    orbits = puzzles.orbits[: len(outcomes)]
    total = len(np.unique(orbits))
    if 2 * total > len(orbits) or (orbits == NOT_KNOWN).any():
        return None
    unsolved = np.unique(orbits[np.array(list(outcomes)) == "0"])
    return total - len(unsolved), total
