"""The text environment: a prompt, then a sentence and the board after each of a model's turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sudoku_gym import solver
from sudoku_gym.board import SYMBOLS, cell_name
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.plugins import find_env
from sudoku_gym.puzzles.sources import Blanks, PuzzleSource
from sudoku_gym.text.boards import STYLES, BoardStyle, describe_rules, format_board
from sudoku_gym.text.parsing import Command, read_answer, read_command
from sudoku_gym.text.rewards import filled_constraint_fraction, verify


@dataclass(frozen=True)
class TextOptions:
    """The options of `TextSudoku`."""

    env_id: str = "Sudoku9x9-v0"
    """Which environment's boards and puzzles: any id of the suite."""
    mode: Literal["turns", "answer"] = "turns"
    """One move a turn, or the whole board in a single turn."""
    style: BoardStyle = "grid"
    """How boards are written: `"grid"`, `"compact"` or `"json"`."""
    blanks: Blanks = None
    """A number, a (low, high) pair, weights by number, or None for puzzles as stored."""
    split: str = "train"
    """Part of a bank: `"train"`, `"validation"`, `"test"` or `"all"`."""
    source: str | PuzzleSource | None = None
    """Where puzzles come from; None takes the bank of the id."""
    max_turns: int | None = None
    """Turns of an episode, at least 1; None allows three for each blank."""
    reward_still_solvable: bool = False
    """Whether `rewards()` has `still_solvable`, which tells of the solution: for training only."""

    def __post_init__(self) -> None:
        if self.mode not in ("turns", "answer"):
            raise ValueError(f"mode={self.mode!r}: use 'turns' or 'answer'")
        if self.style not in STYLES:
            raise ValueError(f"style={self.style!r}: use {', '.join(map(repr, STYLES))}")
        if self.max_turns is not None and self.max_turns < 1:
            raise ValueError(f"max_turns={self.max_turns}: use a whole number from 1 up, or None")


class Turn(NamedTuple):
    """What a turn has led to."""

    message: str  # one sentence, then the board while the episode goes on
    done: bool
    understood: bool  # whether a move or an answer was read, be it allowed or not


class TextSudoku:
    """A Sudoku that is read and answered in text.

    `reset` returns a prompt: the rules, what may be written, and the board. `step` takes what the
    model wrote. Puzzles are those of the Gymnasium environment: an equal seed gives an equal
    puzzle there, here, and in each member of a group.

    Nothing tells of the solution. A digit that the rules allow is accepted, right or wrong; one
    that clashes with a digit on the board is refused with the place of that digit. An episode ends
    when the board is full (then it is solved), when the model gives up, or when the turns are used
    up.

    Args:
        options: a `TextOptions`, or its fields as keywords.

    Attributes:
        options: the options.
        geometry: the board.
        turns_left: how many turns the episode has.
        done: whether the episode is over.
    """

    def __init__(self, options: TextOptions | None = None, **fields: Any) -> None:
        self.options = options or TextOptions(**fields)
        chosen: dict[str, Any] = {"split": self.options.split, "blanks": self.options.blanks}
        if self.options.source is not None:
            chosen["source"] = self.options.source
        spec = find_env(self.options.env_id)
        if spec.entry_point != "sudoku_gym.envs.sudoku:SudokuEnv":
            raise ValueError(f"env_id={self.options.env_id!r} is no Sudoku of this suite")
        self._env = SudokuEnv(**{**spec.kwargs, **chosen, "with_mask": False, "with_info": False})
        self.geometry = self._env.geometry
        self._peers: list[list[int]] = self.geometry.peers.tolist()
        self._introduction = self._describe_task()
        self._givens = self._cells = bytearray(self.geometry.num_cells)
        self._history: list[tuple[int, int]] = []  # a cell and the digit it held before a move
        self._blanks_left = self._turns_taken = self._turns_understood = 0
        self._has_filled = False  # whether the last turn filled a cell
        self.turns_left = 0
        self.done = True

    def reset(
        self, seed: int | None = None, puzzle: ArrayLike | str | None = None, blanks: Blanks = None
    ) -> str:
        """Start an episode and return the prompt.

        Args:
            seed: decides the puzzle; None goes on from the last seed.
            puzzle: starts from this board instead, int `[N, N]` or a text.
            blanks: the number of blanks for this episode only.

        Raises:
            ValueError: if the puzzle is no board, breaks a rule, or there are no such blanks.
        """
        given = {"puzzle": puzzle, "blanks": blanks}
        options = {name: value for name, value in given.items() if value is not None}
        start, _ = self._env.reset(seed=seed, options=options)
        self._givens = bytearray(start.tobytes())
        self._cells = bytearray(self._givens)
        self._blanks_left = blank = self._cells.count(0)
        self._history, self._has_filled = [], False
        self._turns_taken = self._turns_understood = 0
        allowed = self.options.max_turns or 3 * max(blank, 1)
        self.turns_left = 1 if self.options.mode == "answer" else allowed
        self.done = False
        counts = f"Blank cells: {blank}. Turns: {self.turns_left}."
        return f"{self._introduction}\n\n{counts}\n{self.board_text()}"

    def set_blanks(self, blanks: Blanks) -> None:
        """Set the number of blanks from the next reset on, as a curriculum does."""
        self._env.set_blanks(blanks)

    def step(self, text: str) -> Turn:
        """Take a model's turn.

        Args:
            text: whatever the model wrote; see `read_command` and `read_answer`.
        """
        if self.done:
            raise RuntimeError("the episode is over: call reset() before step()")
        self.turns_left -= 1
        self._turns_taken += 1
        if self.options.mode == "answer":
            return self._answer(text)
        command, blanks = read_command(text, self.geometry.size), self._blanks_left
        understood = isinstance(command, Command)
        self._turns_understood += understood
        sentence = self._carry_out(command) if isinstance(command, Command) else command
        self._has_filled = self._blanks_left < blanks
        return self._end_turn(sentence, understood)

    def board_text(self) -> str:
        """Write the board as it stands."""
        return format_board(self._cells, self.geometry, self.options.style)

    @property
    def board(self) -> NDArray[np.int8]:
        """The board as it stands, int8 `[N, N]`."""
        return self._array(self._cells)

    @property
    def puzzle(self) -> NDArray[np.int8]:
        """The board at the start, int8 `[N, N]`."""
        return self._array(self._givens)

    @property
    def is_solved(self) -> bool:
        """Whether the board is a valid completion of the puzzle."""
        return self._blanks_left == 0 and bool(verify(self.puzzle, self.board, self.geometry))

    def rewards(self) -> dict[str, float]:
        """Return the rewards so far, each in [0, 1].

        `solved` is 1 or 0; `constraints` is `filled_constraint_fraction`; `format` is the share of
        turns that were understood, 0 before the first; of a whole board, 1 if it has no blanks.
        With `reward_still_solvable`, `still_solvable` is 1 if the last turn filled a cell and the
        board can still be solved, else 0.
        """
        rewards = {
            "solved": float(self.is_solved),
            "constraints": filled_constraint_fraction(self.puzzle, self.board, self.geometry),
            "format": self._turns_understood / max(self._turns_taken, 1),
        }
        if self.options.reward_still_solvable:
            count = solver.count_solutions(self.board[None], 1, self.geometry)
            rewards["still_solvable"] = float(self._has_filled and count[0] > 0)
        return rewards

    def _array(self, cells: bytearray) -> NDArray[np.int8]:
        return np.frombuffer(bytes(cells), np.int8).reshape(2 * (self.geometry.size,))

    def _describe_task(self) -> str:
        rules, size = describe_rules(self.geometry), self.geometry.size
        if self.options.mode == "answer":
            return (
                f"{rules}\nAnswer with the whole board, {size} rows of {size} symbols, between "
                "<answer> and </answer>. Only the last board counts."
            )
        return (
            f"{rules}\nWrite one move a turn; of several the last one counts. Moves: r1c2=3 (the "
            f"digit 3 in row 1, column 2), erase r1c2, undo, give up. A digit that clashes "
            "with one on the board is refused. Each turn counts, also one that is not understood."
        )

    def _end_turn(self, sentence: str, understood: bool = False) -> Turn:
        if self._blanks_left == 0:
            sentence, self.done = f"{sentence} The board is solved.", True
        elif self.turns_left == 0 and not self.done:
            sentence, self.done = f"{sentence} No turn is left.", True
        if self.done:
            return Turn(sentence, True, understood)
        counts = f"Blank cells: {self._blanks_left}. Turns left: {self.turns_left}."
        return Turn(f"{sentence} {counts}\n{self.board_text()}", False, understood)

    def _carry_out(self, command: Command) -> str:
        """Carry out a command and return one sentence about it."""
        kind, cell, digit = command
        where = cell_name(cell, self.geometry.size)
        if kind == "give up":
            self.done = True
            return "You have given up."
        if kind == "undo":
            if not self._history:
                return "There is no move to undo."
            cell, digit = self._history.pop()
            self._write(cell, digit)
            return f"The move at {cell_name(cell, self.geometry.size)} was undone."
        if self._givens[cell]:
            return f"The {SYMBOLS[self._givens[cell]]} at {where} is given and stays."
        if kind == "erase":
            if not self._cells[cell]:
                return f"There is no digit at {where} to erase."
            self._change(cell, 0)
            return f"The digit at {where} was erased."
        return self._place(cell, digit, where)

    def _place(self, cell: int, digit: int, where: str) -> str:
        if self._cells[cell]:
            held = SYMBOLS[self._cells[cell]]
            return f"There is a {held} at {where} already: erase it first."
        for peer in self._peers[cell]:
            if self._cells[peer] == digit:
                there = cell_name(peer, self.geometry.size)
                return f"{SYMBOLS[digit]} at {where} clashes with the {SYMBOLS[digit]} at {there}."
        self._change(cell, digit)
        return f"{SYMBOLS[digit]} was placed at {where}."

    def _change(self, cell: int, digit: int) -> None:
        self._history.append((cell, self._cells[cell]))
        self._write(cell, digit)

    def _write(self, cell: int, digit: int) -> None:
        self._blanks_left += (self._cells[cell] > 0) - (digit > 0)
        self._cells[cell] = digit

    def _answer(self, text: str) -> Turn:
        self.done = True
        found = read_answer(text, self.geometry.size)
        if isinstance(found, str):
            return Turn(found, True, False)
        self._cells = bytearray(found)
        self._blanks_left = found.count(0)
        self._turns_understood += self._blanks_left == 0
        result = "solved" if self.is_solved else "not solved"
        return Turn(f"The board is {result}.", True, True)
