"""The folder of a run: who may train in it, and which checkpoints it holds.

    config.json         written when the run starts
    checkpoints/000012  one folder a checkpoint, named by its iteration
    events.out...       the curves

A checkpoint is written as `checkpoints/draft`, and gets its number once it is on disk.
"""

from __future__ import annotations

import os
from itertools import chain, count
from pathlib import Path

from sudoku_gym.policies.loading import checkpoints_of
from sudoku_gym.storage.atomic import sync
from sudoku_learning.training import checkpoint
from sudoku_learning.training.checkpoint import CONFIG_FILE, FILES, WEIGHTS, Checkpoint

LOCK = ".lock"
"""The file in a run's folder that the process which trains in it holds."""

_CHECKPOINTS = "checkpoints"


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
    checkpoint.write_checkpoint(draft, content)
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
