"""Feeds a schedule with results; the base of wrappers, callbacks and training loops."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudoku_curricula import curves
from sudoku_curricula.base import COMPLETION, LevelSchedule, Results, Schedule, blanks_of
from sudoku_gym.puzzles.sources import Blanks
from sudoku_gym.puzzles.tasks import Tasks

_PENDING, _NO_TASK = -2, -1  # of episodes without an end, and those that do not count
_SHOWN, _COLUMNS = 64, 512  # tasks that have curves, and columns of their heat maps, at most


class PlayHeldOut(Protocol):
    """Plays held-out puzzles, e.g. `sudoku_learning.training.HeldOut`."""

    games: int  # of a call, if it is not told

    def __call__(self, blanks: Blanks, games: int | None = None, /) -> tuple[int, int]:
        """Play puzzles drawn with `blanks` (None: as stored); return games solved and played."""


class Curriculum:
    """Gathers results, feeds a schedule with its metric, and pushes its weights.

    Training episodes are announced with `begin` and reported with `end`; they explore, and so
    understate the skill. They are counted in the order in which they began, see `EpisodeQueue`.
    `report_held_out` feeds greedy games on held-out puzzles.

    Args:
        schedule: is fed.
        set_blanks: called with `Schedule.blanks` at once, and whenever they move; before that with
            the last level, so that one that can't be served is noticed.
        episodes_per_update: training episodes per update of the schedule; of a `LevelSchedule`
            those at the current level count.
        writer: receives the curves; None disables logging.
        metrics: metrics the caller can measure: `completion` is counted here, others are
            arguments of `report`.

    Attributes:
        steps: environment steps so far, the x axis of the curves; the caller counts them.
        updates: how often this object has fed the schedule.

    Raises:
        ValueError: if the schedule's metric is none of `metrics`, or `set_blanks` raises it.
    """

    def __init__(
        self,
        schedule: Schedule,
        set_blanks: Callable[[Any], Any],
        episodes_per_update: int = 100,
        writer: curves.ScalarWriter | None = None,
        *,
        metrics: Sequence[str] = (COMPLETION,),
    ) -> None:
        if schedule.metric not in metrics:
            raise ValueError(
                f"{', '.join(metrics)}: what is measured here can't supply {schedule.metric}, by "
                f"which {type(schedule).__name__} moves: configure it with metric={metrics[0]!r} "
                "if it takes one, or use another schedule"
            )
        self.schedule = schedule
        self.updates = 0
        self.start_clock(0)
        self._set_blanks = set_blanks
        self._episodes_per_update = episodes_per_update
        self._writer = writer
        self._queue = EpisodeQueue(schedule.tasks)
        self._tally = np.zeros((len(schedule.tasks), 2), np.int64)  # episodes, successes
        self._advantages, self._success = np.full((2, len(schedule.tasks)), np.nan)
        self._history = np.zeros((2, 0, len(schedule.tasks)))  # weights and success so far
        if isinstance(schedule, LevelSchedule):
            set_blanks({schedule.levels[-1]: 1.0})  # notices a level that can't be served
        set_blanks(schedule.blanks())
        self.write_weights()

    def begin(self, count: int) -> NDArray[np.int64]:
        """Announce episodes that begin now; return their numbers for `end`, int64 `[count]`."""
        return self._queue.begin(count)

    def drop(self, numbers: ArrayLike) -> None:
        """Take back episodes that were reset before their end."""
        self._queue.drop(np.asarray(numbers))

    def end(self, numbers: ArrayLike, infos: Sequence[Mapping[str, Any]]) -> None:
        """Report episodes that ended, by what `begin` returned for them, int64 `[E]`.

        The last info of each has `is_success` and `task` or `level`.
        """
        self._queue.end(np.asarray(numbers), infos)
        self.count(*self._queue.pop())

    def count(self, tasks: NDArray[np.int64], sums: NDArray[np.int64]) -> None:
        """Count episodes of R different tasks: their numbers and successes, `[R, 2]`.

        They were held back by an `EpisodeQueue`, and the schedule moves by completion.
        """
        self._tally[tasks] += sums
        counted = self._tally[:, 0]
        if isinstance(self.schedule, LevelSchedule):
            counted = counted[[self.schedule.levels.index(self.schedule.level)]]
        if counted.sum() >= self._episodes_per_update:
            tally, self._tally = self._tally, np.zeros_like(self._tally)
            played = np.flatnonzero(tally[:, 0])
            counts, successes = tally[played].T
            self._write(curves.SUCCESS_RATE, successes.sum() / counts.sum())
            self._update(Results(played, successes, counts, self._advantages[played]))
            self.write_weights()

    def note_advantages(self, tasks: NDArray[np.int64], advantages: NDArray[np.float64]) -> None:
        """Keep the mean absolute advantages of some tasks, `[R]` each, for the next update."""
        self._advantages[tasks] = advantages

    def report(self, measured: Mapping[str, tuple[int, int]]) -> None:
        """Report what an iteration measured, and feed the schedule if it moves by one of these.

        They are successes and counts, e.g. `{"policy_accuracy": (880, 1000)}`.
        """
        for metric, (successes, count) in measured.items():
            if count:
                self._write(f"curriculum/{metric}", successes / count)
                if metric == self.schedule.metric and isinstance(self.schedule, LevelSchedule):
                    self._update_level(self.schedule, successes, count)
        self.write_weights()

    def report_held_out(self, held_out: PlayHeldOut) -> tuple[float, float]:
        """Play held-out games on the tasks and with minimal puzzles.

        If the schedule moves by completion, the games feed it. Those of a `LevelSchedule` are at
        its level, and are repeated at each new one, so a level that is mastered already costs no
        training; those of others are spread over the tasks by their weights.

        Returns the shares solved on the tasks (at the last level that was played), and of the
        minimal puzzles; ValueError if tasks are single puzzles.
        """
        check_held_out(self.schedule)
        if isinstance(self.schedule, LevelSchedule):
            solved, played = self._play_levels(self.schedule, held_out)
        else:
            solved, played = self._play_tasks(held_out)
        self.write_weights()
        self._write(curves.SUCCESS_RATE, solved / played)
        minimal_solved, minimal_played = held_out(None)
        self._write(curves.COMPLETION_RATE, minimal_solved / minimal_played)
        return solved / played, minimal_solved / minimal_played

    def state_dict(self) -> dict[str, Any]:
        """Return the schedule's state and the episodes not yet fed to it; fit for JSON.

        Episodes that are running, or held back for one, are left out: who resumes begins new ones.
        """
        return {
            "schedule": self.schedule.state_dict(),
            "steps": self.steps,
            "tally": self._tally.tolist(),
            "advantages": [None if np.isnan(a) else a for a in self._advantages.tolist()],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state, and push the weights again; raises as that of `Schedule`."""
        self.schedule.load_state_dict(state["schedule"])
        self._set_blanks(self.schedule.blanks())
        self.start_clock(state["steps"])
        self._tally = np.array(state["tally"], np.int64)
        self._advantages = np.array(state["advantages"], np.float64)

    def _play_levels(self, schedule: LevelSchedule, held_out: PlayHeldOut) -> tuple[int, int]:
        """Play at the level, and feed until it stays; return the last games."""
        while True:
            level = schedule.level
            solved, played = held_out(level)
            if schedule.metric == COMPLETION:
                self._update_level(schedule, solved, played)
            if schedule.level == level:  # always so once the schedule is finished
                return solved, played

    def _update_level(self, schedule: LevelSchedule, successes: int, count: int) -> None:
        self._update(Results.of([(schedule.levels.index(schedule.level), successes, count)]))

    def _play_tasks(self, held_out: PlayHeldOut) -> tuple[int, int]:
        """Play games of all tasks, by their weights, and feed; return games solved and played."""
        tasks, weights = self.schedule.tasks, self.schedule.weights()
        exact = held_out.games * weights / weights.sum()
        counts = np.floor(exact).astype(np.int64)
        left = held_out.games - counts.sum()  # go to the largest fractions
        counts[np.argsort(counts - exact, kind="stable")[:left]] += 1
        games = [
            (task, *held_out(blanks_of(tasks, np.eye(len(tasks))[task]), int(counts[task])))
            for task in np.flatnonzero(counts).tolist()
        ]
        self._update(Results.of(games))
        return sum(solved for _, solved, _ in games), sum(count for *_, count in games)

    def _update(self, results: Results) -> None:
        self.updates += 1
        self._success[results.tasks] = results.successes / results.counts
        if self.schedule.update(results):
            self._set_blanks(self.schedule.blanks())

    @property
    def level(self) -> float:
        """The level, or the mean number of blanks drawn; nan if the tasks do not tell it."""
        if isinstance(self.schedule, LevelSchedule):
            return self.schedule.level
        tasks = self.schedule.tasks
        return float(self.schedule.weights() @ tasks.blanks) if tasks.only_blanks else np.nan

    @property
    def heaviest(self) -> str:
        """The name of the task that is drawn most often, the first of several."""
        return self.schedule.tasks.each[self.schedule.weights().argmax()].name

    def write_weights(self) -> None:
        """Write the present level, and the weights of the tasks, to the curves."""
        if not np.isnan(self.level):
            self._write(curves.BLANKS_LEVEL, self.level)
        if self._writer is not None:
            self.write_tasks(self._writer)

    def write_tasks(self, writer: curves.ScalarWriter) -> None:
        """Write weight and success of each task, of more than 64 the entropy of the weights alone.

        A writer with `add_image`, such as torch's, gets their heat maps too: a row for each task, a
        column for each of the latest calls, twice as wide as high at least. Nothing is written of a
        `LevelSchedule`.
        """
        if isinstance(self.schedule, LevelSchedule):
            return
        weights = self.schedule.weights()
        drawn = weights[weights > 0]
        writer.add_scalar(curves.TASK_ENTROPY, float(-(drawn * np.log(drawn)).sum()), self.steps)
        if len(weights) > _SHOWN:
            return
        latest = np.array([weights, self._success])
        for group, values in zip(curves.TASK_GROUPS, latest, strict=True):
            for task in np.flatnonzero(np.isfinite(values)):
                name = self.schedule.tasks.each[task].name
                writer.add_scalar(f"{group}/{name}", float(values[task]), self.steps)
        if not hasattr(writer, "add_image"):
            return
        self._history = np.append(self._history, np.nan_to_num(latest)[:, None], 1)[:, -_COLUMNS:]
        for group, past in zip(curves.TASK_GROUPS, self._history, strict=True):
            wide = -(-16 * len(weights) // len(past))  # pixels of a column
            pixels = past.T[None].repeat(8, 1).repeat(wide, 2) / max(past.max(), 1e-9)
            writer.add_image(f"{group}/over time", pixels.astype(np.float32), self.steps)

    def start_clock(self, steps: int) -> None:
        """Set the steps done so far; the speed counts from here."""
        self.steps = steps
        self._origin = steps, time.perf_counter()

    def write_speed(self) -> None:
        """Write the steps per second since `start_clock`."""
        steps, start = self._origin
        self._write(curves.STEPS_PER_SECOND, (self.steps - steps) / (time.perf_counter() - start))

    def _write(self, tag: str, value: float) -> None:
        if self._writer is not None:
            self._writer.add_scalar(tag, float(value), self.steps)


def check_held_out(schedule: Schedule) -> None:
    """Raise ValueError if tasks are single puzzles, of which held-out games tell nothing."""
    if schedule.tasks.only_puzzles:
        raise ValueError(
            f"held-out games tell nothing of {schedule.tasks.text}: single puzzles take training "
            "episodes, as the wrappers and callbacks report them"
        )


class EpisodeQueue:
    """Holds episodes back until all that began before them have ended, so as to count them fairly.

    Boards that are stepped together begin together, and those that end at one step are all solved
    or all failed: whoever counts episodes as they end meets waves of one kind, and a share of
    successes that no player has. Counted in the order of their beginnings, any first n of them are
    a fair sample. An episode's number is its place in that order.
    """

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._first = 0  # the number of the oldest episode held
        self._records = np.empty((0, 2), np.int64)  # task and success of those from `_first` on

    def begin(self, count: int) -> NDArray[np.int64]:
        """Return the numbers of `count` episodes that begin now, int64 `[count]`."""
        start = self._first + len(self._records)
        self._records = np.append(self._records, np.full((count, 2), _PENDING), axis=0)
        return np.arange(start, start + count)

    def end(self, numbers: NDArray[np.int64], infos: Sequence[Mapping[str, Any]]) -> None:
        """Enter the last infos of episodes, with `is_success` and `task` or `level`."""
        successes = [info["is_success"] for info in infos]
        tasks = tasks_of(infos, self._tasks)
        self._records[numbers - self._first] = np.array([tasks, successes], np.int64).T

    def drop(self, numbers: NDArray[np.int64]) -> None:
        """Enter episodes that were reset before their end: they are never counted."""
        self._records[numbers - self._first] = _NO_TASK

    def pop(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Remove the episodes that may be counted.

        Returns their R tasks, rising, int64 `[R]`; numbers and successes of each, int64 `[R, 2]`.
        """
        count = int(np.append(self._records[:, 0] == _PENDING, True).argmax())
        ended, self._records = self._records[:count], self._records[count:]
        self._first += count
        tasks, successes = ended[ended[:, 0] != _NO_TASK].T
        each = [np.bincount(tasks[i], minlength=len(self._tasks)) for i in (..., successes > 0)]
        played = np.flatnonzero(each[0])
        return played, np.array(each).T[played]


def tasks_of(infos: Sequence[Mapping[str, Any]], tasks: Tasks) -> list[int]:
    """Return the task of each info, -1 for none: `task`, or that of its `level`."""
    return [
        int(info["task"]) if "task" in info else tasks.of_blanks.get(int(info["level"]), _NO_TASK)
        for info in infos
    ]
