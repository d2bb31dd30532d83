"""One policy playing one puzzle for the page: last move, probabilities, visit counts."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from html import escape
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.board import SYMBOLS, cell_name, to_line
from sudoku_gym.envs.rendering import HEAT_COLORS, to_png
from sudoku_gym.envs.sudoku import SudokuEnv
from sudoku_gym.evaluation.episode import Episode, Moment
from sudoku_gym.geometry import Geometry
from sudoku_gym.policies import Convergence, Policy
from sudoku_gym.puzzles.sources import GivenPuzzles

TOP_K = 5
IMAGE_SIZE = 640


@dataclass(frozen=True)
class PlacementShare:
    """The share of one placement in a distribution."""

    placement: str  # such as `7 at row 1, column 2`
    share: float  # in [0, 1]
    text: str  # the share, formatted


@dataclass(frozen=True)
class PlayedMove:
    """A board of a game, and what is told of the move that led to it."""

    moment: Moment
    """its `heat` in half precision: enough for colours, and all moves of many games are kept"""
    likely: list[PlacementShare] = field(default_factory=list)
    """the most probable next placements; none if the policy has no probabilities"""
    seconds: float = 0.0
    """duration of the move"""
    reading: str = ""
    """whether the network had converged before the move; empty if it was not asked"""
    search: tuple[list[PlacementShare], float] | None = None
    """the most visited placements and the root value of the search before the move; None without
    one"""


class Game:
    """One game of a named policy, move by move, forwards and backwards.

    The policy may have a method `probabilities(boards, action_masks) -> [B, A]`, and an attribute
    `last_search` about the search before its last move, with `visit_counts [B, N**3]` and
    `values [B]`, or None if there was none; and `last_convergence`, a `Convergence` of its last
    move, or None. The puzzle is int8 `[N, N]`. One thread may play while others draw or stop.

    Attributes:
        player: the policy as it is offered, without options.
        is_finished: whether the policy has nothing left to play.
        is_replaced: whether its visitor has begun another game; its board is not to be shown.
        failure: why the game ended before its end; empty if it did not.
    """

    def __init__(
        self,
        name: str,
        policy: Policy,
        puzzle: NDArray[np.int8],
        geometry: Geometry,
        player: str = "",
    ) -> None:
        self.name, self.player = name, player
        env = SudokuEnv(GivenPuzzles(geometry), max_episode_steps=2**31)
        has_probabilities = hasattr(policy, "probabilities")
        episode = Episode(env, policy, 0, {"puzzle": puzzle}, has_probabilities)
        moments = episode.play()
        self._moves = [_played(next(moments))]
        self._played_by: tuple[Policy, Episode, Iterator[Moment]] | None = policy, episode, moments
        self._shown = 0
        self._picture: tuple[PlayedMove, str] | None = None  # the last that was drawn
        self.failure = self._result = ""
        self.is_finished = self.is_replaced = self._is_awaited = False
        self._in_a_move = Lock()

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Say that a move is awaited, as long as the block runs."""
        self._is_awaited = True
        try:
            yield
        finally:
            self._is_awaited = False

    @property
    def is_computing(self) -> bool:
        """Whether a move is awaited, or is still being made though nobody waits any more."""
        return self._is_awaited or self._in_a_move.locked()

    @property
    def latest(self) -> PlayedMove:
        """The board that is shown, and the move before it."""
        return self._moves[self._shown]

    @property
    def moment(self) -> Moment:
        """The board that is shown, and its last move."""
        return self.latest.moment

    @property
    def is_over(self) -> bool:
        """Whether the end is shown."""
        return self.is_finished and self._shown == len(self._moves) - 1

    def step(self) -> None:
        """Show the next move, which is played if it was not yet.

        Nothing happens at the end, and while another thread is in a move of this game.
        """
        if not self._in_a_move.acquire(blocking=False):
            return
        try:
            if not self._show_next() and not self.is_finished:
                self._play()
        finally:
            self._in_a_move.release()

    def forward(self) -> bool:
        """Show the next of the moves that have been played; return whether there was one."""
        if not self._in_a_move.acquire(blocking=False):
            return False
        try:
            return self._show_next()
        finally:
            self._in_a_move.release()

    def _show_next(self) -> bool:
        is_there = self._shown < len(self._moves) - 1
        self._shown += is_there
        return is_there

    def _play(self) -> None:
        if self._played_by is None:  # it was stopped meanwhile
            return
        policy, episode, moments = self._played_by
        began = perf_counter()
        try:
            moment = next(moments)
            seconds = perf_counter() - began
            details = {"reading": _reading_of(policy), "search": self._search(policy)}
            played = _played(moment, seconds=seconds, **details)
        except StopIteration:
            self._result = episode.result.capitalize() + "."
            self._end()
        except Exception as error:  # a third-party policy failed; keep the page alive
            self.stop(f"The policy failed. {type(error).__name__}: {error}")
        else:
            if not self.is_finished:  # it may have been stopped meanwhile
                self._moves.append(played)
                self._shown += 1

    def replace(self) -> None:
        """End the game since another one has begun in its place."""
        self.is_replaced = True
        self.stop("A new game has begun.")

    def back(self) -> None:
        """Show the move before."""
        self._shown = max(self._shown - 1, 0)

    def stop(self, why: str) -> None:
        """End the game before its end."""
        if not self.is_finished:
            self.failure = why
            self._end()

    def _end(self) -> None:
        """Let go of the policy, which may take megabytes; the boards stay, for going back."""
        self.is_finished = True
        self._played_by = None

    @property
    def picture(self) -> str:
        """The board that is shown, as the address of a PNG that holds it."""
        latest = self.latest
        if self._picture is None or self._picture[0] is not latest:
            image = to_png(latest.moment.render(IMAGE_SIZE))
            self._picture = latest, f"data:image/png;base64,{b64encode(image).decode()}"
        return self._picture[1]

    @property
    def status(self) -> str:
        """The last move, or the outcome of the game."""
        if self.is_over:
            return self.failure or self._result
        if not self.moment.caption:
            return f"{int((self.moment.board == 0).sum())} blanks."
        return f"{self.moment.caption}, in {1000 * self.latest.seconds:.0f} ms"

    def _search(self, policy: Policy) -> tuple[list[PlacementShare], float] | None:
        search: Any = getattr(policy, "last_search", None)
        if search is None:
            return None
        counts = np.array(search.visit_counts[0], np.float64)
        shares = counts / max(counts.sum(), 1.0)
        size = self.moment.geometry.size
        return _top_placements(shares, size, "{:.0%}"), float(search.values[0])


def _reading_of(policy: Policy) -> str:
    """Say whether the network had converged before the latest move; nothing if it was not asked."""
    latest = getattr(policy, "last_convergence", None)
    if not isinstance(latest, Convergence) or not latest.rounds[0]:
        return ""
    rounds = f"{latest.rounds[0]:,} rounds"
    if latest.converged[0]:
        return f"Converged after {rounds}."
    return f"Not converged after {rounds}: this move is a guess."


def _played(moment: Moment, **details: Any) -> PlayedMove:
    """Keep a move with what the page shows of it."""
    if moment.heat is None:
        return PlayedMove(moment, **details)
    likely = _top_placements(moment.heat, moment.geometry.size, "{:.1%}")
    return PlayedMove(replace(moment, heat=moment.heat.astype(np.float16)), likely, **details)


def _top_placements(shares: NDArray[Any], size: int, fmt: str) -> list[PlacementShare]:
    placements = []
    for action in np.argsort(-shares, kind="stable")[:TOP_K].tolist():
        if shares[action] > 0:
            cell, digit = divmod(action, size)
            placement = f"{SYMBOLS[digit + 1]} at {cell_name(cell, size)}"
            share = float(shares[action])
            placements.append(PlacementShare(placement, share, fmt.format(share)))
    return placements


def render_html(game: Game, note: str = "") -> str:
    """Return a game as HTML; names and messages of policies and visitors are escaped.

    `note` is shown in place of the game's status, while a move is awaited.
    """
    moment = game.moment
    parts = [
        f"<h3>{escape(game.name)}</h3>",
        f'<img src="{game.picture}" alt="{escape(to_line(moment.board))}">',
        f'<p class="words">{escape(note or game.status)}</p>',
    ]
    if not game.is_over and game.latest.reading:
        parts.append(f'<p class="reading">{escape(game.latest.reading)}</p>')
    if not game.is_over and game.latest.likely:
        parts.append(_bars("Likely to place next", game.latest.likely))
    if game.latest.search is not None:
        shares, value = game.latest.search
        parts.append(_bars(f"The search looked at (value {value:.2f})", shares))
    return f'<section class="game">{"".join(parts)}</section>'


def render_legend() -> str:
    """Return the colours of candidates as HTML."""
    colors = ", ".join(f"rgb({red} {green} {blue})" for red, green, blue in HEAT_COLORS)
    return (
        '<p class="legend">Candidates: <span>improbable</span>'
        f'<i style="background: linear-gradient(to right, {colors})"></i>'
        "<span>the most probable placement</span></p>"
    )


def _bars(title: str, shares: list[PlacementShare]) -> str:
    most = max((each.share for each in shares), default=1.0)  # the longest bar is full
    rows = "".join(
        f'<tr><td>{escape(each.placement)}</td><td class="bar"><i style="width:'
        f'{100 * each.share / most:.1f}%"></i></td><td>{escape(each.text)}</td></tr>'
        for each in shares
    )
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"
