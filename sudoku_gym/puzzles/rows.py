"""The rows of a list of puzzles, chunk by chunk: text, CSV and npz.

Text (`.txt`, `.sdk`) has one board a line, or one row of a board a line; lines that begin with `#`
and headings such as `Grid 01` are passed over. CSV has the headers of the public lists
(`quizzes,solutions`, `puzzle,solution`, `source,question,answer,rating`); under others, or none,
the first two columns are taken. Blanks are `. 0 - _ *`; in a board with `.` and `0`, and without
the digit N, digits are counted from 0. npz holds integers `puzzles` and `solutions`, `[M, N, N]` or
`[M, N**2]`; nothing is unpickled.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from math import isfinite, isqrt
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.geometry import MAX_SIZE, Geometry, geometry_for
from sudoku_gym.puzzles.puzzle_set import NOT_KNOWN
from sudoku_gym.storage.reading import error_context

_MOST_BYTES = 2**33
_PUZZLE_HEADERS = ("puzzle", "puzzles", "quiz", "quizzes", "question", "sudoku", "unsolved")
_SOLUTION_HEADERS = ("solution", "solutions", "answer", "solved")
_HEADING = re.compile(r"#|//|\[|[A-Za-z]{3,}\W*\d+\W*$")
_SEPARATORS = str.maketrans("_*", "..", " \t\r\n|+,;")
_SIZES = tuple(n for n in range(4, MAX_SIZE + 1) if any(n % k == 0 for k in range(2, n)))
_COUNTED_FROM_0 = str.maketrans("0" + board.SYMBOLS[1:-1], board.SYMBOLS[1:])
_codes = np.full(256, MAX_SIZE + 1, np.uint8)  # no digit
for _digit, _symbol in enumerate(board.SYMBOLS):
    _codes[[ord(_symbol), ord(_symbol.lower())]] = _digit
_codes[[ord(_blank) for _blank in "0-_*"]] = 0
_DIGIT_OF_CODE = _codes.tobytes()


class _Row(NamedTuple):
    line: int
    puzzle: str
    solution: str = ""
    source: str = ""
    rating: str = ""


class PuzzleRows(NamedTuple):
    """B rows of a file, which parse as boards and are not checked otherwise."""

    geometry: Geometry
    share: float  # of the file that is read with these rows, 0 to 1; 0 for a pipe
    lines: NDArray[np.int64]  # [B], their numbers in the file, from 1
    puzzles: NDArray[np.int8]  # [B, N, N]
    solutions: NDArray[np.int8]  # [B, N, N], zeros where none is stored
    ratings: NDArray[np.float64]  # [B], NOT_KNOWN where none is stored
    sources: NDArray[np.str_]  # [B], empty where none is stored


def bad_row(path: Path, line: int, problem: str) -> ValueError:
    """Return the error that names a row of a file, counted from 1."""
    return ValueError(f"{path}, {'row' if path.suffix == '.npz' else 'line'} {line}: {problem}")


def read_rows(
    path: Path,
    geometry: Geometry | None,
    chunk: int,
    with_solutions: bool = True,
) -> Iterator[PuzzleRows]:
    """Yield the rows of a file, at most `chunk` at a time; ValueError at the first bad one.

    Without `with_solutions`, those of CSV rows are passed over, and so are their ratings.
    """
    size = path.stat().st_size  # 0 for a pipe
    if size > _MOST_BYTES:
        raise ValueError(f"{path}: {size:,} bytes, more than {_MOST_BYTES:,}: divide it")
    if path.suffix == ".npz":
        yield from _read_npz(path, geometry, chunk)
        return
    with path.open(encoding="utf-8-sig", newline="" if path.suffix == ".csv" else None) as text:
        if path.suffix == ".csv":
            rows = _csv_rows(text, path)
        else:
            rows = _text_rows(text, geometry, path.suffix == ".sdk")
        try:
            while batch := list(islice(rows, chunk)):
                if not with_solutions:
                    batch = [row._replace(solution="", rating="") for row in batch]
                geometry = geometry or _first_geometry(batch)
                share = min(os.lseek(text.fileno(), 0, os.SEEK_CUR) / size, 1.0) if size else 0.0
                yield _parse(batch, geometry or Geometry.standard(9), path, share)
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{path}: no text of UTF-8 ({error.reason}): save, or unpack, it"
            ) from None


def _text_rows(lines: Iterable[str], geometry: Geometry | None, in_grids: bool) -> Iterator[_Row]:
    """Yield the boards of a text, one a line, or one row a line; its first board says which."""
    size = geometry.size if geometry else 0
    first, grid = 0, list[str]()
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        is_heading = _HEADING.match(text) is not None
        cells = "" if is_heading else _cells(text, size)
        size = size or (_size_of(len(cells), in_grids) if cells else 0)
        is_row = bool(cells) and len(cells) == size
        if grid and (is_heading or (cells and not is_row)):
            yield _Row(first, "".join(grid))  # too short, which is told when it is parsed
            grid = []
        if is_row:
            first = first if grid else number
            grid.append(cells)
            if len(grid) == size:
                yield _Row(first, "".join(grid))
                grid = []
        elif cells:
            yield _Row(number, cells)
    if grid:
        yield _Row(first, "".join(grid))


def _cells(text: str, size: int) -> str:
    """Return the symbols of a board, or of its rows; empty for a rule between drawn boxes."""
    plain = text.translate(_SEPARATORS)
    if "-" not in plain:
        return plain
    if "+" in text and not plain.strip("-="):
        return ""
    counts = (size, size**2) if size else (*_SIZES, *(n * n for n in _SIZES))
    return plain.replace("-", "." if len(plain) in counts else "")


def _size_of(count: int, in_grids: bool) -> int:
    """Return N if a line of so many symbols is a board, or a row of one; else 0."""
    if isqrt(count) ** 2 == count and isqrt(count) in _SIZES and not in_grids:
        return isqrt(count)
    return count if count in _SIZES else 0


def _csv_rows(lines: Iterable[str], path: Path) -> Iterator[_Row]:
    # Strict: else a quote that nothing closes hides all that follows.
    reader = csv.reader(lines, strict=True)
    places: list[int | None] = []  # of puzzle, solution, source, rating
    while True:
        first = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problem = f"no row of a CSV file ({error}), with the lines up to {reader.line_num}"
            raise bad_row(path, first, problem) from None
        if not any(fields):
            continue
        if not places:
            places, is_header = _columns(fields)
            if is_header:
                continue
        values = (fields[i].strip() if i is not None and i < len(fields) else "" for i in places)
        yield _Row(reader.line_num, *values)


def _columns(fields: Sequence[str]) -> tuple[list[int | None], bool]:
    """Return where puzzle, solution, source and rating stand, and whether `fields` is a header."""
    names = [field.strip().lower() for field in fields]
    headers = (_PUZZLE_HEADERS, _SOLUTION_HEADERS, ("source",), ("rating",))
    places = [
        next((names.index(each) for each in group if each in names), None) for group in headers
    ]
    if places[0] is not None:
        return places, True
    return [0, 1, None, None], names[0].isidentifier() and names[0].isalpha()


def _first_geometry(rows: Iterable[_Row]) -> Geometry | None:
    for row in rows:
        with suppress(ValueError):
            return geometry_for(len(board.parse(_cells(row.puzzle, 0))), None)
    return None


def _parse(rows: Sequence[_Row], geometry: Geometry, path: Path, share: float) -> PuzzleRows:
    rows = [_counted_from_1(row, geometry.size) for row in rows]
    none = "." * geometry.num_cells
    puzzles = _plain_boards([row.puzzle for row in rows], geometry)
    solutions = _plain_boards([row.solution or none for row in rows], geometry)
    ratings = np.full(len(rows), NOT_KNOWN, np.float64)
    is_plain = puzzles is not None and solutions is not None
    if puzzles is None or solutions is None:
        puzzles, solutions = np.zeros((2, len(rows), geometry.size, geometry.size), np.int8)
    for index, row in enumerate(rows):
        try:
            if not is_plain:
                puzzles[index] = _board(row.puzzle, geometry)
                solutions[index] = _board(row.solution or none, geometry)
            ratings[index] = _rating(row.rating)
        except ValueError as error:
            raise bad_row(path, row.line, str(error)) from None
    lines = np.array([row.line for row in rows])
    sources = np.array([row.source for row in rows], np.str_)
    return PuzzleRows(geometry, share, lines, puzzles, solutions, ratings, sources)


def _board(text: str, geometry: Geometry) -> NDArray[np.int8]:
    if not text:
        raise ValueError("the row has no puzzle")
    return board.parse(_cells(text, geometry.size), geometry)


def _plain_boards(texts: Sequence[str], geometry: Geometry) -> NDArray[np.int8] | None:
    """Parse plain lines in one go, int8 `[B, N, N]`; None if one is something else."""
    if set(map(len, texts)) != {geometry.num_cells}:
        return None
    codes = "".join(texts).encode("latin-1", "replace").translate(_DIGIT_OF_CODE)
    digits = np.frombuffer(codes, np.int8).reshape(-1, geometry.size, geometry.size).copy()
    return digits if digits.max() <= geometry.size else None


def _rating(text: str) -> float:
    """Return a rating, `NOT_KNOWN` for an empty text."""
    if not text:
        return NOT_KNOWN
    with suppress(ValueError):
        if isfinite(rating := float(text)) and rating >= 0:
            return rating
    raise ValueError(f"the rating {text[:40]!r} is no number from 0 on")


def _counted_from_1(row: _Row, size: int) -> _Row:
    """Return a row with the digits 1 to N, of one that may have 0 to N - 1 and `.` for blanks."""
    if "0" not in row.puzzle or "." not in row.puzzle:
        return row
    puzzle, solution = row.puzzle.upper(), row.solution.upper()
    if board.SYMBOLS[size] in puzzle:
        return row
    return row._replace(
        puzzle=puzzle.translate(_COUNTED_FROM_0), solution=solution.translate(_COUNTED_FROM_0)
    )


def _read_npz(path: Path, geometry: Geometry | None, chunk: int) -> Iterator[PuzzleRows]:
    with path.open("rb") as file, error_context(path, "no readable npz file of puzzles"):
        puzzles, solutions = _npz_boards(file)
        geometry = geometry_for(puzzles.shape[1], geometry)
    count, most = len(puzzles), geometry.size
    is_digit = (puzzles >= 0) & (puzzles <= most) & (solutions >= 0) & (solutions <= most)
    good: NDArray[np.bool_] = np.logical_and.reduce(is_digit, axis=(1, 2))
    for start in range(0, count, chunk):
        lines = np.arange(start, min(start + chunk, count)) + 1
        part = slice(start, start + chunk)
        for line in lines[~good[part]].tolist():
            raise bad_row(path, line, f"a value is no digit of a {geometry.name} board")
        boards = puzzles[part].astype(np.int8), solutions[part].astype(np.int8)
        unknown = np.full(len(lines), NOT_KNOWN, np.float64), np.full(len(lines), "")
        share = lines[-1] / count
        yield PuzzleRows(geometry, share, lines, *boards, *unknown)


def _npz_boards(file: BinaryIO) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Return puzzles and solutions, zeros where there are none, `[M, N, N]` each."""
    with np.load(file, allow_pickle=False) as stored:
        names = [name for name in _PUZZLE_HEADERS if name in stored]
        if not names:
            raise ValueError("it holds no array `puzzles`, int8 [M, N, N]")
        puzzles = stored[names[0]]
        names = [name for name in _SOLUTION_HEADERS if name in stored]
        solutions = stored[names[0]] if names else np.zeros(puzzles.shape, np.int8)
    if {puzzles.dtype.kind, solutions.dtype.kind} - {*"iu"} or solutions.shape != puzzles.shape:
        raise ValueError("puzzles and solutions must be integers of one shape")
    count, size = puzzles.shape[0], isqrt(puzzles[0].size)
    if puzzles.shape[1:] not in ((size, size), (size**2,)):
        raise ValueError(f"puzzles must be [M, N, N] or [M, N**2], not {list(puzzles.shape)}")
    return puzzles.reshape(count, size, size), solutions.reshape(count, size, size)
