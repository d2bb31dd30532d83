"""The page in gradio, and its server.

The page loads nothing from other machines: a content security policy forbids it.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # gradio reads these when it is imported
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"

import gradio as gr
import uvicorn
from fastapi import FastAPI, Request, Response
from gradio import queueing, route_utils, routes

from sudoku_gym.app.choices import NO_PLAYER, SOURCES, TYPED_IN, OfferedPolicies, puzzle
from sudoku_gym.app.connections import FewConnections
from sudoku_gym.app.game import Game, render_html
from sudoku_gym.app.limits import VisitorBudgets, limit_waiting, visitor_of
from sudoku_gym.storage.bodies import Application, LimitedBodies, Message, Receive, Send

FIRST_PUZZLE = "Inkala 2012"
_LONGEST_REQUEST, _MOST_BRACKETS = 1_000_000, 1_000  # bytes; lists and objects in JSON
_LONGEST_MOVE = 10.0  # s, where visitors have a budget
_PLACES, _PLACES_A_VISITOR = 64, 6  # in the queue
_KEPT, _MOST_KEPT = 3600.0, 1_000  # seconds that a visitor's games are kept; how many visits
_FROM_HERE = (
    "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'; frame-ancestors 'self'; "
    "form-action 'self'"
)
_STYLE = """
.game h3 { margin: 0 0 .4rem; font-size: 1.05rem; overflow-wrap: anywhere; }
.game img { width: 100%; max-width: 640px; border-radius: 6px; display: block; }
.game .words { min-height: 1.5em; margin: .5rem 0; font-weight: 600; overflow-wrap: anywhere; }
.game table { width: 100%; max-width: 640px; border-collapse: collapse; font-size: .85rem; }
.game caption { text-align: left; padding-top: .5rem; opacity: .75; }
.game table, .game tr, .game td { border: 0 !important; }
.game td { padding: .1rem .5rem .1rem 0 !important; white-space: nowrap; }
.game td.bar { width: 60%; }
.game td.bar i { display: block; height: .7rem; border-radius: 3px; background: #0072b2; }
#trouble:empty { display: none; }
"""


def serve(
    offers: OfferedPolicies, host: str, port: int, visitor_seconds: float | None = None
) -> None:
    """Show the page until the process is interrupted.

    `visitor_seconds` are those of the processor that a visitor gets in ten minutes; None limits
    nobody.

    Raises:
        OSError: if the address can't be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listener:
        port = listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        print(
            f"Sudoku Gym shows its policies at http://{shown}:{port} (Ctrl+C ends it)", flush=True
        )
        settings = uvicorn.Config(
            application(offers, visitor_seconds),
            log_level="error",
            access_log=False,
            http=FewConnections,
            timeout_graceful_shutdown=1,
        )
        uvicorn.Server(settings).run(sockets=[listener])


def application(offers: OfferedPolicies, visitor_seconds: float | None = None) -> FastAPI:
    """Return the page as an ASGI application; see `serve`."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    for module in (queueing, route_utils, routes):  # whose tracebacks of forged requests are long
        vars(module)["traceback"] = SimpleNamespace(print_exc=_refuse)

    @app.middleware("http")
    async def allow_little(
        request: Request, answer: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        response = await answer(request)
        response.headers["Content-Security-Policy"] = _FROM_HERE
        return response

    app.add_middleware(LimitedBodies, longest=_LONGEST_REQUEST, brackets=_MOST_BRACKETS)
    app.add_middleware(_ErrorsInALine)
    theme = gr.themes.Default(
        primary_hue="blue", font=["system-ui", "sans-serif"], font_mono=["monospace"]
    )
    return gr.mount_gradio_app(
        app,
        layout(offers, VisitorBudgets(visitor_seconds)),
        path="/",
        theme=theme,
        css=_STYLE,
        footer_links=[],
        show_error=False,
        max_file_size=1,
        ssr_mode=False,
        enable_monitoring=False,
    )


def layout(offers: OfferedPolicies, budgets: VisitorBudgets) -> gr.Blocks:
    """Lay out the page; visitors are charged for starts and moves."""
    names = offers.names
    first, second = offers.shown_first
    with gr.Blocks(title="Sudoku Gym", analytics_enabled=False) as page:
        gr.Markdown("# Sudoku Gym\nWatch policies play the same puzzle, move by move.")
        games = gr.State(None, time_to_live=_KEPT)
        with gr.Row():
            source = gr.Dropdown(list(SOURCES), value=FIRST_PUZZLE, label="Puzzle")
            number = gr.Number(1, label="Number, of a bank's test puzzles", precision=0, minimum=1)
            typed = gr.Textbox(
                label=f"For '{TYPED_IN}': a puzzle, row by row",
                placeholder="53..7....6..195...",
                max_lines=16,
            )
        with gr.Row():
            left = gr.Dropdown(names, value=first, label="Plays on the left")
            left_options = gr.Textbox(label="with options", placeholder="restarts=8")
            right = gr.Dropdown([NO_PLAYER, *names], value=second, label="Plays on the right")
            right_options = gr.Textbox(label="with options", placeholder="key=value&key=value")
        with gr.Row():
            start_button = gr.Button("Start", elem_id="start", min_width=80)
            step = gr.Button("Step", elem_id="step", min_width=80)
            play = gr.Button("Play", variant="primary", elem_id="play", min_width=80)
            pause = gr.Button("Pause", elem_id="pause", min_width=80)
            pace = gr.Slider(0.1, 3.0, 0.5, step=0.1, label="Seconds a move", min_width=240)
        trouble = gr.Textbox(label="Trouble", visible=False, interactive=False, elem_id="trouble")
        with gr.Row():
            boards = [gr.HTML(elem_id=side) for side in ("left", "right")]
        clock = gr.Timer(0.5, active=False)

        def start(request: gr.Request, *chosen: Any) -> tuple[Any, ...]:
            try:
                with budgets.charged(visitor_of(request)):
                    playing = _start_games(offers, *chosen)
            except Exception as error:  # a visitor reads why; the page goes on
                return None, "", "", _say(str(error)), gr.Timer(active=False)
            return playing, *_drawn(playing), _say(""), gr.Timer(active=False)

        def move(playing: list[Game] | None, request: gr.Request) -> tuple[Any, ...]:
            for game in playing or ():
                try:
                    with budgets.charged(visitor_of(request)):
                        game.step()
                except ValueError as error:  # what the next move needs is used up
                    return playing, *[gr.skip()] * 2, _say(str(error)), gr.Timer(active=False)
                if budgets.seconds is not None and game.seconds > _LONGEST_MOVE:
                    game.stop(f"{game.seconds:.0f} s for a move are too long here")
            is_over = all(game.is_over for game in playing or ())
            drawn = _drawn(playing) if playing else ("", "")
            ticking = gr.Timer(active=False) if is_over else gr.skip()
            return playing, *drawn, _say(""), ticking

        shown = [games, *boards, trouble, clock]
        one_at_a_time: dict[str, Any] = {
            "concurrency_id": "play",
            "concurrency_limit": 1,
            "api_visibility": "private",
        }
        chosen = [source, number, typed, left, left_options, right, right_options]
        for event in (start_button.click, page.load):
            event(start, chosen, shown, show_progress="minimal", **one_at_a_time)
        moves: list[dict[str, Any]] = [
            step.click(move, games, shown, show_progress="minimal", **one_at_a_time),
            clock.tick(move, games, shown, show_progress="hidden", **one_at_a_time),
        ]
        play.click(partial(_timer, active=True), pace, clock, api_visibility="private")
        pace.release(_timer, pace, clock, api_visibility="private")
        pause.click(
            lambda: gr.Timer(active=False), None, clock, cancels=moves, api_visibility="private"
        )
    page.state_session_capacity = _MOST_KEPT
    page.queue(max_size=_PLACES)
    limit_waiting(page._queue, _PLACES_A_VISITOR)
    return page


def _start_games(
    offers: OfferedPolicies, source: object, number: object, typed: object, *players: object
) -> list[Game]:
    """Start the games that a visitor asks for; `players` holds a name and options for each side."""
    given, geometry = puzzle(source, number, typed)
    games: list[Game] = []
    for name, options in zip(players[::2], players[1::2], strict=True):
        if name == NO_PLAYER and games:
            continue
        policy = offers.policy(name, options)
        label = f"{name}?{options}" if options else str(name)
        games.append(Game(label, policy, given.copy(), geometry))
    return games


def _drawn(games: list[Game]) -> tuple[str, str]:
    drawn = [render_html(game) for game in games]
    return drawn[0], drawn[1] if len(drawn) > 1 else ""


def _refuse() -> None:
    """Say in one line that a request was none of the page's."""
    print(f"sudoku-gym: a request was refused: {sys.exc_info()[1]!r:.200}", file=sys.stderr)


class _ErrorsInALine:
    """An ASGI application without tracebacks: gradio raises errors about some forged requests."""

    def __init__(self, app: Application) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except Exception:
            _refuse()


def _say(trouble: str) -> Any:
    return gr.Textbox(value=trouble, visible=bool(trouble))


def _timer(seconds: float, **state: bool) -> Any:
    return gr.Timer(value=max(float(seconds), 0.1), **state)
