"""`sudoku-gym solve`: complete puzzles and say how many solutions they have."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import process_time
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from tyro.conf import Positional

from sudoku_gym import board, solver
from sudoku_gym.cli import terminal
from sudoku_gym.cli.puzzle_arguments import Board, geometry_named, read_boards
from sudoku_gym.cli.solve_output import (
    BadRows,
    Totals,
    WriteSolutions,
    explained,
    solution_lines,
    solutions_file,
)
from sudoku_gym.geometry import Geometry, geometry_for
from sudoku_gym.policies import CompleteSolver, load_solver
from sudoku_gym.puzzles import files
from sudoku_gym.solver.chunks import in_chunks

_POLICY_CELLS = 10_368  # of the boards of a slice; the search of a policy may keep much for each
_MOST_THREADS = 1024


@dataclass(frozen=True)
class Solve:
    """Solve puzzles; the exit code is 0 if each has exactly one solution, else 1.

    With `--count 1` it is 0 if each has a solution.
    """

    puzzle: Positional[str] = ""
    """A puzzle row by row (0 or . for a blank, letters above 9), a file, or - for standard input.
    A file holds one puzzle a line, or a single one drawn over several lines."""
    file: str = ""
    """A list of puzzles (.txt, .csv, .npz) instead. It may be of any length: a part of it at a time
    is read, solved and printed."""
    out: str = ""
    """A .csv file to write the solutions of --file to instead of printing them. Its columns are
    puzzle, solution, solutions (the number found) and decided (1 if the search was complete)."""
    count: int = 2
    """Solutions to look for per puzzle: 2 proves that there is only one, 1 stops at the first."""
    skip_bad_rows: bool = False
    """Leave out rows of --file that are no puzzle, and say at the end how many there were."""
    board: Board = ""
    format: Literal["auto", "grid", "line"] = "auto"
    """How to print solutions; auto draws a single one and prints several as lines."""
    node_limit: int = solver.NODE_LIMIT
    """Candidates to try on a puzzle before it is left undecided."""
    threads: int = 1
    """Processor cores to use."""
    policy: str = ""
    """A policy that searches for solutions, to do it in place of the solver, as in
    'expert-iteration?search=best-first&evaluations=20000'; its limit is among its options."""
    trust: bool = False
    """Allow a checkpoint that is named as --policy to load and run arbitrary code."""

    def run(self) -> int:
        """Solve, print or write."""
        self._check_options()
        geometry = geometry_named(self.board)
        totals = self._solve_file(geometry) if self.file else self._solve_argument(geometry)
        return 0 if totals.one == totals.puzzles else 1

    def _check_options(self) -> None:
        if not (self.puzzle or self.file):
            raise ValueError("give a puzzle, or a list of puzzles with --file")
        if self.puzzle and self.file:
            raise ValueError(f"give {self.puzzle[:40]!r} or --file {self.file}, not both")
        if not self.file and (self.out or self.skip_bad_rows):
            raise ValueError("--out and --skip-bad-rows are for a list that is given with --file")
        if self.file and self.format == "grid":
            raise ValueError("the solutions of a --file are lines: leave --format grid out")
        for name, number in (("count", self.count), ("node-limit", self.node_limit)):
            low = int(name == "count")
            if not low <= number < 2**63:
                raise ValueError(f"--{name} must be {low} to 2^63 - 1, not {number}")
        if not 1 <= self.threads <= _MOST_THREADS:
            raise ValueError(f"--threads must be 1 to {_MOST_THREADS}, not {self.threads}")
        if self.policy and (self.node_limit != solver.NODE_LIMIT or self.threads > 1):
            raise ValueError("--node-limit and --threads are the solver's: leave --policy out")
        if self.trust and not self.policy:
            raise ValueError("--trust is for a checkpoint that is named as --policy")
        if self.out:
            _check_out(self.out, Path(self.file))

    @cached_property
    def _policy(self) -> CompleteSolver | None:
        return load_solver(self.policy, trust=self.trust) if self.policy else None

    def _search(self, boards: NDArray[np.int8], geometry: Geometry) -> solver.FoundSolutions:
        if self._policy is not None:
            result = self._policy.search(boards, geometry, self.count)
            kept = ((boards == 0) | (boards == result.solutions)).all((1, 2))
            if not (kept & board.is_solved(result.solutions, geometry))[result.found > 0].all():
                raise ValueError(f"{self.policy} calls a board a solution that is none")
            return result
        return solver.find_solutions(
            boards, self.count, geometry, node_limit=self.node_limit, threads=self.threads
        )

    def _solve_argument(self, wanted: Geometry | None) -> Totals:
        boards = read_boards(self.puzzle, wanted)
        geometry = geometry_for(boards.shape[1], wanted)
        result = self._search(boards, geometry)
        totals = Totals()
        totals.add(result)
        if self.format == "line" or (self.format == "auto" and len(boards) > 1):
            print(solution_lines(boards, result, self.count), end="")
            return totals
        answers = explained(result.verdicts(self.count))
        for puzzle, solution, found, answer in zip(
            boards, result.solutions, result.found, answers, strict=True
        ):
            print(answer + self._remark(puzzle, int(found), geometry))
            print(board.to_text(solution if found else puzzle, geometry))
        return totals

    def _remark(self, puzzle: NDArray[np.int8], found: int, geometry: Geometry) -> str:
        """Say which of several solutions is drawn, or which givens leave none."""
        if found:
            return "; one of them:" if found >= 2 else ""
        try:
            board.check_puzzle(puzzle, geometry)
        except ValueError as error:
            return f": {error}"
        return ""

    def _solve_file(self, wanted: Geometry | None) -> Totals:
        """Solve a list part by part; write or print the solutions, and the totals at the end."""
        began, totals, bad_rows = process_time(), Totals(), BadRows()
        stream = files.stream_boards(
            self.file, wanted, on_bad_row=bad_rows.add if self.skip_bad_rows else "raise"
        )
        with self._destination() as write, self._progress() as report:
            for boards, result, share in self._in_slices(stream):
                write(boards, result)
                totals.add(result)
                report(share)
            if not totals.puzzles:
                left_out = f" ({bad_rows.summary()})" if bad_rows.count else ""
                raise ValueError(
                    f"{self.file}: no puzzle found; give one a line, 0 or . for a blank{left_out}"
                )
        if bad_rows.count:
            terminal.report(f"{self.file}: {bad_rows.summary()}")
        terminal.report(totals.summary(self.count, process_time() - began))
        return totals

    def _in_slices(
        self, stream: Iterable[tuple[Geometry, NDArray[np.int8], float]]
    ) -> Iterator[tuple[NDArray[np.int8], solver.FoundSolutions, float]]:
        """Yield boards, their solutions, and the share of the file that is solved with them."""
        before = 0.0
        for geometry, boards, share in stream:
            most = max(1, _POLICY_CELLS // geometry.num_cells) if self.policy else None
            for part in in_chunks(len(boards), most):
                done = before + (share - before) * part.stop / len(boards)
                yield boards[part], self._search(boards[part], geometry), done
            before = share

    def _destination(self) -> AbstractContextManager[WriteSolutions]:
        if self.out:
            return solutions_file(Path(self.out))
        stdout = sys.stdout  # a progress bar diverts what is printed later

        def print_lines(boards: NDArray[np.int8], result: solver.FoundSolutions) -> None:
            print(solution_lines(boards, result, self.count), end="", file=stdout, flush=True)

        return nullcontext(print_lines)

    @contextmanager
    def _progress(self) -> Iterator[terminal.OnProgress]:
        """Show a bar, unless the solutions are printed where it would stand."""
        is_seen = not self.out and sys.stdout is not None and sys.stdout.isatty()
        with terminal.progress([] if is_seen else [self.file]) as start:
            yield start(self.file)


def _check_out(out: str, source: Path) -> None:
    """Check, before there is anything to write, that the solutions can be written."""
    if not out.endswith(".csv"):
        raise ValueError(f"--out {out}: solutions are written to a file that ends in .csv")
    target = files.check_target(out)
    if target.exists() and source.exists() and target.samefile(source):
        raise ValueError(f"--out {out} would replace the --file itself: give another name")
