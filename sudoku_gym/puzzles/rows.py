"""The rows of a list of puzzles, chunk by chunk, as they stand in a text, CSV or npz file."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple, TextIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.geometry import Geometry, geometry_for
from sudoku_gym.puzzles import npz
from sudoku_gym.puzzles.puzzle_set import NOT_KNOWN
from sudoku_gym.storage.reading import open_text

OnProblem: TypeAlias = Callable[[int, str], None]  # takes a line's number and what is wrong


class _Row(NamedTuple):
    line: int
    puzzle: str
    solution: str = ""
    source: str = ""
    rating: str = ""


class _Columns(NamedTuple):
    """Where a CSV file has what; None where it has no such column."""

    puzzle: int
    solution: int | None = None
    source: int | None = None
    rating: int | None = None


_PUZZLE_HEADERS = ("puzzle", "puzzles", "quiz", "quizzes", "question", "sudoku")
_SOLUTION_HEADERS = ("solution", "solutions", "answer")
_SOURCE_HEADER = "source"
_RATING_HEADER = "rating"
_LONGEST_LINE = 100_000  # characters; a file without line breaks is never read as a whole
_MOST_CHARACTERS = 10_000_000  # of boards in a chunk, which ends before it has more
_MOST_EMPTY = 1_000_000  # lines without a puzzle on end
_MOST_RATING = int(np.iinfo(np.int32).max)
_LONGEST_RATING, _SHOWN_OF_RATING = 10, 40  # digits; characters, if they are none
_LONGEST_SOURCE = 100  # characters
_NO_DIGIT = 255
_codes = np.full(256, _NO_DIGIT, np.uint8)
for _digit, _symbol in enumerate(board.SYMBOLS):
    _codes[[ord(_symbol), ord(_symbol.lower())]] = _digit
_codes[ord("0")] = 0
_DIGIT_OF_CODE = _codes.tobytes()


class PuzzleRows(NamedTuple):
    """B rows of a file, which parse as boards and are not checked otherwise."""

    geometry: Geometry
    lines: NDArray[np.int64]  # [B], their numbers in the file, from 1
    puzzles: NDArray[np.int8]  # [B, N, N]
    solutions: NDArray[np.int8]  # [B, N, N], zeros where none is stored
    ratings: NDArray[np.int32]  # [B], NOT_KNOWN where none is stored
    sources: NDArray[np.str_]  # [B], empty where none is stored
    share: float  # of the file that is read with these rows, 0 to 1; 0 for a pipe

    def take(self, index: slice | NDArray[np.bool_]) -> PuzzleRows:
        """Return some of the rows."""
        return self._replace(
            lines=self.lines[index],
            puzzles=self.puzzles[index],
            solutions=self.solutions[index],
            ratings=self.ratings[index],
            sources=self.sources[index],
        )


def read_rows(
    path: Path,
    geometry: Geometry | None,
    chunk: int,
    on_problem: OnProblem,
    *,
    with_solutions: bool = True,
) -> Iterator[PuzzleRows]:
    """Yield the rows of a file that ends in `.txt`, `.csv` or `.npz`, at most `chunk` at a time.

    Args:
        path: the file.
        geometry: the boards' shape; None takes the standard one for the size of the first board.
        chunk: number of rows, at least 1.
        on_problem: called with each row that does not parse, which is then left out.
        with_solutions: read stored solutions too.

    Raises:
        ValueError: if the file cannot be read as its suffix says.
        OSError: if it cannot be opened.
    """
    if chunk < 1:
        raise ValueError(f"chunk={chunk}: read at least one puzzle at a time")
    solution_headers = _SOLUTION_HEADERS if with_solutions else ()
    read = _read_npz if path.suffix == ".npz" else _read_text
    yield from read(path, geometry, chunk, on_problem, solution_headers)


def _read_text(
    path: Path,
    geometry: Geometry | None,
    chunk: int,
    on_problem: OnProblem,
    solution_headers: Sequence[str],
) -> Iterator[PuzzleRows]:
    is_csv = path.suffix == ".csv"
    with open_text(path, newline="" if is_csv else None) as text:
        size = os.fstat(text.fileno()).st_size  # 0 for a pipe
        lines = _lines(path, text, is_csv)
        rows = _csv_rows(path, lines, on_problem, solution_headers) if is_csv else _text_rows(lines)
        while batch := _batch(rows, chunk):
            geometry = geometry or _first_geometry(row.puzzle for row in batch)
            if geometry is None:
                for row in batch:
                    on_problem(row.line, _problem(row, None))
                continue
            share = min(text.buffer.tell() / size, 1.0) if size else 0.0
            yield _parse(batch, geometry, on_problem, share)


def _batch(rows: Iterable[_Row], chunk: int) -> list[_Row]:
    batch, length = list[_Row](), 0
    for row in rows:
        batch.append(row)
        length += len(row.puzzle) + len(row.solution)
        if len(batch) == chunk or length >= _MOST_CHARACTERS:
            break
    return batch


def _lines(path: Path, text: TextIO, is_csv: bool) -> Iterator[str]:
    empty, blank, comment = 0, ' ,"\t\r\n' if is_csv else None, "" if is_csv else "#"
    for number, line in enumerate(iter(partial(text.readline, _LONGEST_LINE), ""), start=1):
        if len(line) == _LONGEST_LINE:
            raise ValueError(
                f"{path}, line {number}: {_LONGEST_LINE:,} characters or more are no row of a list "
                "of puzzles"
            )
        empty = empty + 1 if not line.strip(blank) or line[0] == comment else 0
        if empty > _MOST_EMPTY:
            raise ValueError(
                f"{path}, line {number}: more than {_MOST_EMPTY:,} lines on end without a puzzle"
            )
        yield line


def _text_rows(lines: Iterable[str]) -> Iterator[_Row]:
    for number, line in enumerate(lines, start=1):
        if (puzzle := line.strip()) and not puzzle.startswith("#"):
            yield _Row(number, puzzle)


def _csv_rows(
    path: Path, lines: Iterable[str], on_problem: OnProblem, solution_headers: Sequence[str]
) -> Iterator[_Row]:
    length = 0  # characters of the row

    def counted() -> Iterator[str]:
        nonlocal length
        for line in lines:
            length += len(line)
            if length > _LONGEST_LINE:
                raise ValueError(
                    f"{path}, lines {first} to {reader.line_num + 1}: a row of more than "
                    f"{_LONGEST_LINE:,} characters; is a quote missing?"
                )
            yield line

    # Strict, since a quote that nothing closes hides all that follows.
    reader = csv.reader(counted(), strict=True)
    columns: _Columns | None = None
    while True:
        first, length = reader.line_num + 1, 0
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            last = reader.line_num
            more = f", with the lines up to {last}" if last > first else ""
            on_problem(first, f"no row of a CSV file ({error}{more})")
            continue
        if not any(fields):
            continue
        if columns is None:
            columns, is_header = _columns(path, fields, solution_headers)
            if is_header:
                continue
        puzzle, solution, source, rating = (
            fields[i].strip() if i is not None and i < len(fields) else "" for i in columns
        )
        shown = rating[:_SHOWN_OF_RATING]
        yield _Row(reader.line_num, puzzle, solution, source[:_LONGEST_SOURCE], shown)


def _columns(
    path: Path, fields: Sequence[str], solution_headers: Sequence[str]
) -> tuple[_Columns, bool]:
    """Return what stands where, and whether `fields` is a header."""
    names = [field.strip().lower() for field in fields]

    def place(headers: Sequence[str]) -> int | None:
        for name in headers:
            if names.count(name) > 1:
                raise ValueError(f"{path}: two columns are called {name}")
        return next((names.index(name) for name in headers if name in names), None)

    puzzle = place(_PUZZLE_HEADERS)
    if puzzle is None:
        return _Columns(0, 1 if solution_headers else None), False
    rating_headers = [_RATING_HEADER] if solution_headers else []  # who solves needs neither
    others = (place(heads) for heads in (solution_headers, [_SOURCE_HEADER], rating_headers))
    return _Columns(puzzle, *others), True


def _first_geometry(texts: Iterable[str]) -> Geometry | None:
    for text in texts:
        with suppress(ValueError):
            return geometry_for(len(board.parse(text)), None)
    return None


def _problem(row: _Row, geometry: Geometry | None) -> str:
    if not row.puzzle:
        return "the row has no puzzle"
    try:
        for text in (row.puzzle, row.solution):
            board.parse(text, geometry)
    except ValueError as error:
        return str(error)
    return "no board"


def _rating(text: str) -> int:
    """Return a rating, `NOT_KNOWN` for an empty text; ValueError if it is no such number."""
    if not text:
        return NOT_KNOWN
    is_number = len(text) <= _LONGEST_RATING and text.isascii() and text.isdigit()
    if not is_number or int(text) > _MOST_RATING:
        raise ValueError(f"the rating {text!r} is no whole number up to {_MOST_RATING}")
    return int(text)


def _parse(
    rows: Sequence[_Row], geometry: Geometry, on_problem: OnProblem, share: float
) -> PuzzleRows:
    puzzles = _digits([row.puzzle for row in rows], geometry)
    if any(row.solution for row in rows):
        blank = "." * geometry.num_cells
        solutions = _digits([row.solution or blank for row in rows], geometry)
    else:
        solutions = np.zeros_like(puzzles)
    good = np.ones(len(rows), np.bool_)
    wrong = (puzzles[:, 0, 0] < 0) | (solutions[:, 0, 0] < 0)
    for index in map(int, np.flatnonzero(wrong)):
        good[index] = False
        on_problem(rows[index].line, _problem(rows[index], geometry))
    ratings = np.full(len(rows), NOT_KNOWN, np.int32)
    for index in map(int, np.flatnonzero(good)):
        try:
            ratings[index] = _rating(rows[index].rating)
        except ValueError as error:
            good[index] = False
            on_problem(rows[index].line, str(error))
    lines = np.array([row.line for row in rows])
    sources = np.array([row.source for row in rows], np.str_)
    return PuzzleRows(geometry, lines, puzzles, solutions, ratings, sources, share).take(good)


def _digits(texts: Sequence[str], geometry: Geometry) -> NDArray[np.int8]:
    """Parse boards, int8 `[B, N, N]`; -1 everywhere in a board that does not parse."""
    shape = (len(texts), geometry.size, geometry.size)
    if set(map(len, texts)) == {geometry.num_cells}:  # plain lines: all in one go
        codes = "".join(texts).encode("latin-1", "replace").translate(_DIGIT_OF_CODE)
        values = np.frombuffer(codes, np.uint8)
        if values.max() <= geometry.size:
            return values.view(np.int8).reshape(shape)
    digits = np.full(shape, -1, np.int8)
    for index, text in enumerate(texts):
        with suppress(ValueError):
            digits[index] = board.parse(text, geometry)
    return digits


def _read_npz(
    path: Path,
    geometry: Geometry | None,
    chunk: int,
    on_problem: OnProblem,
    solution_headers: Sequence[str],
) -> Iterator[PuzzleRows]:
    start = 1
    for puzzles, solutions, share in npz.read_board_arrays(
        path, _PUZZLE_HEADERS, solution_headers, chunk
    ):
        try:
            geometry = geometry_for(puzzles.shape[1], geometry)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        lines = np.arange(start, start + len(puzzles))
        start += len(puzzles)
        in_range = np.logical_and.reduce((puzzles >= 0) & (puzzles <= geometry.size), axis=(1, 2))
        for line in lines[~in_range]:
            on_problem(int(line), f"a value is no digit of a {geometry.name} board")
        no_ratings = np.full(len(lines), NOT_KNOWN, np.int32)
        columns = (lines, puzzles, solutions, no_ratings, np.full(len(lines), ""))
        yield PuzzleRows(geometry, *columns, share).take(in_range)
