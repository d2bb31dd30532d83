"""One game of a policy, move by move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.board import SYMBOLS
from sudoku_gym.envs.rendering import draw, to_ansi
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Policy
from sudoku_gym.policies.protocols import actions_of


@dataclass(frozen=True)
class Moment:
    """A board of an episode, and the move that led to it."""

    board: NDArray[np.int8]  # [N, N]
    givens: NDArray[np.bool_]  # [N, N]
    geometry: Geometry
    last: tuple[int, int] | None  # row and column of the last move; None before the first one
    heat: NDArray[np.floating[Any]] | None  # [N**3], the policy's probabilities; or None
    caption: str  # description of the move, empty before the first one

    @property
    def text(self) -> str:
        """The board for the terminal."""
        return to_ansi(self.board, self.givens, self.geometry, last=self.last)

    def render(self, width: int | None = None) -> NDArray[np.uint8]:
        """Draw the board with its candidates, `width` pixels wide: uint8 `[H, W, 3]`."""
        cells = (self.board, self.givens, self.geometry)
        return draw(*cells, last=self.last, show_candidates=True, heat=self.heat, size=width)


class Episode:
    """One game of a policy in an environment.

    The seed decides the draw of the puzzle and the policy; the options are those of the
    environment's reset. With `heat` candidates get the colours of the policy's probabilities, from
    its method `probabilities(boards, action_masks) -> [B, A]`; a ValueError says if it has none.

    Attributes:
        is_solved: whether the last game played ended with a solved board.
        result: description of its outcome.
    """

    def __init__(
        self, env: SudokuEnv, policy: Policy, seed: int, options: dict[str, Any], heat: bool
    ) -> None:
        self._env, self._policy = env, policy
        self._seed, self._options = seed, options
        self._probabilities = getattr(policy, "probabilities", None) if heat else None
        if heat and self._probabilities is None:
            raise ValueError(
                f"{type(policy).__name__} has no probabilities: leave the heat out, or add "
                "a method probabilities(boards, action_masks) -> [B, A]"
            )
        self.is_solved = False
        self.result = "no game yet"

    def play(self) -> Iterator[Moment]:
        """Yield every board, the first one before any move."""
        shown, info = self._env.reset(seed=self._seed, options=self._options)
        givens, geometry = shown > 0, self._env.geometry
        self._policy.reset(shown[None].copy(), geometry, np.random.default_rng(self._seed))
        moves, is_over = 0, not info["action_mask"].any()
        yield Moment(shown, givens, geometry, None, self._heat(shown), "")
        while not is_over:
            masks = self._env.action_masks()[None]
            action = int(actions_of(self._policy.act(shown[None].copy(), masks), 1)[0])
            shown, _, terminated, truncated, info = self._env.step(action)
            moves += 1
            is_over = terminated or truncated
            cell, digit = divmod(action, geometry.size)
            caption = f"{moves}. {SYMBOLS[digit + 1]} at {board.cell_name(cell, geometry.size)}"
            if info["illegal_action"]:
                caption, is_over = f"{caption}: illegal", True
            elif info["dead_end"]:
                caption += " (a blank cell has no candidate now)"
            last = divmod(cell, geometry.size)
            yield Moment(shown, givens, geometry, last, self._heat(shown), caption)
        self.is_solved = bool(info["is_success"])
        ending = "solved" if self.is_solved else f"not solved, {info['blanks']} cells left"
        self.result = f"{ending} after {moves} moves"

    def _heat(self, shown: NDArray[np.int8]) -> NDArray[np.floating[Any]] | None:
        masks = self._env.action_masks()[None]
        if self._probabilities is None or not masks.any():
            return None
        given = np.asarray(self._probabilities(shown[None].copy(), masks), np.float64)
        heat = given[0, : self._env.geometry.num_placements]
        return heat / max(heat.max(), 1.0)  # counts, say, are no probabilities
