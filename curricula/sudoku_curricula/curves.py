"""Curves of a run: their names, a writer that needs no torch, and a reader.

Every trainer writes these names over environment steps (supervised trainers: positions seen). A
name is `group/what`; trainers may add names of their own within the groups, such as
`losses/approx_kl`, and `sudoku-gym plot` draws them.
"""

from __future__ import annotations

import itertools
import os
import re
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.envs.rendering import to_png
from sudoku_gym.plugins import install_command
from sudoku_gym.storage.atomic import write_context
from sudoku_gym.storage.reading import error_context

_FLUSH_SECONDS = 120.0
_FILE_NUMBERS = itertools.count()
_EVENT_FILE = re.compile(r"events\.out\.tfevents\.(\d{1,10})\.", re.ASCII)  # its seconds
_DESCRIPTIONS: dict[str, str] = {}


def curve(tag: str, description: str) -> str:
    """Give a curve a description, which TensorBoard shows beside it; return its tag."""
    _DESCRIPTIONS[tag] = description
    return tag


BLANKS_LEVEL = curve("curriculum/blanks", "The level of the curriculum: blanks of a puzzle.")
SUCCESS_RATE = curve(
    "curriculum/success_rate", "Share of the games at the level that were solved entirely."
)
POLICY_ACCURACY = curve(
    "curriculum/policy_accuracy",
    "Share of trained positions at which the policy's first choice is, or is among, the search's "
    "(alpha of Algorithm 1 of the cAlphaZero paper).",
)
COMPLETION_RATE = curve(
    "evaluation/completion_rate",
    "Share of held-out puzzles as stored (minimal ones) that greedy play solves entirely.",
)
CONSTRAINT_FRACTION = curve(
    "evaluation/constraint_fraction",
    "Share of satisfied units of the last boards of the held-out games, averaged.",
)
TRAINING_COMPLETION = curve(
    "training/completion_rate", "Share of the puzzles trained on that are solved entirely."
)
POLICY_LOSS = curve("losses/policy_loss", "Loss of the policy, as in CleanRL.")
VALUE_LOSS = curve("losses/value_loss", "Loss of the value, as in CleanRL.")
ENTROPY = curve("losses/entropy", "Entropy of the policy in nats, averaged over positions.")
STEPS_PER_SECOND = curve(
    "throughput/steps_per_second", "Environment steps per second of wall time."
)
EPISODIC_RETURN = curve("charts/episodic_return", "Sum of the rewards of an episode, averaged.")
EPISODIC_LENGTH = curve("charts/episodic_length", "Steps of an episode, averaged.")
LEARNING_RATE = curve("charts/learning_rate", "Learning rate of the optimizer.")
ITERATION = curve("charts/iteration", "Iterations done.")

GROUPS = (
    "curriculum",  # the level, and the metrics that schedules move by
    "evaluation",  # greedy games on validation puzzles
    "training",  # games and boards that are trained on
    "search",  # searches that make training data
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
    """Write curves, texts and pictures to an event file for TensorBoard; leaving a block closes it.

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
            from tensorboard.plugins.hparams import api_pb2, plugin_data_pb2
            from tensorboard.plugins.hparams import metadata as hparams
            from tensorboard.plugins.image import metadata as images
            from tensorboard.plugins.scalar import metadata as scalars
            from tensorboard.plugins.text import metadata as texts
            from tensorboard.summary.writer.record_writer import RecordWriter
            from tensorboard.util.tensor_util import make_tensor_proto
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"writing curves needs tensorboard: {install_command('agents')}"
            ) from error
        self._events, self._summaries = event_pb2, summary_pb2
        self._hparams, self._api, self._data = hparams, api_pb2, plugin_data_pb2
        self._scalars, self._texts, self._images = scalars, texts, images
        self._make_tensor = make_tensor_proto
        self._described: set[str] = set()
        self._path = _new_event_file(Path(folder))
        with write_context(self._path):
            self._writer = RecordWriter(self._path.open("xb"))
        self._flushed = time.monotonic()
        self._add(file_version="brain.Event:2")
        self.flush()
        if resume_step is not None:
            start = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
            # START purges its own step too, but the checkpoint's points are sound.
            self._add(step=resume_step + 1, session_log=start)

    def add_scalar(self, tag: str, value: float, step: int) -> None:
        """Add the point (`step`, `value`) to the curve `tag`."""
        point = self._summaries.Summary.Value(tag=tag, simple_value=float(value))
        if tag in _DESCRIPTIONS and tag not in self._described:
            self._described.add(tag)
            metadata = self._scalars.create_summary_metadata("", _DESCRIPTIONS[tag])
            metadata.data_class = self._summaries.DATA_CLASS_SCALAR  # else it is replaced when read
            point.metadata.CopyFrom(metadata)
        self._add_value(point, step)

    def add_scalars(self, values: Mapping[str, float], step: int) -> None:
        """Add one point to each of several curves, `{tag: value}`."""
        for tag, value in values.items():
            self.add_scalar(tag, value, step)

    def add_text(self, tag: str, text: str, step: int = 0) -> None:
        """Add a text in Markdown."""
        value = self._summaries.Summary.Value(
            tag=tag,
            metadata=self._texts.create_summary_metadata("", ""),
            tensor=self._make_tensor([text.encode()], shape=(1,)),
        )
        self._add_value(value, step)

    def add_image(
        self, tag: str, pixels: NDArray[np.uint8], step: int, description: str = ""
    ) -> None:
        """Add a picture, uint8 `[H, W, 3]`."""
        height, width = pixels.shape[:2]
        image = self._summaries.Summary.Image(
            height=height, width=width, colorspace=3, encoded_image_string=to_png(pixels)
        )
        metadata = self._images.create_summary_metadata("", description)
        metadata.data_class = self._summaries.DATA_CLASS_BLOB_SEQUENCE
        value = self._summaries.Summary.Value(tag=tag, image=image, metadata=metadata)
        self._add_value(value, step)

    def add_hparams(self, values: Mapping[str, bool | float | str], metrics: Sequence[str]) -> None:
        """Add what TensorBoard's table of runs shows: options, and the last of some curves."""
        experiment = self._api.Experiment(
            hparam_infos=[self._api.HParamInfo(name=name) for name in values],
            metric_infos=[
                self._api.MetricInfo(name=self._api.MetricName(tag=tag)) for tag in metrics
            ],
        )
        start = self._data.SessionStartInfo(start_time_secs=time.time())
        for name, value in values.items():
            if isinstance(value, bool):
                start.hparams[name].bool_value = value
            elif isinstance(value, str):
                start.hparams[name].string_value = value
            else:
                start.hparams[name].number_value = value
        version, names = self._hparams.PLUGIN_DATA_VERSION, self._hparams
        for tag, content in (
            (names.EXPERIMENT_TAG, {"experiment": experiment}),
            (names.SESSION_START_INFO_TAG, {"session_start_info": start}),
        ):
            data = self._data.HParamsPluginData(version=version, **content)
            metadata = self._hparams.create_summary_metadata(data)
            value = self._summaries.Summary.Value(
                tag=tag, metadata=metadata, tensor=self._hparams.NULL_TENSOR
            )
            self._add_value(value, 0)

    def flush(self) -> None:
        """Write everything to disk now; else it happens every two minutes and on `close`."""
        self._flushed = time.monotonic()
        with write_context(self._path):
            self._writer.flush()

    def close(self) -> None:
        """Write everything to disk and close the file."""
        with write_context(self._path):
            self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _add_value(self, value: Any, step: int) -> None:
        self._add(step=int(step), summary=self._summaries.Summary(value=[value]))

    def _add(self, **fields: Any) -> None:
        event = self._events.Event(wall_time=time.time(), **fields)
        with write_context(self._path):
            self._writer.write(event.SerializeToString())
        if time.monotonic() - self._flushed > _FLUSH_SECONDS:
            self.flush()


def _new_event_file(folder: Path) -> Path:
    """Make the folder; return the path of a file in it as TensorBoard's own writer names them.

    TensorBoard reads files in the order of their names, so the time in it is later than in those
    that are there, even where the clock is behind the one of a run that is resumed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    times = (_EVENT_FILE.match(file.name) for file in folder.iterdir())
    second = max([int(time.time()), *(int(found[1]) + 1 for found in times if found)])
    where = f"{socket.gethostname()}.{os.getpid()}.{next(_FILE_NUMBERS)}"
    return folder / f"events.out.tfevents.{second}.{where}"


def read_curves(folder: str | os.PathLike[str]) -> Curves:
    """Read the curves of a run back, as TensorBoard shows them.

    Numbers that a writer keeps as tensors are left out; none of ours does.

    Returns:
        `{tag: (steps, values)}`, the steps rising; of several points at one step the last.

    Raises:
        ValueError: if the folder holds no curves, or a pipe or folder in their place, or they are
            damaged. The last record may be cut, as it is where a run was killed.
        ModuleNotFoundError: if tensorboard is not installed.
    """
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    points: dict[str, dict[int, float]] = {}
    files = [*Path(folder).glob("*tfevents*")]  # as TensorBoard finds them
    for file in files:
        if file.exists() and not file.is_file():  # a pipe would be waited for
            raise ValueError(f"{file} is no regular file, and so holds no curves")
    if Path(folder).is_dir():
        events = EventAccumulator(os.fspath(folder), {"scalars": 0})
        with error_context(Path(folder), "its curves are damaged"):
            for file in filter(Path.is_file, files):
                _check_records(file)
            events.Reload()
        for tag in events.Tags()["scalars"]:
            points[tag] = {event.step: event.value for event in events.Scalars(tag)}
    if not points:
        raise ValueError(f"{os.fspath(folder)} holds no curves: give the folder of a run")
    return {
        tag: (sorted(values), [values[step] for step in sorted(values)])
        for tag, values in points.items()
    }


def _check_records(file: Path) -> None:
    """Raise a ValueError if a record is damaged; TensorBoard leaves out all that follow it."""
    from tensorboard.compat.tensorflow_stub.errors import DataLossError, OutOfRangeError
    from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import PyRecordReader_New

    records = PyRecordReader_New(os.fspath(file))
    try:
        while True:
            records.GetNext()
    except OutOfRangeError:
        return
    except DataLossError as error:
        if "has truncated record" not in str(error):
            raise ValueError(str(error)) from error
