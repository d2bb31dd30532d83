"""What TensorBoard shows of a run beside its curves: its settings, and a table of runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter
from torch.utils.tensorboard.summary import hparams

from sudoku_curricula import curves


def open_writer(run: Path, resumed_at: int | None) -> SummaryWriter:
    """Begin an event file in a run's folder.

    `resumed_at` is the step of the checkpoint of a resumed run: TensorBoard then drops the points
    that the interrupted run wrote after it.
    """
    return SummaryWriter(run, purge_step=None if resumed_at is None else resumed_at + 1)


def write_settings(writer: SummaryWriter, config: Mapping[str, Any], step: int) -> None:
    """Write a configuration, fit for JSON, as a text and as hyperparameters.

    The table of runs has the last values of the curves of the evaluation beside them.
    """
    flat = dict(_flattened(config))
    rows = [f"| {name} | {json.dumps(value)} |" for name, value in flat.items()]
    writer.add_text("configuration", "\n".join(["| option | value |", "|---|---|", *rows]), step)
    values = {
        name: value if isinstance(value, bool | int | float | str) else json.dumps(value)
        for name, value in flat.items()
        if name not in ("run", "resume")
    }
    shown = dict.fromkeys((curves.COMPLETION_RATE, curves.CONSTRAINT_FRACTION), 0.0)
    file_writer: Any = writer.file_writer  # `writer.add_hparams` would begin another run
    for summary in hparams(values, shown):  # type: ignore[no-untyped-call]
        file_writer.add_summary(summary)


def _flattened(config: Mapping[str, Any], group: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the options of a configuration by the names that they have on the command line."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{group}{name}.")
        else:
            yield f"{group}{name}", value
