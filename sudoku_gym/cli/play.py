"""`sudoku-gym play`: solve a puzzle by hand in the terminal."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board, solver
from sudoku_gym.board import SYMBOLS
from sudoku_gym.cli.puzzle_arguments import Board, Puzzles, Split, draw_puzzle
from sudoku_gym.envs.rendering import to_ansi
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.sources import EmptySource
from sudoku_gym.registration import ANY_BOARD
from sudoku_gym.text import TextSudoku

HELP = """\
  1 2 3    put digit 3 into row 1, column 2 (letters or numbers above 9)
  erase 1 2
  undo     take the last move back
  hint     show the digit of one cell
  check    say whether the board can still be solved
  quit     leave"""
_MOST_TURNS = 10_000


def play(
    *,
    puzzles: Puzzles = "9x9",
    board: Board = "",
    split: Split | None = None,
    blanks: str = "",
    seed: int | None = None,
) -> int:
    """Solve a puzzle by hand in the terminal.

    The exit code is 0 once it is solved, and 1 if the player leaves.

    Args:
        puzzles: What to play; one of several is drawn.
        board: Its board.
        split: Part of a bank to draw from; the test split if the bank has one.
        blanks: Reveal cells until this many blanks are left: a number, or a range such as 30-40.
        seed: The same seed draws the same puzzle; a new one each time if not given.
    """
    start, geometry = draw_puzzle(puzzles, board, split, blanks, seed)
    game = TextSudoku(env_id=ANY_BOARD, source=EmptySource(geometry), max_turns=_MOST_TURNS)
    game.reset(puzzle=start)
    print(f"{geometry.name}, {np.count_nonzero(start == 0)} blanks.\n{HELP}")
    while not game.done:
        print(f"\n{labelled(game.board, start > 0, geometry)}")
        try:
            line = input("> ").strip()
        except EOFError:
            line = "quit"
        if line in ("hint", "check"):
            print(_hint(game) if line == "hint" else _check(game))
        elif not line or line == "help":
            print(HELP)
        else:
            # Rows, columns and digits above 9 may be letters, as they are drawn.
            words = re.sub(r"\b[A-P]\b", lambda word: str(SYMBOLS.index(word[0])), line.upper())
            print(game.step(words).message.partition(" Turns left")[0])
    if not game.is_solved:
        return 1
    print(f"\n{labelled(game.board, start > 0, geometry)}")
    return 0


def _hint(game: TextSudoku) -> str:
    solution = solver.solve(game.board[None], game.geometry)[0]
    if not solution.any():
        return _check(game)
    choices = board.candidates(game.board[None], game.geometry)[0].sum(-1)
    cell = int(np.where(game.board == 0, choices, 99).argmin())
    return f"Try {SYMBOLS[solution.flat[cell]]} at {board.cell_name(cell, game.geometry.size)}."


def _check(game: TextSudoku) -> str:
    count = int(solver.count_solutions(game.board[None], 2, game.geometry)[0])
    if count == 0:
        return "No solution any more: take something back."
    return "Good so far." if count > 0 else "Too hard to tell."


def labelled(cells: NDArray[np.int8], givens: NDArray[np.bool_], geometry: Geometry) -> str:
    """Draw a board with the names of its rows and columns in the margins."""
    size, regions = geometry.size, geometry.regions
    columns = np.tile(np.arange(1, size + 1, dtype=np.int8), (size, 1))
    head = to_ansi(columns, geometry=geometry, color=False).splitlines()[0].replace("|", " ")
    lines = iter(to_ansi(cells, givens, geometry).splitlines())
    drawn = [f"  {head}"]
    for row in range(size):
        if row and (regions[row - 1] != regions[row]).any():
            drawn.append(f"  {next(lines)}")
        drawn.append(f"{SYMBOLS[row + 1]} {next(lines)}")
    return "\n".join(drawn)
