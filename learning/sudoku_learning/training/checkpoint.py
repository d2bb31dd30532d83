"""Checkpoints: a folder of safetensors, npz and JSON that is complete by itself.

    config.json             the run's configuration; `"agent"` names the policy that plays it
    weights.safetensors     what playing needs
    optimiser.safetensors   what only learning needs: optimisers, target networks, torch's generator
    replay.npz              arrays in numpy
    state.json              counters, curriculum, generators
    timing.json             processor time spent: all that differs between equal runs

Nothing is pickled, and whatever is wrong with a file is a ValueError that names it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from sudoku_learning.training.learner import State

CONFIG = "config.json"
WEIGHTS = "weights.safetensors"
_OPTIMISER, _REPLAY = "optimiser.safetensors", "replay.npz"
_STATE, _TIMING = "state.json", "timing.json"
FILES = (CONFIG, WEIGHTS, _OPTIMISER, _REPLAY, _STATE, _TIMING)

_DAMAGE = (
    *(OSError, EOFError, ValueError, KeyError, TypeError, RecursionError, MemoryError),
    *(BadZipFile, SafetensorError),
)


@dataclass(frozen=True)
class Checkpoint:
    """Everything a run needs to continue.

    Attributes:
        config: the run's configuration, as `TrainingConfig.to_json` wrote it.
        learner: the learner's state.
        progress: counters, curriculum and generators, fit for JSON.
        seconds: processor time spent.
    """

    config: dict[str, Any]
    learner: State
    progress: dict[str, Any]
    seconds: float


def write(folder: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint into an existing folder, and wait until it is on disk."""
    learner = checkpoint.learner
    write_json(folder / CONFIG, checkpoint.config)
    write_json(folder / _STATE, {**checkpoint.progress, "learner": learner.numbers})
    write_json(folder / _TIMING, {"seconds": checkpoint.seconds})
    _save_tensors(folder / WEIGHTS, learner.weights)
    _save_tensors(folder / _OPTIMISER, learner.tensors)
    np.savez(folder / _REPLAY, allow_pickle=False, **learner.arrays)
    for path in (*(folder / name for name in FILES), folder):
        to_disk(path)


def read(folder: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        ValueError: if a file is missing or damaged; the message names it.
    """
    with _naming(folder / _STATE):
        progress = _read_json(folder / _STATE)
        numbers = _object(progress.pop("learner"))
    with _naming(folder / _TIMING):
        seconds = float(_read_json(folder / _TIMING)["seconds"])
    config, weights = read_to_play(folder)
    with _naming(folder / _OPTIMISER):
        tensors = load_file(folder / _OPTIMISER)
    with (
        _naming(folder / _REPLAY),
        open(folder / _REPLAY, "rb") as file,
        np.load(file, allow_pickle=False) as npz,
    ):
        arrays = {name: npz[name] for name in npz.files}
    return Checkpoint(config, State(weights, tensors, arrays, numbers), progress, seconds)


def read_to_play(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read only what playing needs: the configuration and the weights.

    Raises:
        ValueError: as `read`.
    """
    config = read_config(folder)
    with _naming(folder / WEIGHTS):
        return config, load_file(folder / WEIGHTS)


def read_config(folder: Path) -> dict[str, Any]:
    """Read the configuration in a folder, of a checkpoint or of a run.

    Raises:
        ValueError: if it is missing or damaged.
    """
    with _naming(folder / CONFIG):
        return _read_json(folder / CONFIG)


def remove(folder: Path) -> None:
    """Remove a checkpoint's files, and the folder if it holds nothing else."""
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
        (folder / f".{name}.draft").unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON to a temporary name and rename it."""
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    to_disk(draft)
    os.replace(draft, path)


def to_disk(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, would survive a power cut."""
    if os.name != "posix":  # Windows opens no folder, and syncs no file that is open for reading
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _save_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)


def _read_json(path: Path) -> dict[str, Any]:
    return _object(json.loads(path.read_text(encoding="utf-8")))


def _object(content: Any) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise ValueError(f"it holds a {type(content).__name__}, not an object")
    return content


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong in reading a file into a ValueError that names it."""
    try:
        yield
    except FileNotFoundError as error:
        raise ValueError(f"{path}: the file is missing") from error
    except _DAMAGE as error:
        kind = type(error).__name__
        raise ValueError(f"{path}: the file is damaged ({kind}: {error})") from error
