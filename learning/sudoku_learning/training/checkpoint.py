"""Checkpoints: a folder of safetensors, npz and JSON that is complete by itself.

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import load_file, save
from torch import Tensor

from sudoku_gym.policies.loading import CONFIG_FILE as CONFIG_FILE
from sudoku_gym.storage.atomic import sync
from sudoku_gym.storage.reading import error_context, read_arrays, read_json
from sudoku_learning.training.learner import LearnerState

WEIGHTS = "weights.safetensors"
OPTIMIZER, REPLAY = "optimizer.safetensors", "replay.npz"
STATE, TIMING = "state.json", "timing.json"
FILES = (CONFIG_FILE, WEIGHTS, OPTIMIZER, REPLAY, STATE, TIMING)


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
