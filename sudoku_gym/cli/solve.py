"""`sudoku-gym solve`: complete puzzles and say how many solutions they have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from tyro.conf import Positional

from sudoku_gym import board, solver
from sudoku_gym.cli.puzzle_arguments import Board, geometry_named, read_boards
from sudoku_gym.geometry import Geometry, geometry_for


@dataclass(frozen=True)
class Solve:
    """Solve puzzles; the exit code is 0 if each has exactly one solution, else 1."""

    puzzle: Positional[str]
    """A puzzle row by row (0 or . for a blank, letters above 9), a file, or - for standard input.
    A file holds one puzzle a line, or a single one drawn over several lines."""
    board: Board = ""
    format: Literal["auto", "grid", "line"] = "auto"
    """How to print solutions; auto draws a single one and prints several as lines."""
    node_limit: int = solver.NODE_LIMIT
    """Candidates to try on a puzzle before it is left undecided."""

    def run(self) -> int:
        """Solve and print."""
        if not 0 <= self.node_limit < 2**63:
            raise ValueError(f"--node-limit must be 0 to 2^63 - 1, not {self.node_limit}")
        wanted = geometry_named(self.board)
        boards = read_boards(self.puzzle, wanted)
        geometry = geometry_for(boards.shape[1], wanted)
        result = solver.find_solutions(boards, 2, geometry, node_limit=self.node_limit)
        as_grid = self.format == "grid" or (self.format == "auto" and len(boards) == 1)
        for puzzle, solution, found, decided in zip(
            boards, result.solutions, result.found, result.decided, strict=True
        ):
            verdict = _verdict(int(found), bool(decided))
            shown = solution if found else puzzle
            if as_grid:
                print(verdict + _remark(puzzle, int(found), geometry))
                print(board.to_text(shown, geometry))
            else:
                print(f"{board.to_line(shown)}  {verdict}")
        return 0 if (result.decided & (result.found == 1)).all() else 1


def _verdict(found: int, decided: bool) -> str:
    if found >= 2:
        return "several solutions"
    if not decided:
        return "undecided: raise --node-limit"
    return "one solution" if found else "no solution"


def _remark(puzzle: NDArray[np.int8], found: int, geometry: Geometry) -> str:
    """Say which of several solutions is drawn, or which givens leave none."""
    if found:
        return "; one of them:" if found >= 2 else ""
    try:
        board.check_puzzle(puzzle, geometry)
    except ValueError as error:
        return f": {error}"
    return ""
