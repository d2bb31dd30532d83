"""`sudoku-gym solve`: complete puzzles and say how many solutions they have."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import solver
from sudoku_gym.board import check_puzzle, to_lines, to_text
from sudoku_gym.cli.puzzle_arguments import Board, geometry_named, read_boards
from sudoku_gym.cli.terminal import progress, strip_control
from sudoku_gym.geometry import Geometry, geometry_for
from sudoku_gym.policies import load_solver
from sudoku_gym.puzzles import files
from sudoku_gym.solver import FoundSolutions
from sudoku_gym.solver.chunks import in_chunks
from sudoku_gym.storage.atomic import atomic_write

Search: TypeAlias = Callable[[NDArray[np.int8], Geometry], FoundSolutions]
WriteSolutions: TypeAlias = Callable[[NDArray[np.int8], FoundSolutions], object]

_POLICY_CELLS = 10_368  # of the boards of a chunk; the search of a policy may keep much for each


def solve(
    puzzle: str = "",
    /,
    *,
    file: str = "",
    out: str = "",
    count: int = 2,
    skip_bad_rows: bool = False,
    board: Board = "",
    format: Literal["auto", "grid", "line"] = "auto",
    node_limit: int = solver.NODE_LIMIT,
    threads: int = 1,
    policy: str = "",
    trust: bool = False,
) -> int:
    """Solve puzzles; the exit code is 0 if each has exactly one solution, else 1.

    With `--count 1` it is 0 if each has a solution.

    Args:
        puzzle: A puzzle row by row (0 or . for a blank, letters above 9), a file, or - for standard
            input. A file holds one puzzle a line, or a single one drawn over several lines.
        file: A list of puzzles (.txt, .csv, .npz) instead. It may be of any length: a part of it at
            a time is read, solved and printed.
        out: A .csv file to write the solutions of --file to instead of printing them. Its columns
            are puzzle, solution, solutions (the number found) and decided (1 if the search was
            complete).
        count: Solutions to look for per puzzle: 2 proves that there is only one, 1 stops at the
            first.
        skip_bad_rows: Leave out rows of --file that are no puzzle, and say at the end how many
            there were.
        board: The board of the puzzles.
        format: How to print solutions; auto draws a single one and prints several as lines.
        node_limit: Candidates to try on a puzzle before it is left undecided.
        threads: Processor cores to use.
        policy: A policy that searches for solutions, to do it in place of the solver, as in
            'expert-iteration?search=best-first&evaluations=20000'; its limit is among its options.
        trust: Allow a checkpoint that is named as --policy to load and run arbitrary code.
    """
    if bool(puzzle) == bool(file):
        raise ValueError("give a puzzle, or a list of puzzles with --file")
    if not file and (out or skip_bad_rows):
        raise ValueError("--out and --skip-bad-rows are for a list that is given with --file")
    if policy and (node_limit != solver.NODE_LIMIT or threads > 1):
        raise ValueError("--node-limit and --threads are the solver's: leave --policy out")
    if trust and not policy:
        raise ValueError("--trust is for a checkpoint that is named as --policy")
    if out:
        _check_out(out, Path(file))
    found = load_solver(policy, trust=trust) if policy else None

    def search(boards: NDArray[np.int8], geometry: Geometry) -> FoundSolutions:
        if found is not None:
            return found.search(boards, geometry, count)
        return solver.find_solutions(
            boards, count, geometry, node_limit=node_limit, threads=threads
        )

    most_cells = _POLICY_CELLS if policy else None
    totals, wanted = _Totals(), geometry_named(board)
    if file:
        _solve_file(file, out, wanted, search, most_cells, count, skip_bad_rows, totals)
    else:
        _solve_argument(puzzle, wanted, search, count, format, totals)
    return 0 if totals.one == totals.puzzles else 1


def _check_out(out: str, source: Path) -> None:
    """Check, before there is anything to write, that the solutions can be written."""
    if not out.endswith(".csv"):
        raise ValueError(f"--out {out}: solutions are written to a file that ends in .csv")
    target = files.check_target(out)
    if target.exists() and source.exists() and target.samefile(source):
        raise ValueError(f"--out {out} would replace the --file itself: give another name")


def _solve_argument(
    text: str,
    wanted: Geometry | None,
    search: Search,
    count: int,
    format: str,
    totals: _Totals,
) -> None:
    """Solve the boards that `text` names, and print them."""
    boards = read_boards(text, wanted)
    geometry = geometry_for(boards.shape[1], wanted)
    result = search(boards, geometry)
    totals.add(result)
    if format == "line" or (format == "auto" and len(boards) > 1):
        print(_solution_lines(boards, result, count), end="")
        return
    for puzzle, solution, found, verdict in zip(
        boards, result.solutions, result.found, _explained(result.verdicts(count)), strict=True
    ):
        print(verdict + _remark(puzzle, int(found), geometry))
        print(to_text(solution if found else puzzle, geometry))


def _remark(puzzle: NDArray[np.int8], found: int, geometry: Geometry) -> str:
    """Say which of several solutions is drawn, or which givens leave none."""
    if found:
        return "; one of them:" if found >= 2 else ""
    try:
        check_puzzle(puzzle, geometry)
    except ValueError as error:
        return f": {error}"
    return ""


def _solve_file(
    file: str,
    out: str,
    wanted: Geometry | None,
    search: Search,
    most_cells: int | None,
    count: int,
    skip_bad_rows: bool,
    totals: _Totals,
) -> None:
    """Solve a list part by part; write or print the solutions, and the totals at the end."""
    began = process_time()
    stream = files.stream_boards(
        file, wanted, on_bad_row=totals.add_bad_row if skip_bad_rows else "raise"
    )
    stdout = sys.stdout  # a progress bar diverts what is printed later

    def print_lines(boards: NDArray[np.int8], result: FoundSolutions) -> None:
        print(_solution_lines(boards, result, count), end="", file=stdout, flush=True)

    shown = [file] if out or not stdout.isatty() else []
    destination: AbstractContextManager[WriteSolutions] = (
        _solutions_file(Path(out)) if out else nullcontext(print_lines)
    )
    with destination as write, progress(shown) as start:
        report, before = start(file), 0.0
        for geometry, boards, share in stream:
            most = max(1, most_cells // geometry.num_cells) if most_cells else None
            for part in in_chunks(len(boards), most):
                result = search(boards[part], geometry)
                write(boards[part], result)
                totals.add(result)
                report(before + (share - before) * part.stop / len(boards))
            before = share
        if not totals.puzzles:
            raise ValueError(
                f"{file}: no puzzle found; give one a line, 0 or . for a blank {totals.bad_rows}"
            )
    if totals.bad_rows:
        print(strip_control(f"{file}: {totals.bad_rows}"), file=sys.stderr)
    print(totals.summary(count, process_time() - began), file=sys.stderr)


def _explained(verdicts: NDArray[np.str_]) -> NDArray[np.str_]:
    """Add to each verdict 'undecided' what to do about it."""
    advice = "undecided: raise --node-limit, or the limit of the policy"
    return np.where(verdicts == "undecided", advice, verdicts)


def _solution_lines(boards: NDArray[np.int8], result: FoundSolutions, limit: int) -> str:
    """Format a line a board: its solution, or the board where there is none, and the verdict."""
    shown = np.where(result.found[:, None, None] > 0, result.solutions, boards)
    columns = [to_lines(shown), _explained(result.verdicts(limit)).astype("S")]
    return files.join_columns(columns, separator="  ").decode("ascii")


@contextmanager
def _solutions_file(path: Path) -> Iterator[WriteSolutions]:
    """Yield a function that adds boards to a CSV file, which is there once the block has ended."""
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        file.write(b"puzzle,solution,solutions,decided\n")

        def write(boards: NDArray[np.int8], result: FoundSolutions) -> None:
            solutions = np.where(result.found > 0, to_lines(result.solutions), b"")
            counts = result.found.astype(f"S{len(str(result.found.max()))}")
            decided = np.where(result.decided, b"1", b"0")
            file.write(files.join_columns([to_lines(boards), solutions, counts, decided]))

        yield write


@dataclass
class _Totals:
    """How many boards have how many solutions, and the rows of a file that are no board."""

    puzzles: int = 0
    without: int = 0
    one: int = 0
    several: int = 0
    undecided: int = 0
    problems: list[str] = field(default_factory=list)

    def add(self, result: FoundSolutions) -> None:
        """Count the boards of a search."""
        found, decided = result.found, result.decided
        self.puzzles += len(found)
        self.without += int(np.count_nonzero(decided & (found == 0)))
        self.one += int(np.count_nonzero(decided & (found == 1)))
        self.several += int(np.count_nonzero(found >= 2))
        self.undecided += int(np.count_nonzero(~decided & (found < 2)))

    def add_bad_row(self, line: int, problem: str) -> None:
        """Take note of a row: its number from 1, and what is wrong."""
        self.problems.append(f"{line}: {problem}")

    @property
    def bad_rows(self) -> str:
        """Say how many rows were left out; nothing if there were none."""
        if not self.problems:
            return ""
        rows = "row" if len(self.problems) == 1 else "rows"
        return f"{len(self.problems):,} bad {rows} left out, the first of them {self.problems[0]}"

    def summary(self, limit: int, seconds: float) -> str:
        """Say it in one line; `seconds` is the processor time that it took."""
        solved = f"{self.one:,} with one, {self.several:,} with several"
        return (
            f"{self.puzzles:,} puzzles: {self.without:,} without a solution, "
            f"{solved if limit > 1 else f'{self.one:,} solved'}, {self.undecided:,} undecided; "
            f"{self.puzzles / max(seconds, 1e-9):,.0f} a second of processor time"
        )
