"""A policy of the suite in a language model's place: it reads boards and writes moves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.board.actions import legal_placements
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Policy
from sudoku_gym.policies.protocols import actions_of
from sudoku_gym.text.parsing import read_answer


class ScriptedModel:
    """Answers messages of `TextSudoku` by the moves of a policy.

    It knows nothing but the text: the board is read from each message. `seed` is of the policy's
    draws.
    """

    def __init__(self, policy: Policy, geometry: Geometry, seed: int = 0) -> None:
        self._policy = policy
        self._geometry = geometry
        self._rng = np.random.default_rng(seed)

    def next_move(self, message: str, *, first: bool = False) -> str:
        """Return the text of one move, such as `r5c3=7`; `give up` where none is legal.

        Args:
            message: the prompt or a turn's message.
            first: whether an episode begins.

        Raises:
            ValueError: if there is no board in the message, or the policy answers no placement.
        """
        boards = self._read(message)
        if first:
            self._policy.reset(boards.copy(), self._geometry, self._rng)
        masks = legal_placements(boards, self._geometry, "legal")
        if not masks.any():
            return "give up"
        cell, digit = self._placement(boards, masks)
        row, column = divmod(cell, self._geometry.size)
        return f"r{row + 1}c{column + 1}={digit + 1}"

    def whole_board(self, prompt: str) -> str:
        """Play a puzzle to its end, or to an illegal move, and return the board as an answer."""
        boards = self._read(prompt)
        self._policy.reset(boards.copy(), self._geometry, self._rng)
        while (masks := legal_placements(boards, self._geometry, "legal")).any():
            cell, digit = self._placement(boards, masks)
            if not masks.reshape(-1, self._geometry.size)[cell, digit]:
                break
            boards[0].flat[cell] = digit + 1
        return f"<answer>\n{board.to_text(boards[0], self._geometry)}\n</answer>"

    def _placement(self, boards: NDArray[np.int8], masks: NDArray[np.bool_]) -> tuple[int, int]:
        """Return the cell that the policy chooses, and the digit less one."""
        action = int(actions_of(self._policy.act(boards.copy(), masks.copy()), 1)[0])
        if not 0 <= action < masks.shape[1]:
            raise ValueError(f"act answered {action}: placements are 0 to {masks.shape[1] - 1}")
        return divmod(action, self._geometry.size)

    def _read(self, message: str) -> np.ndarray[tuple[int, int, int], np.dtype[np.int8]]:
        size = self._geometry.size
        found = read_answer(message, size)
        if isinstance(found, str):
            raise ValueError(found)
        return np.frombuffer(found, np.int8).reshape(1, size, size).copy()
