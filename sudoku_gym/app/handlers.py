"""What the buttons of the page do: they begin games, play them, and say what a visitor may not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from sudoku_gym.app.choices import NO_PLAYER, OfferedPolicies, puzzle
from sudoku_gym.app.game import Game, render_html
from sudoku_gym.app.limits import VisitorBudgets, visitor_of
from sudoku_gym.app.moves import Workers
from sudoku_gym.app.visits import STOPPED, Visits

_FORGOTTEN = "there are no games here, or they are no longer kept: Start over"


class Handlers:
    """What the buttons do; all but `stop` return both boards, the note and the clock."""

    def __init__(
        self, offers: OfferedPolicies, budgets: VisitorBudgets, longest: float | None
    ) -> None:
        self._offers, self._budgets, self._longest = offers, budgets, longest
        self._workers = Workers()
        self._visits = Visits()

    def start(self, request: gr.Request, *chosen: Any) -> Iterator[tuple[Any, ...]]:
        """Begin new games; those before stay until the new ones stand."""
        visitor = visitor_of(request)
        visit = self._visits.open(visitor, str(request.session_hash))
        starting = visit.starting = object()
        games: list[Game] = []

        def work() -> None:
            self._budgets.check(visitor)
            with self._budgets.charged(visitor):
                games.extend(start_games(self._offers, *chosen))

        def is_wanted() -> bool:
            return visit.starting is starting

        try:
            one = self._one_thread_of(visitor)
            others = [name for name in chosen[3::2] if self._offers.is_of_others(name)]
            for note in self._workers.run(work, is_wanted, self._longest, one, others):
                yield _only_say(note)
        except Exception as error:  # a visitor reads why; the page goes on
            yield _only_say(str(error))
            return
        if is_wanted():
            visit.begin(games)
            yield *self._drawn(visitor, games), _say(""), gr.Timer(active=False)
        elif visit.starting is STOPPED:
            yield _only_say("Stopped before the games began: Start over")

    def move(self, request: gr.Request) -> Iterator[tuple[Any, ...]]:
        """Play a move of each game."""
        visitor, playing = self._games_of(request)
        if playing is None:
            yield _only_say(_FORGOTTEN)
            return
        try:
            self._budgets.check(visitor)
        except ValueError as error:
            yield _only_say(str(error))
            return
        for game in playing:
            # Nothing is to be played: it is at work already, a move is kept, or this is the end.
            if game.is_computing or game.forward() or game.is_finished:
                continue

            def work(game: Game = game) -> None:
                self._budgets.check(visitor)
                with self._budgets.charged(visitor):
                    game.step()

            def is_wanted(game: Game = game) -> bool:
                return not game.is_finished

            try:
                with game.computing():
                    one = self._one_thread_of(visitor)
                    others = [game.player] if self._offers.is_of_others(game.player) else []
                    for note in self._workers.run(work, is_wanted, self._longest, one, others):
                        if game.is_replaced:
                            return
                        yield *self._drawn(visitor, playing, game, note), _say(""), gr.skip()
            except TimeoutError as error:
                game.stop(f"Stopped: {error}.")
            except ValueError as error:  # what the next move needs is used up
                yield _only_say(str(error))
                return
        if _are_replaced(playing):
            return
        is_over = all(game.is_over for game in playing)
        ticking = gr.Timer(active=False) if is_over else gr.skip()
        yield *self._drawn(visitor, playing), _say(""), ticking

    def back(self, request: gr.Request) -> tuple[Any, ...]:
        """Show the move before; Play and Step then go forward again."""
        visitor, playing = self._games_of(request)
        if playing is None:
            return _only_say(_FORGOTTEN)
        try:
            self._budgets.check(visitor)
        except ValueError as error:
            return _only_say(str(error))
        for game in playing:
            if not game.is_computing:
                game.back()
        return *self._drawn(visitor, playing), _say(""), gr.Timer(active=False)

    def stop(self, request: gr.Request) -> Any:
        """Pause; give up the games that are being started and the moves that are being computed."""
        visit = self._visits.find(visitor_of(request), str(request.session_hash))
        if visit is not None:
            visit.starting = STOPPED
            for game in visit.games or ():
                if game.is_computing:
                    game.stop("Stopped in the middle of a move.")
        return gr.Timer(active=False)

    def _games_of(self, request: gr.Request) -> tuple[str, list[Game] | None]:
        """Return the visitor, and the games on the page that a request comes from."""
        visitor = visitor_of(request)
        visit = self._visits.find(visitor, str(request.session_hash))
        return visitor, None if visit is None else visit.games

    def _one_thread_of(self, visitor: str) -> str:
        """Return the visitor where visitors are limited; else nobody waits for his own moves."""
        return "" if self._budgets.seconds is None else visitor

    def _drawn(
        self, visitor: str, games: list[Game], noted: Game | None = None, note: str = ""
    ) -> tuple[str, str]:
        """Return both boards as HTML, `note` below that of `noted`; the visitor is charged."""
        with self._budgets.charged(visitor):
            drawn = [render_html(game, note if game is noted else "") for game in games]
        left, right = (*drawn, "", "")[:2]
        return left, right


def start_games(
    offers: OfferedPolicies, source: object, number: object, typed: object, *players: object
) -> list[Game]:
    """Start the games that a visitor asks for; `players` holds a name and options for each side."""
    given, geometry = puzzle(source, number, typed)
    games: list[Game] = []
    for name, options in zip(players[::2], players[1::2], strict=True):
        if name == NO_PLAYER and games:
            continue
        policy = offers.policy(name, options, geometry.size)
        label = f"{name}?{options}" if options else str(name)
        games.append(Game(label, policy, given.copy(), geometry, str(name)))
    return games


def _are_replaced(playing: list[Game]) -> bool:
    """Whether other games have begun in the place of these."""
    return any(game.is_replaced for game in playing)


def _say(trouble: str) -> Any:
    return gr.Textbox(value=trouble, visible=bool(trouble))


def _only_say(trouble: str) -> tuple[Any, ...]:
    """Return a note, and leave the boards as they are; the clock stops."""
    return gr.skip(), gr.skip(), _say(trouble), gr.Timer(active=False)
