"""Read untrusted npz files: boards row by row, or all arrays. Nothing is unpickled.

Headers are checked first and rows are read when asked for, so memory grows with what is taken and
not with what a header claims.
"""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import isqrt, prod
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from sudoku_gym.geometry import MAX_SIZE
from sudoku_gym.storage.reading import describe_error

_READ_WHOLE = 2**25  # numbers; an array stored column by column has no rows to read one by one
_READ_AT_ONCE = 2**17  # of these
_SMALL = 10 * 2**20  # bytes of boards
_MOST_RATIO = 100  # bytes of boards, beyond these, to one of the file; the banks have 2 to 6
_LONGEST_DIRECTORY = 2**20  # bytes; an array takes 60 or so
_LONGEST_HEADER = 10_000  # bytes, as numpy has it; but numpy reads a longer one before it refuses


def read_board_arrays(
    path: Path, puzzle_names: Sequence[str], solution_names: Sequence[str], most: int
) -> Iterator[tuple[NDArray[np.int8], NDArray[np.int8], float]]:
    """Yield puzzles and solutions, int8 `[<= most, N, N]` each, and the share of rows read so far.

    Values outside int8's digits come as -1 or 26; solutions that are not stored as zeros. Of each
    list of names the first array that exists is read; there may be none with solutions.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is no npz file, lacks the puzzles, their shape or type is not that of
            boards, or the data is damaged; the message names the file.
    """
    _check_regular(path)
    with _naming(path), ExitStack() as files:
        archive = files.enter_context(_open_archive(path))
        puzzles = _open_first(archive, puzzle_names, files)
        solutions = _open_first(archive, solution_names, files)
        if puzzles is None:
            raise _Refused("holds no array `puzzles`, int8 [M, N, N]")
        size = path.stat().st_size
        claimed = sum(each.header.claimed for each in (puzzles, solutions) if each)
        if claimed > max(_MOST_RATIO * size, _SMALL):
            raise _Refused(
                f"holds {claimed:,} bytes of boards in a file of {size:,}: no puzzles are so alike"
            )
        if solutions is not None and solutions.header.shape != puzzles.header.shape:
            raise _Refused("puzzles and solutions must be integers of one shape")
        while len(taken := puzzles.take(most)):
            stored = np.zeros_like(taken) if solutions is None else solutions.take(most)
            yield taken, stored, puzzles.share


def read_arrays(path: Path, most: int | None = None) -> dict[str, NDArray[Any]]:
    """Return all arrays of a file that `np.savez` wrote, by name; whatever type they have.

    Args:
        path: of the file.
        most: bytes that the file, and the arrays of a compressed one, may have; None: nothing may
            be compressed, so memory is no more than the file has bytes.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is no such file, too long, or damaged; the message names it.
    """
    _check_regular(path)
    length = path.stat().st_size
    methods = [zipfile.ZIP_STORED]
    if most is not None:
        if length > most:
            raise ValueError(f"{path}: it has more than {most:,} bytes")
        length, methods = most, [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]
    with _naming(path), _open_archive(path) as archive:
        arrays = {}
        for member in archive.infolist():
            length -= member.file_size  # members may overlap, and share their bytes
            if length < 0 and most is not None:
                raise _Refused(f"its arrays have more than {most:,} bytes")
            if member.compress_type not in methods or length < 0:
                raise _Refused(f"{member.filename!r:.80} is not stored as numpy's savez does")
            with archive.open(member) as stream:
                arrays[member.filename.removesuffix(".npy")] = _read_array(stream, member.file_size)
        return arrays


def _check_regular(path: Path) -> None:
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for
        raise ValueError(f"{path}: no readable npz file of plain arrays (no regular file)")


def _read_array(stream: IO[bytes], length: int) -> NDArray[Any]:
    header = _read_header(stream)
    if header.dtype.hasobject:
        raise _Refused("no readable npz file of plain arrays (it holds pickled objects)")
    _check_claim(header, length - stream.tell())
    values = np.frombuffer(_read(stream, header.claimed), header.dtype)
    _check_end(stream)
    return values.reshape(header.shape, order="F" if header.by_columns else "C").copy()


class _Refused(ValueError):
    """An error whose message is complete."""


class _Bounded(io.FileIO):
    """A file of which `most` bytes are read at once."""

    most = _LONGEST_DIRECTORY

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0:
            size = self.most
        if size > self.most:
            raise _Refused(f"lists arrays in {size:,} bytes, and may take {self.most:,} for it")
        return super().read(size) or b""


@contextmanager
def _open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip file with a short directory, which zipfile reads whole, whatever is asked for."""
    with _Bounded(path) as file, zipfile.ZipFile(file) as archive:
        file.most = path.stat().st_size
        yield archive


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Turn whatever comes out of damaged bytes into a ValueError that names the file."""
    try:
        yield
    except _Refused as error:
        raise ValueError(f"{path}: {error}") from None
    except Exception as error:  # zipfile, zlib, numpy and ast have a dozen kinds for it
        what = describe_error(error, 200)
        raise ValueError(f"{path}: no readable npz file of plain arrays ({what})") from None


class _Header(NamedTuple):
    """The header of an array."""

    shape: tuple[int, ...]
    by_columns: bool
    dtype: np.dtype[Any]

    @property
    def claimed(self) -> int:
        """The number of bytes of data that should follow."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def size(self) -> int:
        """N, of boards."""
        return self.shape[1] if len(self.shape) == 3 else isqrt(self.shape[1])


class _Array:
    """One array of the file: checked, and not yet read."""

    def __init__(self, stream: IO[bytes], length: int) -> None:
        self.header = _read_header(stream)
        _check_boards(self.header)
        _check_claim(self.header, length - stream.tell())
        self._stream = stream
        self._left = self.header.shape[0]
        self._columns: NDArray[np.int8] | None = None
        if self.header.by_columns:
            count = prod(self.header.shape)
            if count > _READ_WHOLE:
                raise _Refused(
                    f"holds {count:,} numbers column by column, and may hold {_READ_WHOLE:,} so: "
                    "save np.ascontiguousarray(puzzles)"
                )
            values = np.empty(count, np.int8)
            for start in range(0, count, _READ_AT_ONCE):
                part = values[start : start + _READ_AT_ONCE]
                part[:] = self._read_digits(len(part))
            self._columns = values.reshape(self.header.shape, order="F")

    @property
    def share(self) -> float:
        """The share of the rows that were taken, 0 to 1."""
        return 1 - self._left / self.header.shape[0]

    def take(self, most: int) -> NDArray[np.int8]:
        count, size = min(most, self._left), self.header.size
        if self._columns is not None:
            start = len(self._columns) - self._left
            boards = self._columns[start : start + count]
        else:
            boards = self._read_digits(count * size**2)
        self._left -= count
        if not self._left:
            _check_end(self._stream)
        return boards.reshape(count, size, size)

    def _read_digits(self, count: int) -> NDArray[np.int8]:
        dtype = self.header.dtype
        values = np.frombuffer(_read(self._stream, count * dtype.itemsize), dtype)
        least = -1 if values.dtype.kind == "i" else 0  # numpy 2.0 compares no unsigned with -1
        return np.clip(values, least, MAX_SIZE + 1).astype(np.int8)


def _open_first(archive: zipfile.ZipFile, names: Sequence[str], files: ExitStack) -> _Array | None:
    for name in names:
        found = [each for each in archive.infolist() if each.filename in (name, f"{name}.npy")]
        if len(found) > 1:
            raise _Refused(f"holds {len(found):,} arrays `{name}`")
        for member in found:
            # What savez writes; the others take long to refuse what is no array.
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise _Refused("is compressed in a way that numpy's savez does not use")
            return _Array(files.enter_context(archive.open(member)), member.file_size)
    return None


def _read(stream: IO[bytes], length: int) -> bytes:
    data = stream.read(length)
    if len(data) != length:
        raise _Refused("no readable npz file of plain arrays (it ends too early)")
    return data


def _check_end(stream: IO[bytes]) -> None:
    if stream.read(1):  # at the end zipfile compares the checksum
        raise _Refused("no readable npz file of plain arrays (it is longer than it says)")


def _read_header(stream: IO[bytes]) -> _Header:
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise _Refused(f"no readable npz file of plain arrays (header version {version})")
    is_first = version == (1, 0)
    prefix = _read(stream, 2 if is_first else 4)
    length = int.from_bytes(prefix, "little")
    if length > _LONGEST_HEADER:
        raise _Refused(f"a header of {length:,} bytes, where {_LONGEST_HEADER:,} are allowed")
    read = npy.read_array_header_1_0 if is_first else npy.read_array_header_2_0
    return _Header(*read(io.BytesIO(prefix + _read(stream, length))))


def _check_claim(header: _Header, left: int) -> None:
    if not all(type(length) is int and length >= 0 for length in header.shape):
        raise _Refused(f"no readable npz file of plain arrays (shape {header.shape!s:.100})")
    if header.claimed != left:
        raise _Refused(
            "no readable npz file of plain arrays (a header claims "
            f"{f'{header.claimed:,}':.40} bytes, and there are {left:,})"
        )


def _check_boards(header: _Header) -> None:
    shape = header.shape
    if header.dtype.kind not in "iu":  # numpy calls a time span an integer too
        raise _Refused(f"puzzles and solutions must be integers of one shape, not {header.dtype}")
    is_shape = all(type(length) is int and length > 0 for length in shape)  # True is no length
    if len(shape) not in (2, 3) or not is_shape or shape[1:] != _board_shape(header):
        raise _Refused(f"puzzles must be [M, N, N] or [M, N**2], not {shape!s:.100}")


def _board_shape(header: _Header) -> tuple[int, ...]:
    """Return the shape that a board should have, given its first length."""
    size = min(header.size, MAX_SIZE)
    return (size, size) if len(header.shape) == 3 else (size**2,)
