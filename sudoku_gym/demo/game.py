"""One policy at its board: what it did last, what it thinks, what its search looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.board import SYMBOLS, cell_name
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.evaluation.episode import Episode, Moment
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Policy
from sudoku_gym.puzzles.sources import GivenPuzzles

SHOWN = 5


@dataclass(frozen=True)
class Share:
    """How much of something falls on a placement.

    Attributes:
        placement: in words, such as `7 at row 1, column 2`.
        share: from 0 to 1.
        amount: in words.
    """

    placement: str
    share: float
    amount: str


class Game:
    """One game, move by move.

    Args:
        name: of the policy, as it is shown.
        policy: who plays. It may tell how likely it is to place each digit, in a method
            `probabilities(boards, action_masks) -> [B, A]`, and what it looked at before its last
            move, in an attribute `searched` with `visit_counts [B, N**3]` and `values [B]`, or
            None if it did not search.
        puzzle: int8 `[N, N]`.
        geometry: of the puzzle.

    Attributes:
        moment: the board now.
        seconds: that the last move took.
        is_over: whether there is nothing left to play.
        failure: what went wrong in the policy, in words; empty if nothing did.
    """

    def __init__(
        self, name: str, policy: Policy, puzzle: NDArray[np.int8], geometry: Geometry
    ) -> None:
        self.name = name
        self._policy = policy
        env = SudokuEnv(GivenPuzzles(geometry), max_episode_steps=2**31)
        heat = hasattr(policy, "probabilities")
        self._episode = Episode(env, policy, 0, {"puzzle": puzzle}, heat)
        self._moments: Iterator[Moment] = self._episode.play()
        self.moment = next(self._moments)
        self.seconds = 0.0
        self.failure = ""
        self.is_over = False

    def step(self) -> None:
        """Play a move; nothing happens when the game is over."""
        if self.is_over:
            return
        began = perf_counter()
        try:
            self.moment = next(self._moments)
            self.seconds = perf_counter() - began
        except StopIteration:
            self.is_over = True
        except Exception as error:  # of somebody's policy: the page goes on without it
            self.failure = f"{type(error).__name__}: {error}"
            self.is_over = True

    @property
    def words(self) -> str:
        """What happened last, or how the game ended."""
        if self.failure:
            return f"The policy failed. {self.failure}"
        if self.is_over:
            return self._episode.result.capitalize() + "."
        if not self.moment.caption:
            return f"{int((self.moment.board == 0).sum())} blanks."
        return f"{self.moment.caption}, in {1000 * self.seconds:.0f} ms"

    @property
    def thoughts(self) -> list[Share]:
        """The likeliest next placements, none if the policy does not tell."""
        heat = self.moment.heat
        return [] if heat is None else self._largest(heat, "{:.1%}")

    @property
    def searched(self) -> tuple[list[Share], float] | None:
        """What the search before the last move looked at, and what it made of the board."""
        found: Any = getattr(self._policy, "searched", None)
        if found is None:
            return None
        counts = np.asarray(found.visit_counts[0], np.float64)
        shares = counts / max(counts.sum(), 1.0)
        return self._largest(shares, "{:.0%}"), float(found.values[0])

    def _largest(self, shares: NDArray[Any], amount: str) -> list[Share]:
        size = self.moment.geometry.size
        found = []
        for action in np.argsort(-shares, kind="stable")[:SHOWN].tolist():
            if shares[action] > 0:
                cell, digit = divmod(action, size)
                words = f"{SYMBOLS[digit + 1]} at {cell_name(cell, size)}"
                share = float(shares[action])
                found.append(Share(words, share, amount.format(share)))
        return found
