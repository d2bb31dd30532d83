"""Checkpoints: a folder of safetensors, npz and JSON that is complete by itself.

    config.json             the run's configuration; `"agent"` names the policy that plays it
    weights.safetensors     what playing needs
    optimizer.safetensors   what only learning needs: optimizers, target networks, torch's generator
    replay.npz              arrays in numpy
    state.json              counters, curriculum, generators
    timing.json             processor time spent: all that differs between equal runs
    SHA256SUMS              of all the others, as `sha256sum --check` reads it

Playing takes the first two alone; without SHA256SUMS, as where the two were copied, nothing is
compared. Nothing is pickled, and whatever is wrong with a file is a ValueError that names it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import load_file, save
from torch import Tensor

from sudoku_gym.policies.loading import CONFIG_FILE as CONFIG_FILE
from sudoku_gym.storage.atomic import sync, temporary_path, write_context, write_json
from sudoku_gym.storage.reading import (
    LONGEST_CONFIG,
    read_arrays,
    read_json,
    read_short,
    sha256_of,
)
from sudoku_gym.storage.reading import error_context as error_context
from sudoku_learning.training.learner import LearnerState

WEIGHTS = "weights.safetensors"
OPTIMIZER, REPLAY = "optimizer.safetensors", "replay.npz"
STATE, TIMING = "state.json", "timing.json"
SUMS = "SHA256SUMS"
FILES = (CONFIG_FILE, WEIGHTS, OPTIMIZER, REPLAY, STATE, TIMING)
_LONGEST_HEADER = 2**20  # bytes, some 8,000 tensors; ours have a few hundred
_LONGEST_FILE = 20_000_000_000  # bytes, four seconds to sum; ours have some millions
_LONGEST_STATE = 4 * 2**20  # bytes; ours have a few thousand


@dataclass(frozen=True)
class Checkpoint:
    """Everything a run needs to continue."""

    config: dict[str, Any]  # as `TrainingConfig.to_json` returns it
    learner: LearnerState
    progress: dict[str, Any]  # counters, curriculum and generators, fit for JSON
    seconds: float  # processor time spent


def write_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint into an existing folder, and wait until it is on disk.

    Raises:
        OSError: that names the file, if the disk is full for example.
    """
    learner = checkpoint.learner
    write_json(folder / CONFIG_FILE, checkpoint.config)
    write_json(folder / STATE, {**checkpoint.progress, "learner": learner.numbers})
    write_json(folder / TIMING, {"seconds": checkpoint.seconds})
    for name, tensors in ((WEIGHTS, learner.weights), (OPTIMIZER, learner.tensors)):
        _save_tensors(tensors, folder / name)
    with write_context(folder / REPLAY):
        np.savez(folder / REPLAY, allow_pickle=False, **learner.arrays)
    sums = "".join(f"{sha256_of(folder / name)}  {name}\n" for name in FILES)
    with write_context(folder / SUMS):
        (folder / SUMS).write_bytes(sums.encode())
    for path in (*(folder / name for name in (*FILES, SUMS)), folder):
        sync(path)


def read_checkpoint(folder: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        ValueError: if a file is missing or damaged; the message names it.
    """
    _check_files(folder, FILES)
    with error_context(folder / STATE):
        progress = _object(read_json(folder / STATE, _LONGEST_STATE))
        numbers = _object(progress.pop("learner"))
    with error_context(folder / TIMING):
        seconds = _object(read_json(folder / TIMING))["seconds"]
        if not isinstance(seconds, float) or not isfinite(seconds) or seconds < 0:
            raise ValueError(f"no number of seconds: {seconds!r:.60}")
    config, weights = _config_and_weights(folder)
    with error_context(folder / OPTIMIZER):
        tensors = _load_tensors(folder / OPTIMIZER)
    arrays = read_arrays(folder / REPLAY)
    return Checkpoint(config, LearnerState(weights, tensors, arrays, numbers), progress, seconds)


def read_to_play(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read only what playing needs, configuration and weights; raises as `read_checkpoint`."""
    _check_files(folder, (CONFIG_FILE, WEIGHTS))
    return _config_and_weights(folder)


def read_config_file(folder: Path) -> dict[str, Any]:
    """Read the configuration of a checkpoint or run; raises ValueError if missing or damaged."""
    with error_context(folder / CONFIG_FILE):
        return _object(read_json(folder / CONFIG_FILE))


def remove_checkpoint(folder: Path) -> None:
    """Remove a checkpoint's files, and the folder if it holds nothing else."""
    for name in (*FILES, SUMS):
        (folder / name).unlink(missing_ok=True)
        temporary_path(folder / name).unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


def _config_and_weights(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    config = read_config_file(folder)
    with error_context(folder / WEIGHTS):
        return config, _load_tensors(folder / WEIGHTS)


def _save_tensors(tensors: dict[str, Tensor], path: Path) -> None:
    # Not by `save_file`, whose file nobody else may read.
    with write_context(path):
        path.write_bytes(save({key: each.contiguous() for key, each in tensors.items()}))


def _load_tensors(path: Path) -> dict[str, Tensor]:
    """Load safetensors; ValueError if the header, which is read as a whole, is too long."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
    if length > _LONGEST_HEADER:
        raise ValueError(
            f"its header claims {length:,} bytes, and {_LONGEST_HEADER:,} are the limit"
        )
    return load_file(path)


def _check_files(folder: Path, names: Iterable[str]) -> None:
    """Check that files are regular ones, and have their sums where there are any."""
    for name in names:
        with error_context(folder / name):
            if (length := os.path.getsize(folder / name)) > _LONGEST_FILE:
                raise ValueError(f"it has {length:,} bytes, and {_LONGEST_FILE:,} are the limit")
    if not os.path.lexists(folder / SUMS):
        return
    with error_context(folder / SUMS):
        lines = read_short(folder / SUMS, LONGEST_CONFIG).decode("ascii").splitlines()
        sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
        if missing := [name for name in names if name not in sums]:
            raise ValueError(f"it has no sum of {missing[0]}")
    for name in names:
        if sha256_of(folder / name) != sums[name]:
            raise ValueError(
                f"{folder / name}: the file is damaged (its sum is not the one in {SUMS}; if you "
                f"changed it yourself, remove {SUMS})"
            )


def _object(content: Any) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise ValueError(f"it holds a {type(content).__name__}, not an object")
    return content
