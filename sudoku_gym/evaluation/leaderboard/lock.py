"""A lock beside a file: whoever holds it is the only one who writes the file."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)  # what systems say of it


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep every other process out until the block ends; a process that dies lets others in.

    Args:
        path: of the file; the lock is a file beside it, which goes with the block.

    Raises:
        ValueError: if another process has the lock.
        OSError: if the lock can't be made.
    """
    lock = path.with_name(f".{path.name}.lock")
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _acquire(handle)
        except OSError as error:
            os.close(handle)
            if error.errno not in _HELD:
                raise
            raise ValueError(
                f"another leaderboard is being played into {path}: wait for it, or give another "
                "--out"
            ) from None
        if _is_still(handle, lock):
            break
        os.close(handle)  # its holder has just removed it: this is a lock that nobody sees
    try:
        yield
    finally:
        with suppress(OSError):  # Windows removes no open file
            lock.unlink()
        os.close(handle)


def _is_still(handle: int, lock: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(lock))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _acquire(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _acquire(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
