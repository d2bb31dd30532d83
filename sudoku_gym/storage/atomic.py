"""Atomic writes: to a temporary file in the same folder, synced, then renamed; and locks."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from filelock import FileLock, Timeout


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write; at the end it is synced and replaces `path`.

    Where the block raises, the temporary file is removed and `path` stays as it was. The temporary
    path ends in the same suffix and is of this call alone, so that two processes may write `path`
    at once: the last one wins. An OSError names `path`; a ValueError says that a folder, a device
    or a pipe lies there.
    """
    target = Path(path).absolute()
    if target.exists() and not target.is_file():
        raise ValueError(f"{path} is no regular file: give the name of a file to write")
    temporary = target.with_name(f".{target.stem[:60]}.{uuid4().hex}{target.suffix}")
    try:
        temporary.touch()
        yield temporary
        sync(temporary)
        os.replace(temporary, target)
    except OSError as error:
        if error.filename in (None, os.fspath(temporary)):  # as of a full disk
            error.filename = os.fspath(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    r"""Write UTF-8 text atomically; lines end in `\n` on every system."""
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: str | os.PathLike[str], content: Any, indent: int = 2) -> None:
    """Write JSON atomically."""
    write_text(path, json.dumps(content, indent=indent) + "\n")


def sync(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, would survive a power cut."""
    if os.name != "posix":  # Windows opens no folder
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def check_suffix(path: str | os.PathLike[str], what: str, *suffixes: str) -> None:
    """Raise ValueError unless a name ends so: a slip writes over no file of another kind."""
    if Path(path).suffix.lower() not in suffixes:
        wanted = " or ".join(suffixes)
        raise ValueError(f"{what} in {os.fspath(path)!r}: use a name that ends in {wanted}")


@contextmanager
def locked(lock_file: Path, refusal: str) -> Iterator[None]:
    """Hold a lock until the block ends; a process that dies lets others in. The file stays.

    If another process holds the lock, raise ValueError with the text `refusal` at once.
    """
    try:
        held = FileLock(lock_file).acquire(timeout=0)
    except Timeout:
        raise ValueError(refusal) from None
    with held:
        yield
