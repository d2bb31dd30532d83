"""Checkpoints: a folder of safetensors, npz and JSON, written beside and then renamed.

A run's folder holds `config.json`, written when the run starts, and `checkpoints/000012/`, one
folder an iteration. Each is complete by itself: weights, optimiser, replay and every generator, so
that a run which was killed continues as if it had not been. A folder has its number as a name only
while it is complete and on disk; what a kill leaves half written or half removed has an ending to
its name, and goes with the next checkpoint. Nothing is pickled.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

CONFIG = "config.json"
_WEIGHTS, _OPTIMISER, _REPLAY = "weights.safetensors", "optimiser.safetensors", "replay.npz"
_STATE, _FOLDER = "state.json", "checkpoints"
_DAMAGE = (OSError, EOFError, ValueError, BadZipFile, SafetensorError)


@dataclass(frozen=True)
class Checkpoint:
    """Everything a trainer needs to continue.

    Attributes:
        config: the run's configuration, fit for JSON; `config["agent"]` names its loader.
        weights: the network's `state_dict`.
        optimiser: the optimiser's tensors by name.
        replay: the replay's arrays by name.
        state: counters, generators and curriculum, fit for JSON; `state["iteration"]` among them.
    """

    config: dict[str, Any]
    weights: dict[str, Tensor]
    optimiser: dict[str, Tensor]
    replay: dict[str, NDArray[np.generic]]
    state: dict[str, Any]


def save(run: Path, checkpoint: Checkpoint, keep: int = 2) -> Path:
    """Write a checkpoint into a run's folder and remove all but the latest `keep`.

    Returns:
        The checkpoint's folder.
    """
    folder = run / _FOLDER / f"{checkpoint.state['iteration']:06d}"
    for left_by_a_kill in [*folder.parent.glob("*.draft"), *folder.parent.glob("*.old")]:
        shutil.rmtree(left_by_a_kill)
    draft = folder.with_name(f"{folder.name}.draft")
    draft.mkdir(parents=True)
    write_json(draft / CONFIG, checkpoint.config)
    write_json(draft / _STATE, checkpoint.state)
    save_file({name: t.contiguous() for name, t in checkpoint.weights.items()}, draft / _WEIGHTS)
    save_file(checkpoint.optimiser, draft / _OPTIMISER)
    np.savez(draft / _REPLAY, allow_pickle=False, **checkpoint.replay)
    for path in (*draft.iterdir(), draft):
        _to_disk(path)
    if folder.exists():
        _remove(folder)
    os.replace(draft, folder)
    _to_disk(folder.parent)
    write_json(run / CONFIG, checkpoint.config)
    for old in _folders(run)[:-keep]:
        _remove(old)
    return folder


def exists(run: str | os.PathLike[str]) -> bool:
    """Say whether a run's folder holds a checkpoint."""
    return bool(_folders(Path(run)))


def load_config(run: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the configuration of a run, which is there before its first checkpoint.

    Raises:
        ValueError: if the folder holds no run, or its configuration is damaged.
    """
    path = Path(run) / CONFIG
    if not path.exists():
        raise ValueError(f"{os.fspath(run)} holds no run: it has no {CONFIG}")
    try:
        return json.loads(path.read_text())
    except _DAMAGE as error:
        raise ValueError(f"{path}: the configuration is damaged ({error})") from error


def load(folder: str | os.PathLike[str]) -> Checkpoint:
    """Read a checkpoint, or the latest one of a run.

    Raises:
        ValueError: if the folder holds none, or a file is missing or damaged; the message names it.
    """
    path = resolve(folder)
    try:
        with open(path / _REPLAY, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            replay = {name: arrays[name] for name in arrays.files}
        return Checkpoint(
            config=json.loads((path / CONFIG).read_text()),
            weights=load_file(path / _WEIGHTS),
            optimiser=load_file(path / _OPTIMISER),
            replay=replay,
            state=json.loads((path / _STATE).read_text()),
        )
    except _DAMAGE as error:
        raise ValueError(f"{path}: the checkpoint is damaged ({error})") from error


def load_weights(folder: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read only what playing needs: the configuration and the weights.

    Raises:
        ValueError: as `load`.
    """
    path = resolve(folder)
    try:
        return json.loads((path / CONFIG).read_text()), load_file(path / _WEIGHTS)
    except _DAMAGE as error:
        raise ValueError(f"{path}: the checkpoint is damaged ({error})") from error


def resolve(folder: str | os.PathLike[str]) -> Path:
    """Return the checkpoint's folder: the given one, or the latest one of the given run.

    Raises:
        ValueError: if there is no checkpoint.
    """
    path = Path(folder)
    if (path / _WEIGHTS).is_file():
        return path
    folders = _folders(path)
    if not folders:
        raise ValueError(f"{path} holds no checkpoint: give the folder of a run")
    return folders[-1]


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON to a temporary name and rename it."""
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(json.dumps(content, indent=2) + "\n")
    _to_disk(draft)
    os.replace(draft, path)


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return an optimiser's tensors by name, `<parameter>.<quantity>`, fit for safetensors."""
    return {
        f"{index}.{name}": value.clone()
        for index, values in optimiser.state_dict()["state"].items()
        for name, value in values.items()
    }


def restore_optimiser(optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put the tensors of `optimiser_tensors` back into an optimiser of the same parameters."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        index, quantity = name.split(".")
        state.setdefault(int(index), {})[quantity] = value
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})


def _folders(run: Path) -> list[Path]:
    return sorted(path for path in (run / _FOLDER).glob("*") if path.name.isdigit())


def _remove(folder: Path) -> None:
    """Remove a checkpoint so that a kill in the middle leaves no half of it under its name."""
    doomed = folder.with_name(f"{folder.name}.old")
    os.replace(folder, doomed)
    shutil.rmtree(doomed)


def _to_disk(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, would survive a power cut."""
    if os.name != "posix":  # Windows opens no folder, and syncs no file that is open for reading
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
