"""`sudoku-gym solve`: complete puzzles and say how many solutions they have."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import solver
from sudoku_gym.board import check_puzzles, parse, to_lines, to_text
from sudoku_gym.cli.puzzle_arguments import Board
from sudoku_gym.cli.terminal import progress
from sudoku_gym.geometry import Geometry, geometry_for
from sudoku_gym.puzzles import files
from sudoku_gym.puzzles.banks import named_geometry
from sudoku_gym.solver import FoundSolutions
from sudoku_gym.solver.chunks import in_chunks
from sudoku_gym.storage.atomic import atomic_write, check_suffix


def solve(
    puzzle: str,
    /,
    *,
    out: str = "",
    limit: int = 2,
    board: Board = "",
    node_limit: int = solver.NODE_LIMIT,
    threads: int = 1,
) -> int:
    """Solve puzzles; the exit code is 0 if each has exactly one solution, else 1.

    With `--limit 1` it is 0 if each has a solution.

    Args:
        puzzle: A puzzle row by row (0 or . for a blank, letters above 9), a list of puzzles (.txt,
            .csv, .npz, .sdk), or - for a list from standard input, which is read to its end
            first. A list may be of any length: a part at a time is read, solved and printed.
        out: A .csv file to write the solutions to instead of printing them. Its columns are puzzle,
            solution, solutions (the number found) and decided (1 if the search was complete).
        limit: Solutions to look for per puzzle: 2 proves that there is only one, 1 stops at the
            first.
        board: The board of the puzzles.
        node_limit: Candidates to try on a puzzle before it is left undecided.
        threads: Processor cores to use.
    """
    if out:
        check_suffix(out, "--out", ".csv")
    is_list, began, verdicts = _is_list(puzzle), process_time(), Counter[str]()
    prints_elsewhere = is_list and (bool(out) or not sys.stdout.isatty())
    with _writer(out) as write, progress(prints_elsewhere) as start:
        report, before = start(puzzle), 0.0
        for geometry, boards, share in _read(puzzle, named_geometry(board) if board else None):
            for part in in_chunks(len(boards)):
                result = solver.find_solutions(
                    boards[part], limit, geometry, node_limit=node_limit, threads=threads
                )
                if out:
                    write(_csv_rows(boards[part], result))
                elif is_list:
                    write(_lines(boards[part], result, limit))
                else:
                    write(_drawing(boards[0], geometry, result, limit))
                verdicts.update(result.verdicts(min(limit, 2)).tolist())
                report(before + (share - before) * part.stop / len(boards))
            before = share
        if not verdicts:
            raise ValueError(f"{puzzle}: no puzzle found; give one a line, 0 or . for a blank")
    total, seconds = verdicts.total(), max(process_time() - began, 1e-9)
    if is_list:
        each = ", ".join(f"{verdict} {number:,}" for verdict, number in sorted(verdicts.items()))
        speed = f"{total / seconds:,.0f} a second of processor time"
        print(f"{total:,} puzzles: {each}; {speed}", file=sys.stderr)
    return 0 if verdicts["one solution"] + verdicts["solved"] == total else 1


def _is_list(puzzle: str) -> bool:
    return puzzle == "-" or puzzle.endswith(files.SUFFIXES)


def _read(
    puzzle: str, wanted: Geometry | None
) -> Iterator[tuple[Geometry, NDArray[np.int8], float]]:
    """Yield the boards of a puzzle, a list or standard input, as `files.stream_boards` does."""
    if not _is_list(puzzle):
        board = parse(puzzle, wanted)
        yield geometry_for(len(board), wanted), board[None], 1.0
    elif puzzle != "-":
        yield from files.stream_boards(puzzle, wanted)
    else:
        with TemporaryDirectory() as folder:
            path = Path(folder, "standard-input.txt")
            path.write_text(sys.stdin.read(), encoding="utf-8")
            yield from files.stream_boards(path, wanted)


@contextmanager
def _writer(out: str) -> Iterator[Callable[[str], object]]:
    """Yield what prints text, or writes it to a CSV file that is there once the block has ended."""
    stdout = sys.stdout  # a progress bar diverts what is printed later
    if not out:
        yield lambda text: print(text, end="", file=stdout, flush=True)
        return
    with atomic_write(out) as temporary, temporary.open("w", newline="\n") as file:
        file.write("puzzle,solution,solutions,decided\n")
        yield file.write


def _csv_rows(boards: NDArray[np.int8], result: FoundSolutions) -> str:
    solutions = np.where(result.found > 0, to_lines(result.solutions), b"")
    counts = result.found.astype(f"S{len(str(result.found.max()))}")
    decided = np.where(result.decided, b"1", b"0")
    return files.join_columns([to_lines(boards), solutions, counts, decided]).decode("ascii")


def _lines(boards: NDArray[np.int8], result: FoundSolutions, limit: int) -> str:
    shown = np.where(result.found[:, None, None] > 0, result.solutions, boards)
    columns = [to_lines(shown), _verdicts(result, limit).astype("S")]
    return files.join_columns(columns, separator="  ").decode("ascii")


def _drawing(
    board: NDArray[np.int8], geometry: Geometry, result: FoundSolutions, limit: int
) -> str:
    """Draw the one board of a search, solved if it can be, below its verdict."""
    remark = "; one of them:" if result.found[0] > 1 else ""
    if not result.found[0]:
        try:
            check_puzzles(board[None], geometry)
        except ValueError as error:
            remark = f": {error}"
    shown = result.solutions[0] if result.found[0] else board
    return f"{_verdicts(result, limit)[0]}{remark}\n{to_text(shown, geometry)}\n"


def _verdicts(result: FoundSolutions, limit: int) -> NDArray[np.str_]:
    """Return the verdicts; 'undecided' with what to do about it."""
    verdicts = result.verdicts(limit)
    advice = "undecided: raise --node-limit"
    return np.where(verdicts == "undecided", advice, verdicts)
