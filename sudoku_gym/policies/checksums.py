"""Checksums of folders: of the files that they are copied with, under all of their names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from sudoku_gym.storage.reading import sha256_of

_MOST_FILES = 100_000
_DEEPEST = 200  # folders in each other
_MOST_BYTES = 20_000_000_000  # of all files that count; half a minute of processor time
# Of Python, version control, file managers, editors, linters, network disks.
_BOOKKEEPING = (
    *("__pycache__", ".git", ".hg", ".svn", ".DS_Store", "._*", "Thumbs.db", "desktop.ini"),
    *(".*.sw[a-p]", ".idea", ".vscode", ".ipynb_checkpoints", ".nfs*"),
    *(".mypy_cache", ".pytest_cache", ".ruff_cache"),
)


def files_below(folder: Path) -> tuple[list[Path], dict[Path, Path]]:
    """Return the files below a folder, and of folders with several names what the others stand for.

    They come in a fixed order: the files of such a folder have its first name. What Python, version
    control, the Hub's client, editors and the like keep there for themselves is none of it, for it
    differs from copy to copy, and so are this package's locks, which are empty.

    Raises:
        ValueError: if they are too many, or lie too deep.
    """
    files, links, seen = list[Path](), dict[Path, Path](), dict[str, Path]()
    for base, folders, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(base)
        if real in seen:  # by a link, to a folder above perhaps
            links[Path(base)] = seen[real]
            folders.clear()
            continue
        seen[real] = Path(base)
        if len(Path(base).relative_to(folder).parts) > _DEEPEST:
            raise ValueError(f"{folder}: more than {_DEEPEST} folders in each other below it")
        folders[:] = sorted(name for name in folders if not _is_bookkeeping(Path(base, name)))
        paths = (Path(base, name) for name in names)
        # None that is out of reach.
        files += (path for path in paths if os.path.isfile(path) and not _is_bookkeeping(path))
        if len(files) > _MOST_FILES:
            raise ValueError(
                f"{folder}: more than {_MOST_FILES:,} files below it, the last of them in {base}: "
                "remove what is none of it, as links to other folders"
            )
    return sorted(files), links


def _is_bookkeeping(path: Path) -> bool:
    if path.name.startswith(".") and path.suffix == ".lock":
        return os.path.isfile(path) and os.path.getsize(path) == 0
    if any(fnmatchcase(path.name, pattern) for pattern in _BOOKKEEPING):
        return True
    return path.parts[-2:] == (".cache", "huggingface")


def files_checksum(
    folder: Path, files: Iterable[Path], links: Mapping[Path, Path] = MappingProxyType({})
) -> str:
    """Return the SHA-256 of the contents of files and of their names in a folder.

    Args:
        folder: which the names begin in.
        files: in their order.
        links: folders in it that are others by another name, and these.

    Raises:
        ValueError: if the files are too long in all; the message names the largest.
    """
    sizes = {file: file.stat().st_size for file in files}
    if sum(sizes.values()) > _MOST_BYTES:
        raise ValueError(
            f"{folder}: the files that a policy is made of have more than {_MOST_BYTES:,} bytes, "
            f"the largest of them {max(sizes, key=sizes.__getitem__)}: move elsewhere what is "
            "none of it"
        )
    sums = sha256()
    for file in sizes:
        sums.update(_line(sha256_of(file), file.relative_to(folder)))
    for link, other in links.items():
        name = sha256(os.fsencode(other.relative_to(folder).as_posix())).hexdigest()
        sums.update(b"link " + _line(name, link.relative_to(folder)))
    return sums.hexdigest()


def _line(digest: str, path: Path) -> bytes:
    """Return a line as `sha256sum` writes it."""
    name = path.as_posix()
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n")
    mark = "" if escaped == name else "\\"
    return f"{mark}{digest}  {escaped}\n".encode(errors="surrogateescape")
