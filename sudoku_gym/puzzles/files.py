"""Read and write lists of puzzles: text, CSV and npz; `rows` says what they look like."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board, solver
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.difficulty import GRADES
from sudoku_gym.puzzles.puzzle_set import PuzzleSet
from sudoku_gym.puzzles.rows import PuzzleRows, bad_row, read_rows
from sudoku_gym.solver.chunks import in_chunks
from sudoku_gym.storage.atomic import atomic_write

SUFFIXES = (".txt", ".csv", ".npz", ".sdk")
PUZZLES_PER_CHUNK = 10_000
"""Puzzles that are read, or formatted, at a time."""


def read(path: str | Path, geometry: Geometry | None = None) -> PuzzleSet:
    """Read a whole file.

    Args:
        path: ends in `.txt`, `.csv`, `.npz` or `.sdk`.
        geometry: the boards' shape; None takes the standard one for the size of the first board.

    Returns:
        Puzzles with solutions, each proven to be the only one; not graded.

    Raises:
        ValueError: if the file cannot be read as its suffix says, if there is no puzzle in it, or
            at the first bad row, with its line number.
        FileNotFoundError: if there is no such file.
    """
    return PuzzleSet.join(read_in_parts(path, geometry))


def read_sample(
    path: str | Path,
    count: int,
    rng: np.random.Generator,
    geometry: Geometry | None = None,
    *,
    on_progress: Callable[[float], None] | None = None,
) -> PuzzleSet:
    """Draw puzzles of a file without repetition, in the order of the file.

    The file is read once, and no more of it is kept than is drawn. Only the drawn puzzles are
    proven to have exactly one solution.

    Args:
        path: as in `read`.
        count: number of puzzles.
        rng: draws one number for each row.
        geometry: as in `read`.
        on_progress: called with the share of the file that is read, 0 to 1.

    Raises:
        ValueError: as `read`, or if the file has fewer puzzles, or one that is drawn
            has not exactly one solution.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1, not {count}")
    kept, keys, total = list[PuzzleSet](), np.empty(0), 0
    for part in read_in_parts(path, geometry, check=False, on_progress=on_progress):
        total += len(part)
        keys = np.append(keys, rng.random(len(part)))
        kept.append(part)
        pool = PuzzleSet.join(kept)
        chosen = np.sort(np.argsort(keys, kind="stable")[:count])
        kept, keys = [pool[chosen]], keys[chosen]
    if total < count:
        raise ValueError(f"count {count}: {path} has {total} puzzles")
    kept[0].check()
    return kept[0]


def read_in_parts(
    path: str | Path,
    geometry: Geometry | None = None,
    *,
    check: bool = True,
    chunk: int = PUZZLES_PER_CHUNK,
    on_progress: Callable[[float], None] | None = None,
) -> Iterator[PuzzleSet]:
    """Read a file in parts of at most `chunk` puzzles; see `read` for the rest.

    Without `check` a stored solution is only checked against the rules. `on_progress` is called
    before each part with the share of the file that is read with it.
    """
    path = _with_known_suffix(path)
    hint = "" if geometry else "; if it belongs to a variant, give its geometry (--board)"
    is_empty = True
    for rows in read_rows(path, geometry, chunk):
        _prove(rows, path, check, hint)
        if on_progress is not None:
            on_progress(rows.share)
        is_empty = False
        yield PuzzleSet(
            rows.puzzles,
            rows.solutions,
            rows.geometry,
            str(path),
            ratings=rows.ratings,
            sources=rows.sources,
        )
    if is_empty:
        raise ValueError(f"{path}: no puzzle found; give one a line, 0 or . for a blank")


def stream_boards(
    path: str | Path, geometry: Geometry | None = None, *, chunk: int = PUZZLES_PER_CHUNK
) -> Iterator[tuple[Geometry, NDArray[np.int8], float]]:
    """Read a file's boards as they are, with any number of solutions, at most `chunk` at a time.

    Stored solutions are passed over, and a row is bad only if it does not parse. The arguments and
    errors are those of `read`, but a file without a puzzle is no error.

    Yields:
        The geometry; boards, int8 `[B, N, N]`; and the share of the file that is read, 0 to 1 (of
        an npz file the share of its rows; of a pipe always 0).
    """
    for rows in read_rows(_with_known_suffix(path), geometry, chunk, with_solutions=False):
        yield rows.geometry, rows.puzzles, rows.share


def _with_known_suffix(path: str | Path) -> Path:
    if Path(path).suffix not in SUFFIXES:
        raise ValueError(f"{path}: a list of puzzles ends in {', '.join(SUFFIXES)}")
    return Path(path)


def _prove(part: PuzzleRows, path: Path, check: bool, hint: str) -> None:
    """Complete the missing solutions in place; ValueError at the first row that is not sound."""
    geometry, puzzles, solutions = part.geometry, part.puzzles, part.solutions
    stored = (solutions != 0).any((1, 2))
    solved = board.is_solved(solutions, geometry)
    keeps = ((puzzles == 0) | (puzzles == solutions)).all((1, 2))
    for index in np.flatnonzero(stored & ~(solved & keeps)):
        problem = "does not keep the givens" if solved[index] else "is no solved board"
        raise bad_row(path, int(part.lines[index]), f"the stored solution {problem}")
    to_solve = np.flatnonzero(check | ~stored)
    for chosen in in_chunks(len(to_solve)):
        indices = to_solve[chosen]
        result = solver.find_solutions(puzzles[indices], 2, geometry)
        for i in np.flatnonzero(~result.decided | (result.found != 1)):
            problem = "the solver's node limit was reached"
            if result.decided[i]:
                number = f"several solutions{hint}" if result.found[i] else "no solution"
                problem = f"the puzzle has {number}"
            raise bad_row(path, int(part.lines[indices[i]]), problem)
        solutions[indices] = result.solutions


def write(path: str | Path, puzzle_set: PuzzleSet) -> None:
    """Write a file that `read` understands, atomically.

    `.txt` and `.sdk` hold the puzzles alone, one a line; `.csv` puzzle, solution and grade, or
    `source,question,answer,rating` where a rating or a source is known; `.npz` puzzles, solutions,
    grades and what is minimal. Orbits mean nothing outside their bank.
    """
    path = check_target(path)
    with atomic_write(path) as temporary:
        if path.suffix == ".npz":
            columns = ("puzzles", "solutions", "grades", "minimal")
            arrays = {name: getattr(puzzle_set, name) for name in columns}
            np.savez_compressed(temporary, **arrays)
        else:
            with temporary.open("wb") as file:
                file.writelines(_lines(puzzle_set, with_solutions=path.suffix == ".csv"))


def check_target(path: str | Path) -> Path:
    """Check that `write` could write a file, before there is anything to write.

    Raises:
        ValueError: if the path ends in none of `SUFFIXES`, is a folder, or lies in none.
    """
    path = _with_known_suffix(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give a file")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}")
    return path


def _lines(puzzle_set: PuzzleSet, with_solutions: bool) -> Iterator[bytes]:
    is_rated = bool((puzzle_set.ratings >= 0).any() or (puzzle_set.sources != "").any())
    if with_solutions:
        yield b"source,question,answer,rating\n" if is_rated else b"puzzle,solution,grade\n"
    names = np.array([*GRADES, ""], "S")  # NOT_KNOWN, -1, is the last
    for part in in_chunks(len(puzzle_set), PUZZLES_PER_CHUNK):
        columns = [board.to_lines(puzzle_set.puzzles[part])]
        if with_solutions:
            columns.append(board.to_lines(puzzle_set.solutions[part]))
            if is_rated:
                columns.insert(0, _source_texts(puzzle_set.sources[part]))
                columns.append(_rating_texts(puzzle_set.ratings[part]))
            else:
                columns.append(names[puzzle_set.grades[part]])
        yield join_columns(columns)


def join_columns(columns: Sequence[NDArray[np.bytes_]], separator: str = ",") -> bytes:
    """Format a table as lines of ASCII.

    Args:
        columns: texts `[B]` each, without NULs (numpy fills short ones up with those).
        separator: what stands between two columns.
    """
    ends = [separator] * (len(columns) - 1) + ["\n"]
    parts = []
    for column, end in zip(columns, ends, strict=True):
        shape = (len(column), column.dtype.itemsize)
        parts.append(np.ascontiguousarray(column).view(np.uint8).reshape(shape))
        parts.append(np.tile(np.frombuffer(end.encode("ascii"), np.uint8), (len(column), 1)))
    return np.concatenate(parts, axis=1).tobytes().translate(None, b"\0")


def _rating_texts(ratings: NDArray[np.float64]) -> NDArray[np.bytes_]:
    return np.array([f"{rating:.12g}" if rating >= 0 else "" for rating in ratings.tolist()], "S")


def _source_texts(sources: NDArray[np.str_]) -> NDArray[np.bytes_]:
    """Return the sources in ASCII, without what a CSV file would have to quote."""
    plain = [re.sub(r'[^\x21-\x7e]|[",]', "_", source) for source in sources.tolist()]
    return np.array(plain, "S")
