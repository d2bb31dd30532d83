"""Base class of schedules: the level, the updates spent on it, and a state to resume from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

COMPLETION = "completion"  # the share of games solved

Reason = Literal["success", "limit"]


@dataclass(frozen=True)
class Advance:
    """A completed level, and the reason why it ended."""

    level: int  # number of blanks
    updates: int  # updates spent on it
    rate: float  # success rate in the last results of the level
    reason: Reason  # `success`: the criterion was met; `limit`: the updates were used up


class Schedule(ABC):
    """The current number of blanks, and when to raise it.

    Only results of the current level count: after a promotion, games of the level before still end
    in a vector environment.

    A subclass defines `record`, which decides when a level is over. Its own state belongs in
    `state_dict` and `load_state_dict`; state of a single level is reset in `start_level`.
    A frozen configuration starts it with `build()`.

    Args:
        start: the first level.
        stop: the last level.
        step: how many blanks a promotion adds; the last one stops at `stop`.
        metric: the metric that moves the level: `completion`, the share of games solved, or one
            that only some trainers measure, e.g. `policy_accuracy`.

    Attributes:
        levels: all of them, rising.
        level: the current number of blanks.
        finished: True once the last level is mastered or has reached its limit of updates.
        history: the levels done, in order; the last level too, once finished.
        updates: updates at the current level.
        rate: share of successes in the latest results at this level; None before the first.

    Raises:
        ValueError: as `check_levels`.
    """

    def __init__(self, start: int, stop: int, step: int = 1, metric: str = COMPLETION) -> None:
        check_levels(start, stop)
        self.metric: str = metric
        self.levels: tuple[int, ...] = (*range(start, stop, step), stop)
        self.level: int = start
        self.finished: bool = False
        self.history: list[Advance] = []
        self.updates: int = 0
        self.rate: float | None = None

    def distribution(self) -> dict[int, float]:
        """Return the levels to train on and their weights, which sum to 1, for `set_blanks`."""
        return {self.level: 1.0}

    def update(self, level: int, successes: int, count: int) -> bool:
        """Feed results, and move the level if they allow it.

        Args:
            level: the number of blanks at the start of the games.
            successes: number of successful games, or other events that the metric counts.
            count: number of all of them; with 0 nothing happens.

        Returns:
            True if the level moved. The end of the last level moves nothing: see `finished`.

        Raises:
            ValueError: unless 0 <= successes <= count.
        """
        if not 0 <= successes <= count:
            raise ValueError(
                f"{successes} successes of {count} games: need 0 <= successes <= count"
            )
        if level != self.level or count == 0:
            return False
        self.updates += 1
        self.rate = float(successes / count)
        reason = self.record(int(successes), int(count))
        if reason is None or self.finished:
            return False
        return self._advance(reason)

    def state_dict(self) -> dict[str, Any]:
        """Return everything that `load_state_dict` needs to continue exactly; fit for JSON."""
        return {
            "schedule": type(self).__name__,
            "level": self.level,
            "finished": self.finished,
            "history": [asdict(advance) for advance in self.history],
            "updates": self.updates,
            "rate": self.rate,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state that `state_dict` of an equal schedule returned.

        Raises:
            ValueError: if the state is another schedule's, or its level is none of this one's.
        """
        kind = state["schedule"]
        if kind != type(self).__name__:
            raise ValueError(
                f"the saved schedule is {kind}, this one {type(self).__name__}; "
                "resume with the configuration it was saved with"
            )
        if state["level"] not in self.levels:
            raise ValueError(
                f"the saved level of {state['level']} blanks is none of "
                f"{', '.join(map(str, self.levels))}; resume with the configuration it was saved "
                "with"
            )
        self.history = [Advance(**advance) for advance in state["history"]]
        self.level = state["level"]
        self.finished = state["finished"]
        self.updates = state["updates"]
        self.rate = state["rate"]

    @abstractmethod
    def record(self, successes: int, count: int) -> Reason | None:
        """Record results of the current level, and decide whether it is over.

        `update` calls it with a `count` of at least 1, after it has counted this update and set
        `rate`, which may be set anew here. Once the schedule is finished the result is ignored.

        Returns:
            `"success"` if the level is mastered, `"limit"` if its updates are used up, else None.
        """

    def start_level(self) -> None:
        """Reset the measurements of the previous level; called after each promotion."""
        return  # most schedules keep nothing

    def _advance(self, reason: Reason) -> bool:
        assert self.rate is not None
        self.history.append(Advance(self.level, self.updates, self.rate, reason))
        if self.level == self.levels[-1]:
            self.finished = True
            return False
        self.level = self.levels[self.levels.index(self.level) + 1]
        self.updates = 0
        self.rate = None
        self.start_level()
        return True


def check_levels(start: int, stop: int) -> None:
    """Raise ValueError unless both are numbers of blanks, at least 1, and `start` is no larger."""
    if not 1 <= start <= stop:
        raise ValueError(f"levels begin at 1 blank, and start <= stop: not {start} to {stop}")
