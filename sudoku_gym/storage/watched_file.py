"""A file that a long command writes again and again, and that others may exchange meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from itertools import count
from pathlib import Path

from sudoku_gym.storage.reading import read_short

_LONGEST = 100_000_000  # bytes; no file of results is as long


class WatchedFile:
    """A file whose content is what was read at first, or was written last, unless others write it.

    Args:
        path: of the file, which need not be there; it is about to be read.

    Attributes:
        path: where it is written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known = _content_of(path)

    def write(self, write: Callable[[Path], None]) -> None:
        """Let `write` write the file, whole.

        Raises:
            ValueError: if another program has exchanged it, as `git pull` does. It stays, and what
                is written stands in a new file beside it, then and from now on.
        """
        others = _content_of(self.path)
        is_another = others not in (None, self._known)
        exchanged = self.path
        if is_another:
            numbered = (exchanged.with_stem(f"{exchanged.stem}-{number}") for number in count(2))
            self.path = next(path for path in numbered if not path.exists())
        write(self.path)
        self._known = _content_of(self.path)
        if is_another:
            raise ValueError(
                f"another program has written {exchanged} since it was read: it is left as it is, "
                f"and what was played is in {self.path}"
            )


def _content_of(path: Path) -> str | None:
    """Return the SHA-256 of a file's content, or why it can't be read; None if it is not there."""
    try:
        return sha256(read_short(path, _LONGEST)).hexdigest()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return str(error)
