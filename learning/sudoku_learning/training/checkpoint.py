"""The folder of a run, and its checkpoints: folders that are complete by themselves.

    config.json             written when the run starts
    checkpoints/000012/     one folder a checkpoint, named by its iteration
    events.out...           the curves

A checkpoint is written as `checkpoints/draft`, and gets its number once it is on disk:

    config.json             the run's configuration; `"agent"` names the policy that plays it
    weights.safetensors     what playing needs
    optimizer.safetensors   what only learning needs: optimizers, target networks, torch's generator
    replay.npz              arrays in numpy
    state.json              counters, curriculum, generators
    timing.json             processor time spent: all that differs between equal runs

Playing takes the first two alone. Nothing is pickled.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import load_file, save
from torch import Tensor

from sudoku_gym.policies.loading import CONFIG_FILE as CONFIG_FILE
from sudoku_gym.policies.loading import checkpoints_of
from sudoku_gym.storage.atomic import sync
from sudoku_gym.storage.reading import error_context, read_arrays, read_json
from sudoku_learning.training.learner import LearnerState

WEIGHTS = "weights.safetensors"
OPTIMIZER, REPLAY = "optimizer.safetensors", "replay.npz"
STATE, TIMING = "state.json", "timing.json"
FILES = (CONFIG_FILE, WEIGHTS, OPTIMIZER, REPLAY, STATE, TIMING)
LOCK = ".lock"
"""The file in a run's folder that the process which trains in it holds."""

_CHECKPOINTS = "checkpoints"


@dataclass(frozen=True)
class Checkpoint:
    """Everything a run needs to continue."""

    config: dict[str, Any]  # as `TrainingConfig.to_json` returns it
    learner: LearnerState
    progress: dict[str, Any]  # counters, curriculum and generators, fit for JSON
    seconds: float  # processor time spent


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint into an existing folder, and wait until it is on disk."""
    learner = checkpoint.learner
    for name, values in (
        (CONFIG_FILE, checkpoint.config),
        (STATE, {**checkpoint.progress, "learner": learner.numbers}),
        (TIMING, {"seconds": checkpoint.seconds}),
    ):
        (folder / name).write_text(json.dumps(values, indent=2) + "\n")
    for name, tensors in ((WEIGHTS, learner.weights), (OPTIMIZER, learner.tensors)):
        content = save({key: tensor.contiguous() for key, tensor in tensors.items()})
        (folder / name).write_bytes(content)
    np.savez(folder / REPLAY, allow_pickle=False, **learner.arrays)
    for path in (*(folder / name for name in FILES), folder):
        sync(path)


def read_checkpoint(folder: Path) -> Checkpoint:
    """Read a checkpoint; a ValueError that names the file if one is missing or damaged."""
    config, weights = read_to_play(folder)
    with error_context(folder / STATE):
        progress = read_json(folder / STATE)
        numbers = progress.pop("learner")
    with error_context(folder / TIMING):
        seconds = float(read_json(folder / TIMING)["seconds"])
    with error_context(folder / OPTIMIZER):
        tensors = load_file(folder / OPTIMIZER)
    arrays = read_arrays(folder / REPLAY)
    return Checkpoint(config, LearnerState(weights, tensors, arrays, numbers), progress, seconds)


def read_to_play(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read only what playing needs, configuration and weights; raises as `read_checkpoint`."""
    config = read_config_file(folder)
    with error_context(folder / WEIGHTS):
        return config, load_file(folder / WEIGHTS)


def read_config_file(folder: Path) -> dict[str, Any]:
    """Read the configuration of a checkpoint or run; raises ValueError if missing or damaged."""
    with error_context(folder / CONFIG_FILE):
        return dict(read_json(folder / CONFIG_FILE))


def check_run_folder(path: Path, resume: bool) -> None:
    """Raise ValueError if there is no run to resume, or the folder is not free for a new one."""
    holds_run = (path / CONFIG_FILE).exists()
    if resume and not holds_run:
        raise ValueError(f"{path} holds no run: it has no {CONFIG_FILE}")
    if not resume and holds_run:
        raise ValueError(
            f"{path} already holds a run: give another folder, or --resume to continue it"
        )
    if not resume and not _is_free(path):
        raise ValueError(f"{path} is not empty, and what it holds is no run: give another folder")


def save_checkpoint(run: Path, iteration: int, content: Checkpoint, keep: int | None = 2) -> None:
    """Write the checkpoint of an iteration, then remove all but the latest `keep`, if any.

    Raises OSError if it can't be written; those before it stay as they are.
    """
    draft = run / _CHECKPOINTS / "draft"
    draft.mkdir(parents=True, exist_ok=True)  # one that a kill left is written over
    write_checkpoint(draft, content)
    os.replace(draft, draft.with_name(f"{iteration:06d}"))
    sync(draft.parent)
    for old in checkpoints_of(run)[: -keep if keep else 0]:
        _remove(old)


def free_folder(path: Path) -> Path:
    """Return the first of `path`, `path-2`, `path-3` ... that is free for a new run."""
    others = (path.with_name(f"{path.name}-{number}") for number in count(2))
    return next(each for each in chain([path], others) if _is_free(each))


def checkpoint_in(folder: str | os.PathLike[str]) -> Path:
    """Return a checkpoint's folder: that given, or a run's latest; ValueError if there is none."""
    path = Path(folder)
    if (path / WEIGHTS).exists():
        return path
    found = checkpoints_of(path)
    if not found and (path / CONFIG_FILE).is_file():
        raise ValueError(f"{path} holds no checkpoint yet: its first iteration is not done")
    if not found:
        raise ValueError(
            f"{path} holds no checkpoint, for it has no {WEIGHTS}: give the folder of a run"
        )
    return found[-1]


def _remove(folder: Path) -> None:
    """Remove the files of a checkpoint, and its folder unless there are others in it."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    if not os.listdir(folder):
        folder.rmdir()


def _is_free(path: Path) -> bool:
    return not path.exists() or not {*os.listdir(path)} - {LOCK}
