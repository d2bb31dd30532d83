"""`sudoku-gym play`: solve a puzzle by hand in the terminal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board, solver
from sudoku_gym.board import SYMBOLS
from sudoku_gym.cli.puzzle_arguments import BankFileOrPuzzle, Board, Split, draw_puzzle
from sudoku_gym.envs.rendering import to_ansi
from sudoku_gym.geometry import Geometry

HELP = """\
  {row} {column} {digit}    put digit {digit} into row {row}, column {column} (letters above 9)
  {row} {column} .    clear row {row}, column {column}
  undo     take the last move back
  hint     show the digit of one cell
  check    say whether the board can still be solved
  quit     leave"""


def play(
    puzzle: BankFileOrPuzzle = "9x9",
    /,
    *,
    board: Board = "",
    split: Split = "all",
    blanks: str = "",
    seed: int | None = None,
) -> int:
    """Solve a puzzle by hand in the terminal.

    The exit code is 0 once it is solved, and 1 if the player leaves.

    Args:
        puzzle: What to play.
        board: Its board.
        split: Part of a bank to draw from.
        blanks: Reveal cells until this many blanks are left: a number, or a range such as 30-40.
        seed: The same seed draws the same puzzle; a new one each time if not given.
    """
    return 0 if _Game(*draw_puzzle(puzzle, board, split, blanks, seed)).play() else 1


class _Game:
    """One puzzle, the moves made so far, and the dialogue about them."""

    def __init__(self, start: NDArray[np.int8], geometry: Geometry) -> None:
        self.geometry = geometry
        self.board = start
        self.givens = start > 0
        self.last: tuple[int, int] | None = None
        self.history = list[NDArray[np.int8]]()
        self.help = _help(start, self.geometry)

    def play(self) -> bool:
        """Ask for moves until the board is solved or the player leaves; return if solved."""
        print(f"{self.geometry.name}, {np.count_nonzero(self.board == 0)} blanks.\n{self.help}")
        while not board.is_solved(self.board[None], self.geometry)[0]:
            print(f"\n{labelled(self.board, self.givens, self.geometry, self.last)}")
            try:
                words = input("> ").replace(",", " ").split()
            except EOFError:
                words = ["quit"]
            if words[:1] in (["quit"], ["q"], ["exit"]):
                return False
            answer = self.answer(words)
            if answer:
                print(answer)
        print(f"\n{labelled(self.board, self.givens, self.geometry, self.last)}\nSolved!")
        return True

    def answer(self, words: list[str]) -> str:
        """Carry out one command and return the message to print."""
        commands = {"undo": self._undo, "hint": self._hint, "check": self._check}
        if len(words) == 1 and words[0] in commands:
            return commands[words[0]]()
        if len(words) == 1 and len(words[0]) == 3:
            words = list(words[0])
        if len(words) != 3:
            return self.help
        row, column = (_number(word, self.geometry.size) for word in words[:2])
        digit = 0 if words[2] in (".", "0") else _number(words[2], self.geometry.size)
        if row is None or column is None or digit is None:
            return f"Rows, columns and digits are {board.digit_range(self.geometry.size)}."
        return self._put((row - 1) * self.geometry.size + column - 1, digit)

    def _put(self, cell: int, digit: int) -> str:
        size, after = self.geometry.size, self.board.copy()
        where = board.cell_name(cell, size)
        if self.givens.flat[cell]:
            return f"The digit at {where} is a given."
        if not digit and not self.board.flat[cell]:
            return f"The cell at {where} is blank already."
        for peer in self.geometry.peers[cell].tolist() if digit else []:
            if self.board.flat[peer] == digit:
                return f"{SYMBOLS[digit]} stands at {board.cell_name(peer, size)} already."
        after.flat[cell] = digit
        self.history.append(self.board)
        self.board, self.last = after, divmod(cell, size)
        return ""

    def _undo(self) -> str:
        if not self.history:
            return "There is nothing to take back."
        self.board, self.last = self.history.pop(), None
        return ""

    def _hint(self) -> str:
        solution = solver.solve(self.board[None], self.geometry)[0]
        if not solution.any():
            return self._check()
        choices = board.candidates(self.board[None], self.geometry)[0].sum(-1)
        cell = int(np.where(self.board == 0, choices, 99).argmin())
        return f"Try {SYMBOLS[solution.flat[cell]]} at {board.cell_name(cell, self.geometry.size)}."

    def _check(self) -> str:
        count = int(solver.count_solutions(self.board[None], 2, self.geometry)[0])
        if count == 0:
            return "No solution any more: take something back."
        return "Good so far." if count > 0 else "Too hard to tell."


def labelled(
    cells: NDArray[np.int8],
    givens: NDArray[np.bool_],
    geometry: Geometry,
    last: tuple[int, int] | None = None,
) -> str:
    """Draw a board with the names of its rows and columns in the margins."""
    size, regions = geometry.size, geometry.regions
    columns = np.tile(np.arange(1, size + 1, dtype=np.int8), (size, 1))
    head = to_ansi(columns, geometry=geometry, color=False).splitlines()[0].replace("|", " ")
    lines = iter(to_ansi(cells, givens, geometry, last=last).splitlines())
    drawn = [f"  {head}"]
    for row in range(size):
        if row and (regions[row - 1] != regions[row]).any():
            drawn.append(f"  {next(lines)}")
        drawn.append(f"{SYMBOLS[row + 1]} {next(lines)}")
    return "\n".join(drawn)


def _help(start: NDArray[np.int8], geometry: Geometry) -> str:
    """Explain the commands with a placement that the rules allow on the board `start`."""
    cell, digit = divmod(int(board.candidates(start[None], geometry).argmax()), geometry.size)
    row, column = divmod(cell, geometry.size)
    return HELP.format(row=SYMBOLS[row + 1], column=SYMBOLS[column + 1], digit=SYMBOLS[digit + 1])


def _number(word: str, size: int) -> int | None:
    """Read a row, column or digit, 1 to N, as a number or as a letter above 9."""
    number = SYMBOLS.find(word.upper()) if len(word) == 1 else int(word) if word.isdecimal() else 0
    return number if 1 <= number <= size else None
