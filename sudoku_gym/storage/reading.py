"""Files from third parties: text is UTF-8, JSON of a sensible size and checked in form."""

from __future__ import annotations

import codecs
import hashlib
import json
import os
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

LONGEST_CONFIG = 1_000_000  # bytes; shipped configurations have about 2,000
_MOST_BRACKETS = 200_000  # lists and objects of a file; a large leaderboard has some 40,000
_MOST_VALUES = 5_000_000  # of a file, by its commas; one for each puzzle of a long list
_MOST = 2**53  # beyond it a float holds no counts
_BLOCK = 2**20  # bytes
_UTF16, _UTF32 = (f"the text is {name}; save it as UTF-8" for name in ("UTF-16", "UTF-32"))
_UNPACK = "the file is compressed; unpack it with"
_NO_TEXTS = {
    codecs.BOM_UTF32_LE: _UTF32,  # begins as that of UTF-16
    codecs.BOM_UTF32_BE: _UTF32,
    codecs.BOM_UTF16_LE: _UTF16,
    codecs.BOM_UTF16_BE: _UTF16,
    b"\x1f\x8b": f"{_UNPACK} gzip -d",
    b"\xfd7zXZ\0": f"{_UNPACK} xz -d",
    b"BZh": f"{_UNPACK} bzip2 -d",
    b"\x28\xb5\x2f\xfd": f"{_UNPACK} zstd -d",
    b"PK\3\4": f"{_UNPACK} unzip",
}
TRACEBACK = "SUDOKU_GYM_TRACEBACK"
HOW_TO_SEE_MORE = f"{TRACEBACK}=1 in the environment shows where"
"""For errors that nobody has expected."""


def open_text(path: Path, newline: str | None = None) -> TextIO:
    """Open a file of UTF-8, with or without a byte order mark, in any locale.

    Raises:
        ValueError: if it is UTF-16 or UTF-32, which some editors write, or compressed.
        OSError: if it can't be opened.
    """
    binary = path.open("rb")
    for start, problem in _NO_TEXTS.items():
        if binary.peek(6).startswith(start):
            binary.close()
            raise ValueError(f"{path}: {problem}")
    return TextIOWrapper(binary, encoding="utf-8-sig", errors="replace", newline=newline)


def read_json(path: Path, longest: int = LONGEST_CONFIG) -> Any:
    """Return the content of a JSON file of at most `longest` bytes.

    Values take many times more memory than bytes, so they are counted before they are read.

    Raises:
        OSError: if it can't be read.
        ValueError: if it is no regular file, too long, of too many values, no JSON, or a key stands
            twice in an object: readers differ in which they take.
        RecursionError: if it is nested too deeply.
    """
    content = read_short(path, longest)
    check_json_size(content, longest)
    return json.loads(content.decode("utf-8"), object_pairs_hook=_object)


def check_json_size(content: bytes, longest: int) -> None:
    """Raise ValueError for JSON that `read_json` would refuse by its size."""
    if len(content) > longest:
        raise ValueError(f"it has more than {longest:,} bytes")
    if content.count(b"[") + content.count(b"{") > _MOST_BRACKETS:
        raise ValueError(f"it has more than {_MOST_BRACKETS:,} lists and objects")
    if content.count(b",") > _MOST_VALUES:
        raise ValueError(f"it has more than {_MOST_VALUES:,} values")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        (most, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {most!r:.60} stands there more than once")
    return found


def read_short(path: Path, longest: int) -> bytes:
    """Read a short file; a pipe or a device could block, or be read, without end.

    Raises:
        OSError: if it can't be read.
        ValueError: if it is no regular file, or longer.
    """
    check_regular(path)
    with path.open("rb") as file:
        content = file.read(longest + 1)
    if len(content) > longest:
        raise ValueError(f"it has more than {longest:,} bytes")
    return content


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, of as many bytes as the system says that it has.

    Some files of `/proc` are called empty and have no end.

    Raises:
        OSError: if it can't be read.
        ValueError: if it is no regular file.
    """
    check_regular(path)
    digest = hashlib.sha256()
    with path.open("rb") as file:
        left = os.fstat(file.fileno()).st_size
        while left and (block := file.read(min(left, _BLOCK))):
            digest.update(block)
            left -= len(block)
    return digest.hexdigest()


def check_regular(path: Path) -> None:
    """Raise ValueError if a path is a pipe, a device or a folder, OSError if nothing is there."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("it is no regular file")


@contextmanager
def naming(path: Path | str, problem: str = "the file is damaged") -> Iterator[None]:
    """Turn any error about what a path holds into a ValueError of one line that names the path.

    The path may be a text that says where it comes from. A third party's bytes may raise anything,
    so every kind of error is taken.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise ValueError(f"{path}: the file is missing") from error
    except Exception as error:
        raise ValueError(f"{path}: {problem} ({describe_error(error)})") from error


def describe_error(error: BaseException, longest: int = 400) -> str:
    """Return an error in one line of at most so many characters; only ValueError is not named."""
    try:
        message = str(error)
    except Exception:  # of another's class
        message = ""
    kind = "" if type(error) is ValueError and message else type(error).__name__
    line = " ".join(": ".join(filter(None, (kind, message))).split())[:longest]
    return line.encode(errors="replace").decode()  # half of a pair can be written nowhere


def check_structure(found: Any, example: Any, name: str = "it") -> None:
    """Check that the content of a JSON file has the keys and types of an example.

    Where the example holds None, and inside lists, any type may stand. Every number must be
    finite, at least 0 and below 2**53.

    Raises:
        ValueError: if it differs; the message starts with `name` or the key.
    """
    if example is not None and type(found) is not type(example):
        raise ValueError(f"{name} must be of type {type(example).__name__}, not {found!r:.60}")
    if isinstance(example, dict):
        if found.keys() != example.keys():
            raise ValueError(f"{name} must hold {', '.join(example)}")
        for key in example:
            check_structure(found[key], example[key], key)
    elif isinstance(found, list | dict):
        for each in found.values() if isinstance(found, dict) else found:
            check_structure(each, None, name)
    elif isinstance(found, int | float) and not 0 <= found < _MOST:
        raise ValueError(f"{name} must be a count, not {found!r:.60}")
