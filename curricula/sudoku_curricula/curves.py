"""Curves of a run: their names, a writer that needs no torch, and a reader.

Every trainer writes these names over environment steps (supervised trainers: positions seen). A
name is `group/what`; trainers may add names of their own within the groups, such as
`losses/approx_kl`, and `sudoku-gym plot` draws them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, Self

from sudoku_gym.plugins import install_command

BLANKS_LEVEL = "curriculum/blanks"  # the current level
SUCCESS_RATE = "curriculum/success_rate"  # share of games at the level that were solved
POLICY_ACCURACY = "curriculum/policy_accuracy"  # alpha of Algorithm 1
COMPLETION_RATE = "evaluation/completion_rate"  # of minimal validation puzzles
CONSTRAINT_FRACTION = "evaluation/constraint_fraction"
POLICY_LOSS = "losses/policy_loss"
VALUE_LOSS = "losses/value_loss"
ENTROPY = "losses/entropy"
STEPS_PER_SECOND = "throughput/steps_per_second"
EPISODIC_RETURN = "charts/episodic_return"
EPISODIC_LENGTH = "charts/episodic_length"
LEARNING_RATE = "charts/learning_rate"
ITERATION = "charts/iteration"  # iterations done, for trainers that count them

GROUPS = (
    "curriculum",  # the level, and the metrics that schedules move by
    "evaluation",  # greedy games on validation puzzles
    "losses",  # what the learner minimises or monitors
    "throughput",  # per second
    "charts",  # CleanRL's episodic return, episodic length and learning rate; the iteration
)

Curves = dict[str, tuple[list[int], list[float]]]


class ScalarWriter(Protocol):
    """Receives curves; `CurveWriter` and torch's `SummaryWriter` implement it."""

    def add_scalar(self, tag: str, value: Any, step: Any, /) -> Any:
        """Add the point (`step`, `value`) to the curve `tag`."""


class CurveWriter:
    """Write curves to an event file as torch's `SummaryWriter` does; leaving a block closes it.

    Args:
        folder: folder of the event file; made if it is missing. A resumed run adds a second file,
            which TensorBoard joins.
        resume_step: for a resumed run, the step of its checkpoint; TensorBoard then drops the
            points that the interrupted run wrote after it.

    Raises:
        ModuleNotFoundError: if tensorboard is not installed.
    """

    def __init__(self, folder: str | Path, *, resume_step: int | None = None) -> None:
        try:
            from tensorboard.compat.proto import event_pb2, summary_pb2
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"writing curves needs tensorboard: {install_command('agents')}"
            ) from error
        self._events, self._summaries = event_pb2, summary_pb2
        self._writer = EventFileWriter(str(folder))
        if resume_step is not None:
            start = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
            # START purges its own step too, but the checkpoint's points are sound.
            self._add(step=resume_step + 1, session_log=start)

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        """Add the point (`step`, `value`) to the curve `tag`."""
        point = self._summaries.Summary.Value(tag=tag, simple_value=float(value))
        self._add(step=int(step), summary=self._summaries.Summary(value=[point]))

    def add_scalars(self, values: Mapping[str, float], step: int) -> None:
        """Add one point to each of several curves, `{tag: value}`."""
        for tag, value in values.items():
            self.add_scalar(tag, value, step)

    def flush(self) -> None:
        """Write everything to disk now; else it happens every two minutes and on `close`."""
        self._writer.flush()

    def close(self) -> None:
        """Write everything to disk and close the file."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _add(self, **fields: Any) -> None:
        self._writer.add_event(self._events.Event(wall_time=time.time(), **fields))


def read_curves(folder: str | os.PathLike[str]) -> Curves:
    """Read the curves of a run back, as TensorBoard shows them.

    Returns:
        `{tag: (steps, values)}`, the steps rising; of several points at one step the last.

    Raises:
        ValueError: if the folder holds no curves, or a pipe or folder in their place.
        ModuleNotFoundError: if tensorboard is not installed.
    """
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    points: dict[str, dict[int, float]] = {}
    for file in Path(folder).glob("*tfevents*"):  # as TensorBoard finds them
        if file.exists() and not file.is_file():  # a pipe would be waited for
            raise ValueError(f"{file} is no regular file, and so holds no curves")
    if Path(folder).is_dir():
        events = EventAccumulator(os.fspath(folder), {"scalars": 0})
        events.Reload()
        for tag in events.Tags()["scalars"]:
            points[tag] = {event.step: event.value for event in events.Scalars(tag)}
    if not points:
        raise ValueError(f"{os.fspath(folder)} holds no curves: give the folder of a run")
    return {
        tag: (sorted(values), [values[step] for step in sorted(values)])
        for tag, values in points.items()
    }
