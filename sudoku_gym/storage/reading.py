"""Read files: UTF-8 text, JSON and arrays; an error names the file in one line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

LONGEST_CONFIG = 1_000_000  # bytes; shipped configurations have about 2,000


def open_text(path: Path, newline: str | None = None) -> TextIO:
    """Open a file of UTF-8, with or without a byte order mark, in any locale."""
    return path.open(encoding="utf-8-sig", newline=newline)


def read_json(path: Path, longest: int = LONGEST_CONFIG) -> Any:
    """Return the content of a JSON file of at most `longest` bytes.

    Raises:
        OSError: if it can't be read.
        ValueError: if it is too long, or no JSON.
        RecursionError: if it is nested too deeply.
    """
    with path.open("rb") as file:
        content = file.read(longest + 1)
    if len(content) > longest:
        raise ValueError(f"it has more than {longest:,} bytes")
    return json.loads(content.decode("utf-8"))


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return all arrays of a file that `np.savez` wrote, by name; nothing is unpickled.

    Raises:
        ValueError: if it is missing, damaged, or holds pickled objects; the message names it.
    """
    with error_context(path), path.open("rb") as file:
        with np.load(file, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def error_context(path: Path | str, problem: str = "the file is damaged") -> Iterator[None]:
    """Turn any error about what a path holds into a ValueError of one line that names the path.

    Damaged bytes may raise anything, so every kind of error is taken.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise ValueError(f"{path}: the file is missing") from error
    except Exception as error:
        raise ValueError(f"{path}: {problem} ({describe_error(error)})") from error


def describe_error(error: BaseException, longest: int = 400) -> str:
    """Return an error in one line of at most so many characters; only ValueError is not named."""
    message = str(error)
    kind = "" if type(error) is ValueError and message else type(error).__name__
    return " ".join(": ".join(filter(None, (kind, message))).split())[:longest]
