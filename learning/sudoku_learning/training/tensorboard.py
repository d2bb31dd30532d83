"""What TensorBoard shows of a run beside its curves: settings, a table of runs, held-out boards."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from torch.utils.tensorboard import SummaryWriter
from torch.utils.tensorboard.summary import hparams

from sudoku_curricula import curves
from sudoku_gym.envs.rendering import draw
from sudoku_gym.geometry import Geometry
from sudoku_learning.training.environments import HeldOut

_BOARDS = "evaluation/boards"
_SHOWN, _IN_A_ROW, _WIDTH = 4, 2, 320  # boards, and pixels of each


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


def write_boards(writer: SummaryWriter, held_out: HeldOut, geometry: Geometry, step: int) -> None:
    """Write the last boards of the first held-out games in a square; conflicts are marked."""
    assert held_out.latest is not None and held_out.latest.boards is not None
    pairs = zip(held_out.puzzles[:_SHOWN], held_out.latest.boards[:_SHOWN], strict=True)
    drawn = [
        draw(end, puzzle > 0, geometry, show_candidates=True, size=_WIDTH) for puzzle, end in pairs
    ]
    drawn += [np.full_like(drawn[0], 255)] * (-len(drawn) % _IN_A_ROW)
    rows = [np.hstack(drawn[i : i + _IN_A_ROW]) for i in range(0, len(drawn), _IN_A_ROW)]
    writer.add_image(_BOARDS, np.vstack(rows), step, dataformats="HWC")


def _flattened(config: Mapping[str, Any], group: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the options of a configuration by the names that they have on the command line."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{group}{name}.")
        else:
            yield f"{group}{name}", value
