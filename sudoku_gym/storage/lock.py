"""Locks, which one process at a time can hold: a file of their own, or one that is written."""

from __future__ import annotations

import errno
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
        ValueError: with the text `refusal`, at once, if another process holds the lock; if the file
            is a link, or not empty, since a lock may empty it; or if the disk has no locks.
        OSError: if the lock file can't be made.
    """
    if lock_file.is_symlink() or (lock_file.is_file() and lock_file.stat().st_size):
        raise ValueError(
            f"{lock_file} is a link, or not empty, and so no lock of ours, or that of another "
            "command on a disk without locks: remove it if none is running"
        )
    try:
        held = FileLock(lock_file).acquire(timeout=0)
    except Timeout:
        raise ValueError(refusal) from None
    except OSError as error:
        if error.errno in (errno.ENOLCK, errno.EOPNOTSUPP):
            raise ValueError(
                f"{lock_file}: this disk has no locks, which keep two commands apart "
                f"({error.strerror}): give a folder on another one"
            ) from None
        raise
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
