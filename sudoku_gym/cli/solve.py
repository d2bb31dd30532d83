"""`sudoku-gym solve`: complete puzzles and say how many solutions they have."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import solver
from sudoku_gym.board import check_puzzle, parse, to_lines, to_text
from sudoku_gym.cli.puzzle_arguments import Board, geometry_named
from sudoku_gym.cli.terminal import progress, strip_control
from sudoku_gym.geometry import Geometry, geometry_for
from sudoku_gym.policies import load_solver
from sudoku_gym.puzzles import files
from sudoku_gym.puzzles.rows import OnProblem
from sudoku_gym.solver import FoundSolutions
from sudoku_gym.solver.chunks import in_chunks
from sudoku_gym.storage.atomic import atomic_write, check_suffix

Write: TypeAlias = Callable[[NDArray[np.int8], Geometry, FoundSolutions], object]

_POLICY_CELLS = 10_368  # of the boards of a chunk; the search of a policy may keep much for each


def solve(
    puzzle: str,
    /,
    *,
    out: str = "",
    count: int = 2,
    skip_bad_rows: bool = False,
    board: Board = "",
    node_limit: int = solver.NODE_LIMIT,
    threads: int = 1,
    policy: str = "",
    trust: bool = False,
) -> int:
    """Solve puzzles; the exit code is 0 if each has exactly one solution, else 1.

    With `--count 1` it is 0 if each has a solution.

    Args:
        puzzle: A puzzle row by row (0 or . for a blank, letters above 9), a list of puzzles (.txt,
            .csv, .npz, .sdk), or - for a list from standard input. A list may be of any length: a
            part of it at a time is read, solved and printed.
        out: A .csv file to write the solutions to instead of printing them. Its columns are puzzle,
            solution, solutions (the number found) and decided (1 if the search was complete).
        count: Solutions to look for per puzzle: 2 proves that there is only one, 1 stops at the
            first.
        skip_bad_rows: Leave out rows of a list that are no puzzle, and say at the end how many
            there were.
        board: The board of the puzzles.
        node_limit: Candidates to try on a puzzle before it is left undecided.
        threads: Processor cores to use.
        policy: A policy that searches for solutions, to do it in place of the solver, as in
            'expert-iteration?search=best-first&evaluations=20000'; its limit is among its options.
        trust: Allow a checkpoint that is named as --policy to load and run arbitrary code.
    """
    if policy and (node_limit != solver.NODE_LIMIT or threads > 1):
        raise ValueError("--node-limit and --threads are the solver's: leave --policy out")
    if out:
        check_suffix(out, "--out", ".csv")
    found = load_solver(policy, trust=trust) if policy else None

    def search(boards: NDArray[np.int8], geometry: Geometry) -> FoundSolutions:
        if found is not None:
            return found.search(boards, geometry, count)
        return solver.find_solutions(
            boards, count, geometry, node_limit=node_limit, threads=threads
        )

    is_list, kinds, bad_rows, began = _is_list(puzzle), Counter[str](), list[str](), process_time()

    def add_bad_row(line: int, problem: str) -> None:
        bad_rows.append(f"{line}: {problem}")

    boards_of = _read(puzzle, geometry_named(board), add_bad_row if skip_bad_rows else None)
    bars = [puzzle] if is_list and (out or not sys.stdout.isatty()) else []
    with _writer(out, is_list, count) as write, progress(bars) as start:
        report, before = start(puzzle), 0.0
        for geometry, boards, share in boards_of:
            most = max(1, _POLICY_CELLS // geometry.num_cells) if policy else None
            for part in in_chunks(len(boards), most):
                result = search(boards[part], geometry)
                write(boards[part], geometry, result)
                kinds.update(_kinds(result))
                report(before + (share - before) * part.stop / len(boards))
            before = share
        if not kinds:
            raise ValueError(f"{puzzle}: no puzzle found; give one a line, 0 or . for a blank")
    if bad_rows:
        said = f"{puzzle}: bad rows left out: {len(bad_rows):,}, the first of them {bad_rows[0]}"
        print(strip_control(said), file=sys.stderr)
    if is_list:
        _report(kinds, count, process_time() - began)
    return 0 if kinds["one"] == kinds.total() else 1


def _is_list(puzzle: str) -> bool:
    return puzzle == "-" or puzzle.endswith(files.SUFFIXES)


def _read(
    puzzle: str, wanted: Geometry | None, on_bad_row: OnProblem | None
) -> Iterator[tuple[Geometry, NDArray[np.int8], float]]:
    """Yield the boards of a puzzle, a list or standard input, as `files.stream_boards` does."""
    if not _is_list(puzzle):
        board = parse(puzzle, wanted)
        yield geometry_for(len(board), wanted), board[None], 1.0
    elif puzzle != "-":
        yield from files.stream_boards(puzzle, wanted, on_bad_row=on_bad_row)
    else:
        with TemporaryDirectory() as folder:
            path = Path(folder, "standard-input.txt")
            path.write_text(sys.stdin.read(), encoding="utf-8")
            yield from files.stream_boards(path, wanted, on_bad_row=on_bad_row)


@contextmanager
def _writer(out: str, is_list: bool, count: int) -> Iterator[Write]:
    """Yield what takes solved boards: it prints them, or writes a CSV file.

    The file is there once the block has ended.
    """
    stdout = sys.stdout  # a progress bar diverts what is printed later

    def draw(boards: NDArray[np.int8], geometry: Geometry, result: FoundSolutions) -> None:
        verdict, remark = _verdicts(result, count)[0], _remark(boards[0], geometry, result)
        shown = result.solutions if result.found[0] else boards
        print(f"{verdict}{remark}\n{to_text(shown[0], geometry)}", file=stdout)

    def print_lines(boards: NDArray[np.int8], geometry: Geometry, result: FoundSolutions) -> None:
        shown = np.where(result.found[:, None, None] > 0, result.solutions, boards)
        columns = [to_lines(shown), _verdicts(result, count).astype("S")]
        text = files.join_columns(columns, separator="  ").decode("ascii")
        print(text, end="", file=stdout, flush=True)

    if not out:
        yield print_lines if is_list else draw
        return
    with atomic_write(out) as temporary, temporary.open("wb") as file:
        file.write(b"puzzle,solution,solutions,decided\n")

        def write(boards: NDArray[np.int8], geometry: Geometry, result: FoundSolutions) -> None:
            solutions = np.where(result.found > 0, to_lines(result.solutions), b"")
            counts = result.found.astype(f"S{len(str(result.found.max()))}")
            decided = np.where(result.decided, b"1", b"0")
            file.write(files.join_columns([to_lines(boards), solutions, counts, decided]))

        yield write


def _verdicts(result: FoundSolutions, limit: int) -> NDArray[np.str_]:
    """Return the verdicts; 'undecided' with what to do about it."""
    verdicts = result.verdicts(limit)
    advice = "undecided: raise --node-limit, or the limit of the policy"
    return np.where(verdicts == "undecided", advice, verdicts)


def _remark(puzzle: NDArray[np.int8], geometry: Geometry, result: FoundSolutions) -> str:
    """Say which of several solutions is drawn, or which givens leave none."""
    if result.found[0]:
        return "; one of them:" if result.found[0] >= 2 else ""
    try:
        check_puzzle(puzzle, geometry)
    except ValueError as error:
        return f": {error}"
    return ""


def _kinds(result: FoundSolutions) -> list[str]:
    """Return for each board how many solutions it has: none, one, several or undecided."""
    decided = np.where(result.found == 1, "one", "none")
    kinds = np.where(result.decided, decided, "undecided")
    return list(np.where(result.found >= 2, "several", kinds).tolist())


def _report(kinds: Counter[str], limit: int, seconds: float) -> None:
    """Print the totals of a list on standard error, with the processor time that it took."""
    one, several, total = kinds["one"], kinds["several"], kinds.total()
    solved = f"{one:,} with one, {several:,} with several" if limit > 1 else f"{one:,} solved"
    print(
        f"{total:,} puzzles: {kinds['none']:,} without a solution, {solved}, "
        f"{kinds['undecided']:,} undecided; "
        f"{total / max(seconds, 1e-9):,.0f} a second of processor time",
        file=sys.stderr,
    )
