"""Files that may be a stranger's: read only if they are regular and of a sensible size."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

LONGEST_CONFIG = 1_000_000  # bytes; ours have about two thousand


def read_json(path: Path, longest: int = LONGEST_CONFIG) -> Any:
    """Return what a JSON file of a stranger holds.

    Args:
        path: of the file.
        longest: how many bytes it may have.

    Raises:
        OSError: if it can't be read.
        ValueError: if it is no regular file, too long, or no JSON.
        RecursionError: if it is nested too deeply.
    """
    return json.loads(read_short(path, longest).decode("utf-8"))


def read_short(path: Path, longest: int) -> bytes:
    """Read a short file; what is none could be waited for, or read, without end.

    Raises:
        OSError: if it can't be read.
        ValueError: if it is no regular file, or longer.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("it is no regular file")
    with path.open("rb") as file:
        content = file.read(longest + 1)
    if len(content) > longest:
        raise ValueError(f"it has more than {longest:,} bytes")
    return content
