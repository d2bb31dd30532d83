"""One policy playing one puzzle for the page: last move, probabilities, visit counts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from io import BytesIO
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sudoku_gym.board import SYMBOLS, cell_name, to_line
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.evaluation.episode import Episode, Moment
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Policy
from sudoku_gym.puzzles.sources import GivenPuzzles

SHOWN = 5
PIXELS = 640


@dataclass(frozen=True)
class PlacementShare:
    """The share of one placement in a distribution."""

    placement: str  # such as `7 at row 1, column 2`
    share: float  # in [0, 1]
    amount: str  # the share as it is shown


class Game:
    """One game of a named policy, move by move.

    The policy may have a method `probabilities(boards, action_masks) -> [B, A]`, and an attribute
    `searched` about the search before its last move, with `visit_counts [B, N**3]` and
    `values [B]`, or None if there was none. The puzzle is int8 `[N, N]`.

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
    def likeliest(self) -> list[PlacementShare]:
        """The likeliest next placements; none if the policy has no probabilities."""
        heat = self.moment.heat
        return [] if heat is None else self._largest(heat, "{:.1%}")

    @property
    def searched(self) -> tuple[list[PlacementShare], float] | None:
        """The most visited placements of the search before the last move, and its root value."""
        found: Any = getattr(self._policy, "searched", None)
        if found is None:
            return None
        counts = np.asarray(found.visit_counts[0], np.float64)
        shares = counts / max(counts.sum(), 1.0)
        return self._largest(shares, "{:.0%}"), float(found.values[0])

    def _largest(self, shares: NDArray[Any], amount: str) -> list[PlacementShare]:
        size = self.moment.geometry.size
        found = []
        for action in np.argsort(-shares, kind="stable")[:SHOWN].tolist():
            if shares[action] > 0:
                cell, digit = divmod(action, size)
                words = f"{SYMBOLS[digit + 1]} at {cell_name(cell, size)}"
                share = float(shares[action])
                found.append(PlacementShare(words, share, amount.format(share)))
        return found


def html_of(game: Game) -> str:
    """Draw a game; whatever a policy or a visitor named is escaped."""
    moment, file = game.moment, BytesIO()
    Image.fromarray(moment.render(PIXELS)).save(file, "PNG")
    source = f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"
    parts = [
        f"<h3>{escape(game.name)}</h3>",
        f'<img src="{source}" alt="{escape(to_line(moment.board))}">',
        f'<p class="words">{escape(game.words)}</p>',
    ]
    if not game.is_over and game.likeliest:
        parts.append(_bars("Likely to place next", game.likeliest))
    if game.searched is not None:
        shares, value = game.searched
        parts.append(_bars(f"The search looked at (value {value:.2f})", shares))
    return f'<section class="game">{"".join(parts)}</section>'


def _bars(title: str, shares: list[PlacementShare]) -> str:
    most = max((each.share for each in shares), default=1.0)  # the longest bar is full
    rows = "".join(
        f'<tr><td>{escape(each.placement)}</td><td class="bar"><i style="width:'
        f'{100 * each.share / most:.1f}%"></i></td><td>{escape(each.amount)}</td></tr>'
        for each in shares
    )
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"
