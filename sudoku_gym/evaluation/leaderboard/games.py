"""One cell of the leaderboard: a policy plays a set within its budget, or is timed on it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from time import process_time

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.evaluation.games import evaluate
from sudoku_gym.evaluation.intervals import wilson_interval
from sudoku_gym.evaluation.leaderboard.standings import Played, State
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Policy, load_policy
from sudoku_gym.puzzles.puzzle_set import UNKNOWN, PuzzleSet

BATCH_CELLS = 2048  # of the boards that are played in lock step: 25 of 9x9, 3 of 25x25
TIMED = 10  # puzzles whose times are measured
_ENOUGH = 0.5  # seconds that are measured, unless so many laps over the puzzles are faster:
_LAPS = 60
_LONGEST = 300  # characters of an error message


class OutOfTime(Exception):
    """The budget is used up."""


class _Clocked:
    """A policy whose processor time is counted and limited.

    Args:
        policy: who plays.
        budget: seconds after which its next answer is `OutOfTime`.
    """

    def __init__(self, policy: Policy, budget: float) -> None:
        self._policy = policy
        self._budget = budget
        self.seconds = 0.0

    def reset(
        self, puzzles: NDArray[np.int8], geometry: Geometry, rng: np.random.Generator
    ) -> None:
        """Start a batch of games."""
        start = process_time()
        try:
            self._policy.reset(puzzles, geometry, rng)
        finally:
            self._count(start)

    def act(self, boards: NDArray[np.int8], action_masks: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Choose actions."""
        start = process_time()
        try:
            return self._policy.act(boards, action_masks)
        finally:
            self._count(start)

    def _count(self, start: float) -> None:
        self.seconds += process_time() - start
        if self.seconds > self._budget:
            raise OutOfTime


def play(
    policy: str,
    puzzles: PuzzleSet,
    *,
    seed: int,
    budget: float,
    run: int,
    on_progress: Callable[[Played], None],
) -> Played:
    """Let a policy play a set, boards of `BATCH_CELLS` cells in lock step.

    Args:
        policy: its name.
        puzzles: the set.
        seed: of its random draws; each batch has one of its own.
        budget: processor time for the set, in seconds. The batch in which it ends does not count.
        run: the number of the present run.
        on_progress: is called after each batch.

    Returns:
        How it went; an error of the policy is told there.
    """
    outcomes, illegal, seconds = "", 0, 0.0

    def so_far(state: State, why: str = "") -> Played:
        solved = outcomes.count("1")
        return Played(
            state=state,
            played=len(outcomes),
            solved=solved,
            interval=wilson_interval(solved, len(outcomes)),
            outcomes=outcomes,
            illegal=illegal,
            orbits=_orbits(puzzles, outcomes),
            seconds=seconds,
            budget=budget,
            run=run,
            why=why,
        )

    batch = BATCH_CELLS // puzzles.geometry.num_cells
    try:
        clocked = _Clocked(load_policy(policy), budget)
        for start in range(0, len(puzzles), batch):
            result = evaluate(clocked, puzzles[start : start + batch], seed=seed + start)
            outcomes += "".join("1" if solved else "0" for solved in result.solved)
            illegal += result.illegal
            seconds = clocked.seconds
            on_progress(so_far("out of time"))
    except OutOfTime:
        seconds = clocked.seconds
        return so_far("out of time")
    except Exception as error:  # of a stranger's policy, any
        return so_far("cannot", in_words(error))
    return so_far("finished")


def time_puzzles(policy: str, puzzles: PuzzleSet, *, seed: int, budget: float) -> tuple[float, ...]:
    """Measure the processor time that single puzzles take, one game at a time.

    The first puzzle is played once before it counts. The clock of a process may tick every few
    milliseconds only, so short puzzles are played again and again, and their mean is taken.

    Args:
        policy: its name.
        puzzles: of which the first `TIMED` are played.
        seed: of the policy's random draws.
        budget: processor time for the puzzles, in seconds.

    Returns:
        Seconds of each puzzle that was played to its end within the budget.
    """
    enough = min(_ENOUGH, budget)
    laps: list[list[float]] = []
    times: list[float] = []
    try:
        player = load_policy(policy)
        evaluate(_Clocked(player, budget), puzzles[:1], seed=seed)
        while len(laps) < _LAPS and sum(map(sum, laps)) < enough:
            times = []
            for i in range(min(TIMED, len(puzzles))):
                clocked = _Clocked(player, budget - sum(times))
                evaluate(clocked, puzzles[i : i + 1], seed=seed + i)
                times.append(clocked.seconds)
            laps.append(times)
    except Exception:  # it is out of time, or breaks down where it did not in the games
        laps = laps or [times]
    return tuple(sum(same) / len(laps) for same in zip(*laps, strict=True))


@cache
def warm_up(policy: str) -> None:
    """Have a policy play one small game, so that nothing is compiled once its time is counted."""
    puzzle = board.parse("1234....21.34..1")[None]
    with suppress(Exception):  # it may refuse such boards
        evaluate(load_policy(policy), puzzle)


def unfinished(budget: float, run: int) -> Played:
    """Return a cell of which nothing was played to its end within the budget."""
    interval = wilson_interval(0, 0)
    return Played("out of time", 0, 0, interval, "", 0, None, 0.0, budget, run)


def in_words(error: Exception) -> str:
    """Return an error in one line."""
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    return " ".join(f"{kind}{error}".split())[:_LONGEST] or type(error).__name__


def _orbits(puzzles: PuzzleSet, outcomes: str) -> tuple[int, int] | None:
    """Return how many orbits were solved whole, where an orbit holds several puzzles."""
    orbits = puzzles.orbits[: len(outcomes)]
    total = len(np.unique(orbits))
    if not outcomes or 2 * total > len(orbits) or (orbits == UNKNOWN).any():
        return None
    unsolved = np.unique(orbits[np.array(list(outcomes)) == "0"])
    return total - len(unsolved), total
