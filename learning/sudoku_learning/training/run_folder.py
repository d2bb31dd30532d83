"""The folder of a run: who may train in it, and which checkpoints it holds.

    config.json         written when the run starts
    checkpoints/000012  one folder a checkpoint, named by its iteration
    events.out...       the curves

A folder has its number as a name only while it is complete and on disk; one that is half written or
half removed has an ending to its name, and the next checkpoint removes it. Only files that a run
writes are ever removed.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from itertools import chain, count
from pathlib import Path

from sudoku_gym.storage.atomic import sync, write_json
from sudoku_gym.storage.lock import locked
from sudoku_learning.training import checkpoint
from sudoku_learning.training.checkpoint import CONFIG_FILE, WEIGHTS, Checkpoint

_LOCK, _CHECKPOINTS = ".lock", "checkpoints"
_DRAFT, _DOOMED = ".draft", ".old"


class RunFolder:
    """The folder of one run, which need not exist unless it is to be resumed.

    Raises:
        ValueError: if there is nothing to resume, or the folder is not free for a new run.
    """

    def __init__(self, path: Path, resume: bool) -> None:
        self.path = path
        self._lock = ExitStack()
        holds_run = (path / CONFIG_FILE).exists()
        if resume and not holds_run:
            raise ValueError(f"{path} holds no run: it has no {CONFIG_FILE}")
        if not resume and holds_run:
            raise ValueError(
                f"{path} already holds a run: give another folder, or --resume to continue it"
            )
        if not resume and not _is_free(path):
            problem = "is not empty, and what it holds is no run: give another folder"
            raise ValueError(f"{path} {problem}")
        self._found = self._seen()

    def __enter__(self) -> RunFolder:
        """Keep others out until the block ends; ValueError if one is in it, or was just now."""
        self.path.mkdir(parents=True, exist_ok=True)
        refusal = f"another training is running in {self.path}: give another folder"
        self._lock.enter_context(locked(self.path / _LOCK, refusal))
        if self._seen() != self._found:
            self._lock.close()
            raise ValueError(f"another training has just been in {self.path}: start again")
        return self

    def __exit__(self, *_: object) -> None:
        """Let others in."""
        self._found = self._seen()
        self._lock.close()

    def write_config(self, config: dict[str, object]) -> None:
        """Write the run's configuration."""
        write_json(self.path / CONFIG_FILE, config)

    def save(self, iteration: int, content: Checkpoint, keep: int | None = 2) -> None:
        """Write the checkpoint of an iteration, then remove all but the latest `keep`, if any.

        Raises ValueError if something that is no checkpoint lies where it belongs, OSError if it
        can't be written; no half of it stays then.
        """
        folder = self.path / _CHECKPOINTS / f"{iteration:06d}"
        for left_by_a_kill in (*self._with_ending(_DRAFT), *self._with_ending(_DOOMED)):
            checkpoint.remove_checkpoint(left_by_a_kill)
        others = [path for path in checkpoints_of(self.path) if not path.is_symlink()]
        if folder not in others and folder.exists():
            raise ValueError(f"{folder} is in the way, and is no checkpoint: move it elsewhere")
        draft = folder.with_name(f"{folder.name}{_DRAFT}")
        draft.mkdir(parents=True, exist_ok=True)
        try:
            checkpoint.write_checkpoint(draft, content)
        except OSError:
            checkpoint.remove_checkpoint(draft)
            raise
        if folder in others:
            others.remove(folder)
            _remove(folder)
        os.replace(draft, folder)
        sync(folder.parent)
        self.write_config(content.config)
        if keep is not None:
            for old in others[: max(len(others) + 1 - keep, 0)]:
                _remove(old)

    def latest(self) -> Path | None:
        """Return the folder of the latest checkpoint, None before the first."""
        return next(reversed(checkpoints_of(self.path)), None)

    def _seen(self) -> tuple[bool, Path | None]:
        return (self.path / CONFIG_FILE).exists(), self.latest()

    def _with_ending(self, ending: str) -> list[Path]:
        parts = (self.path / _CHECKPOINTS).glob(f"*{ending}")
        ours = (part for part in parts if _is_number(part.name.removesuffix(ending)))
        return [part for part in ours if part.is_dir() and not part.is_symlink()]


def free_folder(path: Path) -> Path:
    """Return the first of `path`, `path-2`, `path-3` ... that is free for a new run."""
    others = (path.with_name(f"{path.name}-{number}") for number in count(2))
    return next(each for each in chain([path], others) if _is_free(each))


def checkpoints_of(run: Path) -> list[Path]:
    """Return the folders of a run's checkpoints, oldest first; those that lack a file too."""
    found = [path for path in (run / _CHECKPOINTS).glob("*") if _is_number(path.name)]
    ours = [path for path in found if any((path / name).exists() for name in checkpoint.FILES)]
    return sorted(ours, key=lambda path: int(path.name))


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
    """Remove a checkpoint so that a kill in the middle leaves no half of it under its name."""
    doomed = folder.with_name(f"{folder.name}{_DOOMED}")
    os.replace(folder, doomed)
    checkpoint.remove_checkpoint(doomed)


def _is_free(path: Path) -> bool:
    return not path.exists() or not {*os.listdir(path)} - {_LOCK}


def _is_number(name: str) -> bool:
    return len(name) >= 6 and name.isascii() and name.isdigit()
