"""Locks, which one process at a time can hold: a file of their own, or one that is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

try:
    import fcntl
except ImportError:  # on Windows
    HAS_LOCKS = False
else:
    HAS_LOCKS = True


@contextmanager
def locked(lock_file: Path, refusal: str) -> Iterator[None]:
    """Hold a lock until the block ends; a process that dies lets others in. The file stays.

    Raises:
        ValueError: with the text `refusal`, at once, if another process holds the lock; or if the
            file is a link, or not empty, since a lock may empty it.
        OSError: if the lock file can't be made.
    """
    if lock_file.is_symlink() or (lock_file.is_file() and lock_file.stat().st_size):
        raise ValueError(f"{lock_file} is a link, or not empty, and so no lock of ours: remove it")
    try:
        held = FileLock(lock_file).acquire(timeout=0)
    except Timeout:
        raise ValueError(refusal) from None
    with held:
        yield


def try_lock(descriptor: int) -> bool:
    """Lock an open file until it is closed; False if another holds the lock, or there are none."""
    if not HAS_LOCKS:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
