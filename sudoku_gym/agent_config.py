"""Which agent plays a checkpoint: what is read of a folder before anything is imported.

The folder may be a stranger's, so its `config.json` is data: it is read only if it is a file of a
sensible size, and the name in it is only looked up.
"""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

CONFIG = "config.json"
LONGEST_CONFIG = 1_000_000  # bytes; ours have about two thousand
_LONGEST_NAME = 200


def agent_of(folder: Path) -> str:
    """Return the name that stands as `"agent"` in a checkpoint's configuration.

    Args:
        folder: of a checkpoint or a run.

    Raises:
        ValueError: if there is no configuration, it is no JSON, or it names no agent.
    """
    path = folder / CONFIG
    try:
        config = read_json(path)
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"{folder} is no checkpoint: it has no {CONFIG}") from None
    except OSError as error:
        raise ValueError(f"{path} can't be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no JSON: {error}") from None
    agent = config.get("agent") if isinstance(config, dict) else None
    if not isinstance(agent, str) or not 0 < len(agent) <= _LONGEST_NAME:
        raise ValueError(f'{path} must name its agent: "agent": the name of an installed policy')
    return agent


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
