"""Read and write lists of puzzles: text with one puzzle a line, CSV, npz.

CSV may have the headers of the public lists (`quizzes,solutions`, `puzzle,solution`,
`source,question,answer,rating`); without a header the first two columns are taken.
"""

from __future__ import annotations

import codecs
import csv
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple, TextIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board, solver
from sudoku_gym.geometry import Geometry, geometry_for
from sudoku_gym.puzzles import npz
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_gym.puzzles.puzzle_set import NOT_KNOWN, PuzzleSet
from sudoku_gym.storage.atomic import atomic_write

SUFFIXES = (".txt", ".csv", ".npz")

OnBadRow: TypeAlias = Literal["raise", "skip"] | Callable[[int, str], None]
_Complain: TypeAlias = Callable[[int, str], None]

_PUZZLE_HEADERS = ("puzzle", "puzzles", "quiz", "quizzes", "question", "sudoku")
_SOLUTION_HEADERS = ("solution", "solutions", "answer")
_DIGIT_OF_CODE = np.full(256, -1, np.int8)
for _digit, _symbol in enumerate(board.SYMBOLS):
    _DIGIT_OF_CODE[[ord(_symbol), ord(_symbol.lower())]] = _digit
_DIGIT_OF_CODE[ord("0")] = 0


class _Row(NamedTuple):
    """A row of a text or CSV file."""

    line: int
    puzzle: str
    solution: str = ""


class _Part(NamedTuple):
    geometry: Geometry
    lines: NDArray[np.int64]
    puzzles: NDArray[np.int8]
    solutions: NDArray[np.int8]  # zeros where there is none

    def take(self, index: slice | NDArray[np.bool_]) -> _Part:
        return _Part(self.geometry, self.lines[index], self.puzzles[index], self.solutions[index])


def read_puzzle_set(
    path: str | Path,
    geometry: Geometry | None = None,
    *,
    on_bad_row: OnBadRow = "raise",
    check: bool = True,
) -> PuzzleSet:
    """Read a whole file.

    Args:
        path: ends in `.txt`, `.csv` or `.npz`.
        geometry: the boards' shape; None takes the standard one for the size of the first board.
        on_bad_row: `"raise"` stops at a bad row; `"skip"` leaves it out and warns once at the end
            of the file; a function is called with the line number and what was wrong.
        check: prove that each puzzle has exactly one solution. Where False, a stored solution is
            only checked against the rules; puzzles without one are always solved.

    Returns:
        Puzzles with solutions; not graded.

    Raises:
        ValueError: if the file cannot be read as its suffix says, if there is no puzzle in it, or
            (with `"raise"`) at the first bad row, with its line number.
        FileNotFoundError: if there is no such file.
    """
    parts = list(stream_puzzle_sets(path, geometry, on_bad_row=on_bad_row, check=check))
    if not parts:
        raise ValueError(f"{path}: no puzzle found; give one a line, 0 or . for a blank")
    return PuzzleSet(
        np.concatenate([part.puzzles for part in parts]),
        np.concatenate([part.solutions for part in parts]),
        parts[0].geometry,
        str(path),
    )


def stream_puzzle_sets(
    path: str | Path,
    geometry: Geometry | None = None,
    *,
    on_bad_row: OnBadRow = "raise",
    check: bool = True,
    chunk: int = 10_000,
) -> Iterator[PuzzleSet]:
    """Read a file in parts of at most `chunk` puzzles; see `read_puzzle_set` for the rest."""
    path = _with_known_suffix(path)
    if chunk < 1:
        raise ValueError(f"chunk={chunk}: read at least one puzzle at a time")
    skipped: list[str] = []
    complain = _complaint(path, on_bad_row, skipped)
    hint = "" if geometry else "; if it belongs to a variant, give its geometry (--board)"
    for part in _parts(path, geometry, chunk, complain):
        proven = _proven(part, complain, check, hint)
        if len(proven.lines):
            yield PuzzleSet(proven.puzzles, proven.solutions, proven.geometry, str(path))
    if skipped:
        warnings.warn(f"{len(skipped)} rows skipped, for example {skipped[0]}", stacklevel=2)


def write_puzzle_set(path: str | Path, puzzle_set: PuzzleSet) -> None:
    """Write a file that `read_puzzle_set` understands, atomically.

    `.txt` holds the puzzles alone, `.csv` puzzle, solution and grade, `.npz` all arrays but the
    orbits, which mean nothing outside their bank.

    Raises:
        ValueError: as `check_target`.
    """
    path = check_target(path)
    with atomic_write(path) as temporary:
        if path.suffix == ".npz":
            columns = ("puzzles", "solutions", "grades", "minimal")
            arrays = {name: getattr(puzzle_set, name) for name in columns}
            np.savez_compressed(temporary, **arrays)
        else:
            with temporary.open("w", encoding="utf-8", newline="\n") as text:
                text.writelines(_lines(puzzle_set, with_solutions=path.suffix == ".csv"))


def open_text(path: Path, newline: str | None = None) -> TextIO:
    """Open a file of UTF-8, with or without a byte order mark, in any locale.

    Raises:
        ValueError: if it is UTF-16, which some editors and shells write.
        OSError: if it can't be opened.
    """
    binary = path.open("rb")
    if binary.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        binary.close()
        raise ValueError(f"{path}: the text is UTF-16; save it as UTF-8")
    return TextIOWrapper(binary, encoding="utf-8-sig", errors="replace", newline=newline)


def check_target(path: str | Path) -> Path:
    """Check that `write_puzzle_set` could write a file, before there is anything to write.

    Raises:
        ValueError: if the path ends in none of `SUFFIXES`, is a folder, or lies in none.
    """
    path = _with_known_suffix(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give a file")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"{path}: the folder {path.parent} can't be written to")
    return path


def _with_known_suffix(path: str | Path) -> Path:
    if Path(path).suffix not in SUFFIXES:
        raise ValueError(f"{path}: a list of puzzles ends in {', '.join(SUFFIXES)}")
    return Path(path)


def _lines(puzzle_set: PuzzleSet, with_solutions: bool) -> Iterator[str]:
    if not with_solutions:
        yield from (board.to_line(puzzle) + "\n" for puzzle in puzzle_set.puzzles)
        return
    yield "puzzle,solution,grade\n"
    rows = zip(puzzle_set.puzzles, puzzle_set.solutions, puzzle_set.grades, strict=True)
    for puzzle, solution, grade in rows:
        name = "" if grade == NOT_KNOWN else GRADES[grade]
        yield f"{board.to_line(puzzle)},{board.to_line(solution)},{name}\n"


def _complaint(path: Path, on_bad_row: OnBadRow, skipped: list[str]) -> _Complain:
    if callable(on_bad_row):
        return on_bad_row
    if on_bad_row not in ("raise", "skip"):
        raise ValueError(f"on_bad_row={on_bad_row!r}: use 'raise', 'skip' or a function")
    row_word = "row" if path.suffix == ".npz" else "line"

    def complain(line: int, problem: str) -> None:
        message = f"{path}, {row_word} {line}: {problem}"
        if on_bad_row == "raise":
            raise ValueError(message)
        skipped.append(message if not skipped else "")

    return complain


def _parts(
    path: Path, geometry: Geometry | None, chunk: int, complain: _Complain
) -> Iterator[_Part]:
    if path.suffix == ".npz":
        yield from _npz_parts(path, geometry, chunk, complain)
        return
    rows = _csv_rows(path, complain) if path.suffix == ".csv" else _text_rows(path)
    while batch := list(islice(rows, chunk)):
        geometry = geometry or _first_geometry(batch)
        if geometry is not None:
            yield _parse(batch, geometry, complain)
        else:
            for row in batch:
                complain(row.line, _problem(row, None))


def _text_rows(path: Path) -> Iterator[_Row]:
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip() and not line.lstrip().startswith("#"):
                yield _Row(number, line.strip())


def _csv_rows(path: Path, complain: _Complain) -> Iterator[_Row]:
    with open_text(path, newline="") as lines:
        reader = csv.reader(lines)
        columns: tuple[int, int] | None = None
        while True:
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                complain(reader.line_num, f"no row of a CSV file ({error})")
                continue
            if not any(fields):
                continue
            if columns is None:
                columns, is_header = _columns(fields)
                if is_header:
                    continue
            puzzle, solution = (fields[i].strip() if i < len(fields) else "" for i in columns)
            yield _Row(reader.line_num, puzzle, solution)


def _columns(fields: Sequence[str]) -> tuple[tuple[int, int], bool]:
    """Return the columns of puzzle and solution, and whether `fields` is a header."""
    names = [field.strip().lower() for field in fields]
    puzzle = next((names.index(name) for name in _PUZZLE_HEADERS if name in names), None)
    if puzzle is None:
        return (0, 1), False
    solution = next((names.index(name) for name in _SOLUTION_HEADERS if name in names), len(names))
    return (puzzle, solution), True


def _first_geometry(rows: list[_Row]) -> Geometry | None:
    for row in rows:
        with suppress(ValueError):
            return geometry_for(len(board.parse(row.puzzle)), None)
    return None


def _problem(row: _Row, geometry: Geometry | None) -> str:
    try:
        board.parse(row.puzzle, geometry)
        board.parse(row.solution, geometry)
    except ValueError as error:
        return str(error)
    return "no board"


def _parse(rows: list[_Row], geometry: Geometry, complain: _Complain) -> _Part:
    puzzles = _digits([row.puzzle for row in rows], geometry)
    solutions = _digits([row.solution or "." * geometry.num_cells for row in rows], geometry)
    good = np.ones(len(rows), np.bool_)
    for index in np.flatnonzero((puzzles < 0).any((1, 2)) | (solutions < 0).any((1, 2))):
        good[index] = False
        complain(rows[index].line, _problem(rows[index], geometry))
    lines = np.array([row.line for row in rows])
    return _Part(geometry, lines[good], puzzles[good], solutions[good])


def _digits(texts: list[str], geometry: Geometry) -> NDArray[np.int8]:
    """Parse boards, int8 `[B, N, N]`; -1 everywhere in a board that does not parse."""
    shape = (len(texts), geometry.size, geometry.size)
    if all(len(text) == geometry.num_cells for text in texts):  # plain lines: all in one go
        codes = np.frombuffer("".join(texts).encode("latin-1", "replace"), np.uint8)
        digits = _DIGIT_OF_CODE[codes].reshape(shape)
        if digits.min() >= 0 and digits.max() <= geometry.size:
            return digits
    digits = np.full(shape, -1, np.int8)
    for index, text in enumerate(texts):
        with suppress(ValueError):
            digits[index] = board.parse(text, geometry)
    return digits


def _npz_parts(
    path: Path, geometry: Geometry | None, chunk: int, complain: _Complain
) -> Iterator[_Part]:
    start = 1
    for puzzles, solutions in npz.read_board_arrays(
        path, _PUZZLE_HEADERS, _SOLUTION_HEADERS, chunk
    ):
        try:
            geometry = geometry_for(puzzles.shape[1], geometry)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        lines = np.arange(start, start + len(puzzles))
        start += len(puzzles)
        in_range = np.logical_and.reduce((puzzles >= 0) & (puzzles <= geometry.size), axis=(1, 2))
        for line in lines[~in_range]:
            complain(int(line), f"a value is no digit of a {geometry.name} board")
        yield _Part(geometry, lines, puzzles, solutions).take(in_range)


def _proven(part: _Part, complain: _Complain, check: bool, hint: str) -> _Part:
    """Complete the missing solutions, and keep the rows that are sound."""
    geometry, puzzles, solutions = part.geometry, part.puzzles, part.solutions
    stored = np.logical_or.reduce(solutions != 0, axis=(1, 2))
    solved = board.is_solved(np.clip(solutions, 0, geometry.size), geometry)
    keeps = np.logical_and.reduce((puzzles == 0) | (puzzles == solutions), axis=(1, 2))
    wrong = stored & ~(solved & keeps)
    for index in np.flatnonzero(wrong):
        problem = "does not keep the givens" if solved[index] else "is no solved board"
        complain(int(part.lines[index]), f"the stored solution {problem}")
    good = ~wrong
    to_solve = np.flatnonzero(good & (check | ~stored))
    result = solver.find_solutions(puzzles[to_solve], 2, geometry)
    unique = result.decided & (result.found == 1)
    for i in np.flatnonzero(~unique):
        problem = "the solver's node limit was reached"
        if result.decided[i]:
            number = f"several solutions{hint}" if result.found[i] else "no solution"
            problem = f"the puzzle has {number}"
        complain(int(part.lines[to_solve[i]]), problem)
    solutions[to_solve] = result.solutions
    good[to_solve] = unique
    return part.take(good)
