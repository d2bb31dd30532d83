"""The rows of a list of puzzles, chunk by chunk: text, CSV and npz.

Text (`.txt`, `.sdk`) has one board a line, or one row of a board a line. Lines that begin with `#`
or `//` are passed over, and headings such as `Grid 01`, `Puzzle A:` or `[Puzzle]` part grids. CSV
has commas, semicolons, tabs or `|` between columns, under the headers of the public lists
(`quizzes,solutions`, `source,question,answer,rating`, `puzzle,solution,clues,difficulty`); under
others, or none, the first column that holds a board with blanks is the puzzle, one that holds a
full board the solution. A difficulty in words is no rating. Blanks and digits are as `board.parse`
reads them. npz holds integers `puzzles` and `solutions`, `[M, N, N]` or `[M, N**2]`; nothing is
unpickled.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice
from math import isfinite, isqrt
from pathlib import Path
from typing import BinaryIO, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.board.notation import SIZES, symbols_of
from sudoku_gym.geometry import MAX_SIZE, Geometry, geometry_for
from sudoku_gym.puzzles.puzzle_set import NOT_KNOWN
from sudoku_gym.storage.reading import error_context

_MOST_BYTES = 2**33
_PUZZLE_HEADERS = ("puzzle", "puzzles", "quiz", "quizzes", "question", "sudoku", "unsolved")
_SOLUTION_HEADERS = ("solution", "solutions", "answer", "solved")
_RATING_HEADERS = ("rating", "difficulty")
_WORDS = re.compile(r"[A-Za-z]{3,}[A-Za-z\W]*\d*\W*$")  # a title, or a row with large digits
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
    path: Path, geometry: Geometry | None, chunk: int, with_solutions: bool = True
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
                yield _parse(batch, geometry, path, share)
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
        if text.startswith(("#", "//")):
            continue
        cells = symbols_of(text, size)
        is_heading = text.startswith("[") or _is_title(text, cells, size)
        cells = "" if is_heading else cells
        size = size or (_size_of(cells, in_grids) if cells else 0)
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


def _is_title(text: str, cells: str, size: int) -> bool:
    """Whether a line is words, with a number at most, and no board nor row with large digits."""
    size = size or _size_of(cells, False)
    fits = len(cells) in (size, size**2) and {*cells.upper()} <= _symbols(size)
    return _WORDS.match(text) is not None and not fits


def _size_of(cells: str, in_grids: bool) -> int:
    """Return N if the cells of a line are a board, or a row of one with larger digits; else 0."""
    count, size = len(cells), isqrt(len(cells))
    is_board = size in SIZES and size**2 == count and not in_grids
    if is_board and (count not in SIZES or {*cells.upper()} <= _symbols(size)):
        return size
    return count if count in SIZES else 0


def _symbols(size: int) -> set[str]:
    return {*board.SYMBOLS[: size + 1], "0"}


def _csv_rows(text: TextIO, path: Path) -> Iterator[_Row]:
    start = text.readline()
    delimiter = max(",;\t|", key=start.count)
    # Strict: else a quote that nothing closes hides all that follows.
    reader = csv.reader(chain([start], text), delimiter=delimiter, strict=True)
    header: list[str] = []
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
        if not header:
            header = [field.strip().lower() for field in fields]
            places = [
                next((header.index(each) for each in group if each in header), None)
                for group in (_PUZZLE_HEADERS, _SOLUTION_HEADERS, ("source",), _RATING_HEADERS)
            ]
            is_named = all(field[:1].isalpha() for field in header if field)
            if places[0] is not None or (is_named and not any(map(_is_board, fields))):
                continue
        if places[0] is None:
            places[:2] = _board_columns(fields, path, first)
        values = [fields[i].strip() if i is not None and i < len(fields) else "" for i in places]
        if values[3][:1].isalpha() and "rating" not in header:
            values[3] = ""  # a difficulty in words
        yield _Row(reader.line_num, *values)


def _board_columns(fields: Sequence[str], path: Path, line: int) -> tuple[int, int | None]:
    """Return the column of the puzzle, and that of the solution if there is one, by a row."""
    boards = {i: symbols_of(field) for i, field in enumerate(fields) if _is_board(field)}
    blank = "." if "." in "".join(boards.values()) else "0"
    puzzles = [i for i, symbols in boards.items() if blank in symbols]
    if len(puzzles) != 1:
        found = "several columns hold" if puzzles else "no column holds"
        known = f"{', '.join(_PUZZLE_HEADERS[:-1])} or {_PUZZLE_HEADERS[-1]}"
        problem = f"{found} a board with blanks: name that of the puzzles in the header, {known}"
        raise bad_row(path, line, problem)
    full = [i for i in boards if i not in puzzles and len(boards[i]) == len(boards[puzzles[0]])]
    return puzzles[0], full[0] if full else None


def _is_board(field: str) -> bool:
    symbols = symbols_of(field)
    size = _size_of(symbols, in_grids=False)
    return size**2 == len(symbols) > 0 and {*symbols.upper()} <= _symbols(MAX_SIZE)


def _first_geometry(rows: Iterable[_Row]) -> Geometry:
    symbols = (symbols_of(row.puzzle) for row in rows)
    sizes = (isqrt(len(each)) for each in symbols if isqrt(len(each)) ** 2 == len(each))
    return Geometry.standard(next((size for size in sizes if size in SIZES), 9))


def _parse(rows: Sequence[_Row], geometry: Geometry, path: Path, share: float) -> PuzzleRows:
    ratings = np.full(len(rows), NOT_KNOWN, np.float64)
    for index, row in enumerate(rows):
        with _in_row(path, row.line):
            ratings[index] = _rating(row.rating)
    none = "." * geometry.num_cells
    puzzles = _plain_boards([row.puzzle for row in rows], geometry)
    solutions = _plain_boards([row.solution or none for row in rows], geometry)
    if puzzles is None or solutions is None:
        puzzles, solutions = np.zeros((2, len(rows), geometry.size, geometry.size), np.int8)
        for index, row in enumerate(rows):
            with _in_row(path, row.line):
                puzzles[index] = _board(row.puzzle, geometry)
                solutions[index] = _board(row.solution or none, geometry)
    lines = np.array([row.line for row in rows])
    sources = np.array([row.source for row in rows], np.str_)
    return PuzzleRows(geometry, share, lines, puzzles, solutions, ratings, sources)


@contextmanager
def _in_row(path: Path, line: int) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise bad_row(path, line, str(error)) from None


def _board(text: str, geometry: Geometry) -> NDArray[np.int8]:
    if not text:
        raise ValueError("the row has no puzzle")
    return board.parse(text, geometry)


def _plain_boards(texts: Sequence[str], geometry: Geometry) -> NDArray[np.int8] | None:
    """Parse plain lines in one go, int8 `[B, N, N]`; None if one is something else."""
    if set(map(len, texts)) != {geometry.num_cells} or any("0" in t and "." in t for t in texts):
        return None
    codes = "".join(texts).encode("latin-1", "replace").translate(_DIGIT_OF_CODE)
    digits = np.frombuffer(codes, np.int8).reshape(-1, geometry.size, geometry.size).copy()
    return digits if digits.max() <= geometry.size else None


def _rating(text: str) -> float:
    """Return a rating, `NOT_KNOWN` for an empty text."""
    if not text:
        return NOT_KNOWN
    with suppress(ValueError):
        if isfinite(rating := float(text.replace(",", "."))) and rating >= 0:
            return rating
    raise ValueError(f"the rating {text[:40]!r} is no number from 0 on")


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
