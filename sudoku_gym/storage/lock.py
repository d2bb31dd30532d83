"""Locks, which one process at a time can hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


@contextmanager
def locked(lock_file: Path, refusal: str) -> Iterator[None]:
    """Hold a lock until the block ends; a process that dies lets others in. The file stays.

    Raises:
        ValueError: with the text `refusal`, at once, if another process holds the lock.
        OSError: if the lock file can't be made, or the disk has no locks.
    """
    try:
        held = FileLock(lock_file).acquire(timeout=0)
    except Timeout:
        raise ValueError(refusal) from None
    with held:
        yield
