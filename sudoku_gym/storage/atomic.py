"""Atomic writes: to a temporary file in the same folder, which is synced, then renamed."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sudoku_gym.storage.lock import try_lock
from sudoku_gym.storage.reading import check_json_size, naming

_LONGEST_STEM = 180  # bytes of a temporary file's name; most systems allow 255 in all
_ACCESS_LIST = "system.posix_acl_access"
_LEFT_AFTER = 60.0  # s without a change; a younger one may not be locked yet


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write; at the end it is synced and replaces `path`.

    It keeps permissions and group of a file of one's own. Where the block raises, the temporary
    file is removed and `path` stays as it was. The temporary path lies in the same folder and ends
    in the same suffix; it is a new, empty file of a name that nobody else uses. So nothing is
    written through a link that lay there, and of two that write `path` at once the last to end
    wins, with a whole file. What killed processes have left of earlier writes is removed. An
    OSError names `path`. The block may change the working folder. A file that is mounted by itself
    can't be replaced, and is written over.

    Raises:
        ValueError: if a device or a pipe lies at `path`, which would be replaced.
    """
    target = Path(path).absolute()
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise ValueError(f"{path} is no regular file: give the name of a file to write")
    temporary = temporary_path(target)
    with naming_file(Path(path), temporary):
        _remove_left(target)
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        try:
            with _locked_while_open(descriptor):
                yield temporary
                sync(temporary)
                _replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def naming_file(path: Path, temporary: Path | None = None) -> Iterator[None]:
    """Let an OSError that names no file, as of a full disk, or the temporary one, name `path`."""
    try:
        yield
    except OSError as error:
        if error.filename is None or error.filename == os.fspath(temporary or path):
            error.filename = os.fspath(path)
        raise


def write_text(path: str | os.PathLike[str], text: str) -> None:
    r"""Write UTF-8 text atomically; lines end in `\n` on every system."""
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(
    path: str | os.PathLike[str], content: Any, indent: int = 2, longest: int | None = None
) -> None:
    """Write JSON atomically.

    Raises:
        ValueError: if `longest` is given, and `read_json` with it would refuse the file by its
            size; nothing is written.
    """
    text = json.dumps(content, indent=indent) + "\n"
    if longest is not None:
        with naming(Path(path), "it is not written, since it could not be read again"):
            check_json_size(text.encode(), longest)
    write_text(path, text)


def temporary_path(path: Path) -> Path:
    """Return a new temporary path to write `path`; it remains only if the process dies."""
    return path.with_name(f".{_short_stem(path)}.{secrets.token_hex(4)}.draft{path.suffix}")


def temporary_files(path: Path) -> list[Path]:
    """Return the files in the folder of `path` that are named as `temporary_path` does."""
    name = re.compile(
        rf"\.{re.escape(_short_stem(path))}\.[0-9a-f]{{8}}\.draft{re.escape(path.suffix)}",
        re.DOTALL,
    )
    with os.scandir(path.parent) as entries:
        ours = [each for each in entries if name.fullmatch(each.name)]
        return [Path(each) for each in ours if each.is_file(follow_symlinks=False)]


def sync(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, would survive a power cut."""
    if os.name != "posix":  # Windows opens no folder, and syncs no file that is open for reading
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Shared folders of virtual machines and some network disks sync files alone.
        if not path.is_dir() or error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.EBADF):
            raise
    finally:
        os.close(descriptor)


def _replace(temporary: Path, target: Path) -> None:
    """Put the temporary file in the place of the target, with its permissions if it is ours."""
    with suppress(OSError):  # there is none, or the disk knows no permissions
        before, now = target.lstat(), temporary.stat()
        if stat.S_ISREG(before.st_mode) and before.st_uid == now.st_uid:
            temporary.chmod(_permissions(target, before, temporary, now))
    try:
        os.replace(temporary, target)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        # A file that is mounted by itself, as into a container: its content alone can be exchanged.
        _write_over(temporary, target)


def _permissions(target: Path, before: os.stat_result, temporary: Path, now: os.stat_result) -> int:
    """Give a file the group of another; return that one's permissions.

    Where the group can't be given, or is one of several that have rights, it gets those of all.
    """
    mode, is_same = before.st_mode & 0o777, True
    if before.st_gid != now.st_gid:
        try:
            os.chown(temporary, -1, before.st_gid)
        except (OSError, AttributeError):  # not on Windows
            is_same = False
    if hasattr(os, "listxattr"):
        with suppress(OSError):  # the disk knows no lists of rights
            is_same = is_same and _ACCESS_LIST not in os.listxattr(target)
    return mode if is_same else mode & 0o707 | (mode & 0o007) << 3


def _write_over(temporary: Path, target: Path) -> None:
    """Write the content of the temporary file over that of the target; first make room for it."""
    length = temporary.stat().st_size
    with temporary.open("rb") as source, target.open("r+b") as file:
        before = os.fstat(file.fileno()).st_size
        if hasattr(os, "posix_fallocate") and length:
            try:
                os.posix_fallocate(file.fileno(), 0, length)
            except OSError:  # the disk is full: nothing is lost yet
                file.truncate(before)
                raise
        shutil.copyfileobj(source, file)
        file.truncate()
    sync(target)


def _short_stem(path: Path) -> str:
    """Return the stem of a file's name, cut so that a temporary name has room for its own part."""
    stem = os.fsencode(path.stem)
    return path.stem if len(stem) <= _LONGEST_STEM else stem[:_LONGEST_STEM].decode(errors="ignore")


@contextmanager
def _locked_while_open(descriptor: int) -> Iterator[None]:
    """Hold the lock of a file until the block ends; close the file at once if there are no locks.

    Windows renames no file that is open.
    """
    is_locked = try_lock(descriptor)
    if not is_locked:
        os.close(descriptor)
    try:
        yield
    finally:
        if is_locked:
            os.close(descriptor)


def _remove_left(path: Path) -> None:
    """Remove temporary files of `path` that nobody locks; none where there are no locks.

    What can't be removed, as others' files, stays.
    """
    with suppress(OSError):
        for temporary in temporary_files(path):
            if time.time() - temporary.stat().st_mtime < _LEFT_AFTER:
                continue
            with suppress(OSError), temporary.open("ab") as file:
                if try_lock(file.fileno()):
                    temporary.unlink()


def check_suffix(path: str | os.PathLike[str], what: str, *suffixes: str) -> None:
    """Raise ValueError unless the name of a file to write ends in one of the suffixes.

    So a slip in a name writes over no file of another kind.
    """
    if Path(path).suffix.lower() not in suffixes:
        raise ValueError(
            f"{what} in {os.fspath(path)!r}: use a name that ends in {' or '.join(suffixes)}"
        )
