"""Feeds a schedule with results; the base of wrappers, callbacks and training loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sudoku_curricula.base import COMPLETION, Schedule
from sudoku_curricula.curves import BLANKS_LEVEL, COMPLETION_RATE, SUCCESS_RATE, ScalarWriter

SetBlanks = Callable[[Mapping[int, float]], Any]
PlayHeldOut = Callable[[int | None], tuple[int, int]]
"""Takes a number of blanks, None for minimal puzzles; returns games solved and played."""


class Curriculum:
    """Gathers results, feeds a schedule with its metric, and pushes its level.

    `report` feeds it with training episodes, which explore and so understate the skill;
    `report_held_out` with greedy games on held-out puzzles.

    Args:
        schedule: the schedule to feed.
        set_blanks: takes `{blanks: weight}`; called with the last level and with the first at once,
            so that one that can't be served is noticed, and whenever the level moves.
        episodes_per_update: training episodes at the current level per update of the schedule.
        writer: receives the curves; None disables logging.
        metrics: metrics the caller can measure: `completion` is counted here, others are arguments
            of `report_held_out`.

    Attributes:
        steps: environment steps so far, the x axis of the curves; the caller counts them.

    Raises:
        ValueError: if the schedule's metric is none of `metrics`, or `set_blanks` raises it.
    """

    def __init__(
        self,
        schedule: Schedule,
        set_blanks: SetBlanks,
        episodes_per_update: int = 100,
        writer: ScalarWriter | None = None,
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
        self.steps = 0
        self._set_blanks = set_blanks
        self._episodes_per_update = episodes_per_update
        self._writer = writer
        self._tally: dict[int, tuple[int, int]] = {}
        set_blanks({schedule.levels[-1]: 1.0})
        set_blanks(schedule.distribution())
        self._write(BLANKS_LEVEL, schedule.level)

    def report(self, levels: Iterable[int], successes: Iterable[bool]) -> None:
        """Add finished episodes; update the schedule once there are enough at its level.

        It is one that moves by completion.
        """
        for level, success in zip(levels, successes, strict=True):
            won, count = self._tally.get(level, (0, 0))
            self._tally[level] = won + bool(success), count + 1
        won, count = self._tally.get(self.schedule.level, (0, 0))
        if count >= self._episodes_per_update:
            self._write(SUCCESS_RATE, won / count)
            tally, self._tally = self._tally, {}
            self._feed(tally)
            self._write(BLANKS_LEVEL, self.schedule.level)

    def report_held_out(
        self, held_out: PlayHeldOut, measured: Mapping[str, tuple[int, int]] | None = None
    ) -> tuple[float, float]:
        """Play held-out games at the level and with minimal puzzles, and feed the schedule.

        If its metric is completion, the games update it, and are repeated at each new level, so a
        level that is mastered already costs no training. Otherwise `measured` updates it once.

        Args:
            held_out: plays the held-out games.
            measured: successes and count of the other metrics since the last report, e.g.
                `{"policy_accuracy": (880, 1000)}`.

        Returns:
            The shares solved at the last level that was played, and of the minimal puzzles.

        Raises:
            ValueError: if `measured` lacks the schedule's metric.
        """
        measured = measured or {}
        for metric, (successes, count) in measured.items():
            if count:
                self._write(f"curriculum/{metric}", successes / count)
        metric = self.schedule.metric
        if metric == COMPLETION:
            at_level = self._climb(held_out)
        elif metric in measured:
            at_level = held_out(self.schedule.level)
            self._feed({self.schedule.level: measured[metric]})
        else:
            raise ValueError(
                f"{type(self.schedule).__name__} moves by {metric}, and this report measured "
                f"{', '.join(measured) or 'nothing'}: add measured={{{metric!r}: "
                "(successes, count)}"
            )
        self._write(BLANKS_LEVEL, self.schedule.level)
        self._write(SUCCESS_RATE, _share(*at_level))
        minimal = _share(*held_out(None))
        self._write(COMPLETION_RATE, minimal)
        return _share(*at_level), minimal

    def state_dict(self) -> dict[str, Any]:
        """Return the schedule's state and the episodes not yet fed to it; fit for JSON."""
        tally = [[level, *counts] for level, counts in self._tally.items()]
        return {
            "schedule": self.schedule.state_dict(),
            "steps": self.steps,
            "tally": tally,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state that `state_dict` returned, and push the level again.

        Raises:
            ValueError: if it is the state of another schedule.
        """
        self.schedule.load_state_dict(state["schedule"])
        self._set_blanks(self.schedule.distribution())
        self.steps = state["steps"]
        self._tally = {level: (won, count) for level, won, count in state["tally"]}

    def _climb(self, held_out: PlayHeldOut) -> tuple[int, int]:
        """Play and feed until the level stays; return the last games."""
        while True:
            level = self.schedule.level
            played = held_out(level)
            self._feed({level: played})
            if self.schedule.level == level:  # always so once the schedule is finished
                return played

    def _feed(self, results: Mapping[int, tuple[int, int]]) -> None:
        """Update the schedule with successes and count by level, and push its level if it moved."""
        moved = [self.schedule.update(level, *counts) for level, counts in sorted(results.items())]
        if any(moved):
            self._set_blanks(self.schedule.distribution())

    def _write(self, tag: str, value: float) -> None:
        if self._writer is not None:
            self._writer.add_scalar(tag, value, self.steps)


def _share(successes: int, count: int) -> float:
    return successes / count
