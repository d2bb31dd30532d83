"""Atomic writes: to a temporary file in the same folder, which is synced, then renamed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write; at the end it is synced and replaces `path`.

    Where the block raises, the temporary file is removed and `path` stays as it was. The
    temporary path lies in the same folder and ends in the same suffix; it is a new, empty file, so
    nothing is written through a link that lay there. An OSError names `path`.
    """
    target = Path(path)
    temporary = temporary_path(target)
    try:
        with naming_file(target, temporary):
            temporary.unlink(missing_ok=True)
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
            yield temporary
            sync(temporary)
            os.replace(temporary, target)
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


def write_json(path: str | os.PathLike[str], content: Any, indent: int = 2) -> None:
    """Write JSON atomically."""
    write_text(path, json.dumps(content, indent=indent) + "\n")


def temporary_path(path: Path) -> Path:
    """Return the temporary path used to write `path`; it remains only if the process dies."""
    return path.with_name(f".{path.stem}.draft{path.suffix}")


def sync(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, would survive a power cut."""
    if os.name != "posix":  # Windows opens no folder, and syncs no file that is open for reading
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
