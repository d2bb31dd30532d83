"""A game on the page: a policy and a person place digits in turns, forwards and backwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.board import SYMBOLS
from sudoku_gym.envs.rendering import draw, to_ansi
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Policy
from sudoku_gym.policies.protocols import actions_of


@dataclass(frozen=True)
class Frame:
    """A board of a game, and what led to it."""

    board: NDArray[np.int8]  # [N, N]
    move: str  # in words; how many blanks there are before the first one
    remark: str = ""  # what is known of the move
    last: tuple[int, int] | None = None  # its row and column; None before the first one
    heat: NDArray[np.floating] | None = None  # [N**3], the policy's probabilities for the next move


class Game:
    """One game of a policy, from a puzzle int8 `[N, N]`.

    The policy may show more than its moves: by a method `probabilities(boards, action_masks) ->
    [B, A]`, which is called with `heat` alone, and after a move by the attribute
    `last_convergence`, with `rounds [B]` and `converged [B]`, or None.
    """

    def __init__(
        self,
        policy: Policy,
        puzzle: NDArray[np.int8],
        geometry: Geometry,
        seed: int = 0,
        heat: bool = True,
    ) -> None:
        self.geometry = geometry
        self._policy, self._seed = policy, seed
        self._probabilities = getattr(policy, "probabilities", None) if heat else None
        self._givens = puzzle > 0
        self._frames, self._shown = list[Frame](), -1
        self._start_from(puzzle, f"{np.count_nonzero(puzzle == 0)} blanks")

    @property
    def frame(self) -> Frame:
        """The frame that is shown."""
        return self._frames[self._shown]

    @property
    def is_over(self) -> bool:
        """Whether the shown board has no legal placement."""
        return not self._masks(self.frame.board).any()

    @property
    def is_solved(self) -> bool:
        """Whether the shown board is solved."""
        return bool(board.is_solved(self.frame.board[None], self.geometry)[0])

    @property
    def result(self) -> str:
        """The outcome, once the game is over."""
        if self.is_solved:
            return f"solved after {self._shown} moves"
        blanks = np.count_nonzero(self.frame.board == 0)
        return f"not solved after {self._shown} moves: {blanks} blanks left without a candidate"

    @property
    def status(self) -> str:
        """The last move, and the outcome at the end."""
        shown = f"{self.frame.move}{self.frame.remark}."
        return f"{shown} {self.result.capitalize()}." if self.is_over else shown

    @property
    def text(self) -> str:
        """The shown board for the terminal."""
        return to_ansi(self.frame.board, self._givens, self.geometry, last=self.frame.last)

    def draw(self, size: int | None = 640) -> NDArray[np.uint8]:
        """Draw the shown board, about `size` pixels wide: uint8 `[H, W, 3]`.

        Probable candidates are dark; None takes the size that fits the digits.
        """
        cells, last = (self.frame.board, self._givens, self.geometry), self.frame.last
        return draw(*cells, last=last, show_candidates=True, heat=self.frame.heat, size=size)

    def play(self) -> Iterator[Frame]:
        """Play to the end, and yield every frame while it is shown."""
        yield self.frame
        while not self.is_over:
            self.step()
            yield self.frame

    def cell_at(self, pixel: float) -> int:
        """Return the row or column, from 0, at a coordinate of the picture."""
        size = self.geometry.size
        return min(int(pixel * size / len(self.draw())), size - 1)

    def step(self) -> None:
        """Show the next move; the policy makes one if there is none yet."""
        if self._shown + 1 < len(self._frames):
            self._shown += 1
        elif not self.is_over:
            self._play()

    def back(self) -> None:
        """Show the move before."""
        self._shown = max(self._shown - 1, 0)

    def place(self, row: int, column: int, digit: int) -> None:
        """Place a digit for the person, a candidate of its cell; the policy goes on from there."""
        action = (row * self.geometry.size + column) * self.geometry.size + digit - 1
        after, move, last = self._after(action)
        if not self._masks(self.frame.board)[0, action]:
            raise ValueError(f"{move} is not legal")
        self._start_from(after, f"You: {move}", last)

    def _start_from(
        self, start: NDArray[np.int8], move: str, last: tuple[int, int] | None = None
    ) -> None:
        self._policy.reset(start[None].copy(), self.geometry, np.random.default_rng(self._seed))
        self._show(Frame(start, move, last=last, heat=self._heat(start)))

    def _play(self) -> None:
        before, masks = self.frame.board, self._masks(self.frame.board)
        began = perf_counter()
        action = int(actions_of(self._policy.act(before[None].copy(), masks), 1)[0])
        seconds = perf_counter() - began
        if not 0 <= action < masks.size or not masks[0, action]:
            raise ValueError(f"the policy has chosen an illegal action, {action}")
        remark = f", in {1000 * seconds:.0f} ms{self._convergence()}"
        after, move, last = self._after(action)
        self._show(Frame(after, move, remark, last, self._heat(after)))

    def _show(self, frame: Frame) -> None:
        self._shown += 1
        self._frames[self._shown :] = [frame]

    def _after(self, action: int) -> tuple[NDArray[np.int8], str, tuple[int, int]]:
        """Return the board after a placement, the placement in words, and its row and column."""
        size, after = self.geometry.size, self.frame.board.copy()
        cell, digit = divmod(action, size)
        after.flat[cell] = digit + 1
        move = f"{SYMBOLS[digit + 1]} at {board.cell_name(cell, size)}"
        return after, move, divmod(cell, size)

    def _masks(self, now: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Return the legal placements, bool `[1, N**3]`."""
        return board.candidates(now[None], self.geometry).reshape(1, -1)

    def _heat(self, now: NDArray[np.int8]) -> NDArray[np.floating] | None:
        masks = self._masks(now)
        if self._probabilities is None or not masks.any():
            return None
        shares = self._probabilities(now[None].copy(), masks)[0]
        heat = np.asarray(shares, np.float64)[: masks.size]
        return heat / max(heat.max(), 1.0)  # counts, say, are no probabilities

    def _convergence(self) -> str:
        """Say whether the network had converged before the move, if it tells."""
        latest = getattr(self._policy, "last_convergence", None)
        if latest is None or not latest.rounds[0]:
            return ""
        rounds = f"{latest.rounds[0]:,} rounds"
        if latest.converged[0]:
            return f". Converged after {rounds}"
        return f". Not converged after {rounds}: this move is a guess"
