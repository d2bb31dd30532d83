"""Read JSON and arrays; an error names the file in one line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; to be called in an `error_context`."""
    if path.stat().st_size > 2**26:  # shipped configurations have about 2,000
        raise ValueError(f"it has more than {2**26:,} bytes")
    return json.loads(path.read_text("utf-8"))


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return all arrays of a file that `np.savez` wrote, by name; nothing is unpickled.

    A ValueError names a file that is missing, damaged, or holds pickled objects.
    """
    with error_context(path), path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        return dict(stored)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return sha256(path.read_bytes()).hexdigest()


@contextmanager
def error_context(path: Path | str, problem: str = "the file is damaged") -> Iterator[None]:
    """Turn any error about what a path holds into a ValueError of one line that names the path.

    Damaged bytes may raise anything, so every kind of error is taken.
    """
    try:
        yield
    except Exception as error:
        if type(error) is FileNotFoundError:
            raise ValueError(f"{path}: the file is missing") from error
        kind = "" if type(error) is ValueError and str(error) else f"{type(error).__name__}: "
        why = " ".join(f"{kind}{error}".split())[:400]
        raise ValueError(f"{path}: {problem} ({why})") from error
