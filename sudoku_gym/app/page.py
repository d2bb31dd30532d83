"""The page in gradio, and its server.

The page loads nothing from other machines: a content security policy forbids it.
"""

from __future__ import annotations

import logging
import os
import socket
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"  # gradio reads these when it is imported
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"  # torch reads it: visitors are charged by the thread
os.environ["MPLBACKEND"] = "agg"  # gradio asks for it in each call; a notebook's may not be here

with patch.dict(os.environ):
    # Gradio makes a client of the web when it is imported, though the page needs none: a proxy that
    # this client does not know, or certificates that are gone, would stop it.
    for name in ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        os.environ.pop(name, None)
        os.environ.pop(name.lower(), None)
    import gradio as gr
    from gradio import processing_utils, queueing, route_utils, routes

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError

from sudoku_gym.app.choices import NO_PLAYER, SOURCES, TYPED_IN, OfferedPolicies
from sudoku_gym.app.connections import (
    BACKLOG,
    READ_AT_ONCE,
    FewConnections,
    LoopBudgets,
    OpenConnections,
    allow_connections,
)
from sudoku_gym.app.game import render_legend
from sudoku_gym.app.handlers import Handlers, start_games
from sudoku_gym.app.limits import ShortQueue, VisitorBudgets, limit_waiting
from sudoku_gym.app.paths import AllowedPaths, OneOrigin
from sudoku_gym.app.requests import FewRequests, InTurn
from sudoku_gym.storage.requests import ErrorsInALine, LimitedBodies, LimitedHeads, tell_of_refusal

FIRST_PUZZLE = "Inkala 2012"
_LONGEST_REQUEST, _MOST_BRACKETS = 30_000, 1_000  # bytes; lists and objects in JSON
_LONGEST_TEXT, _LONGEST_OPTIONS = 5_000, 1_000  # letters of a puzzle, and of a policy's options
_LONGEST_AT = {  # run/predict is what Stop calls, and keeps names of pages
    f"/gradio_api/{call}": 1_000 for call in ("run/predict", "cancel", "reset")
}
_PLACES, _PLACES_A_VISITOR = 64, 8  # in the queue; the latter also while they are served
_MOST_REQUESTS = 2000  # that are answered at a time, of all visitors; connections too
_SECONDS_OF_SERVER, _SECONDS_TO_RENEW = 3.0, 9.0  # of the thread of all requests, a visitor
_MOST_SESSIONS = 1000  # pages of which gradio keeps what it needs
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
.legend { display: flex; gap: .5rem; align-items: center; flex-wrap: wrap; font-size: .85rem; }
.legend i { flex: 0 1 9rem; height: .8rem; border: 1px solid #b4b4b4; border-radius: 3px; }
#trouble:empty { display: none; }
@media (max-width: 700px) {
  footer { padding-bottom: 64px; }
  #boards .html-container { padding: 0; }
  *:has(> #boards) { display: flex; flex-direction: column; }
  *:has(> #trouble) { order: -2; position: sticky; top: 0; z-index: 4; }
  #boards { order: -1; width: calc(100% + 56px); margin: 0 -28px; }
  #controls {
    position: fixed; inset: auto 0 0; z-index: 5; padding: 6px; gap: 4px; flex-wrap: nowrap;
    background: var(--background-fill-primary);
  }
  #controls button { min-width: 0; padding: .7rem 0; font-size: .75rem; white-space: nowrap; }
}
"""


def serve(
    offers: OfferedPolicies,
    host: str,
    port: int,
    visitor_seconds: float | None = None,
    move_seconds: float | None = None,
) -> None:
    """Show the page until the process is interrupted.

    `visitor_seconds` are those of the processor that a visitor gets in ten minutes, `move_seconds`
    those that a move may take; None limits nobody.

    Raises:
        ValueError: if the address can't be had, or gradio's folder for files not be written.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise ValueError(f"--host {host}, --port {port}: {error.strerror or error}") from None
    with listener:
        port = listener.getsockname()[1]
        _compile(offers)
        budgets = LoopBudgets(_SECONDS_OF_SERVER, _SECONDS_TO_RENEW)
        try:
            page = application(offers, visitor_seconds, move_seconds, budgets)
        except OSError as error:
            raise ValueError(
                f"{error.filename}: {error.strerror}: gradio keeps files in the folder that "
                "GRADIO_TEMP_DIR names: let it be one where you may write"
            ) from None
        shown = f"[{host}]" if ":" in host else host
        print(
            f"Sudoku Gym shows its policies at http://{shown}:{port} (Ctrl+C ends it)", flush=True
        )
        logging.disable(logging.WARNING)  # of solvers that find nothing
        others = OpenConnections(allow_connections(_MOST_REQUESTS - 1))
        settings = uvicorn.Config(
            page,
            proxy_headers=False,  # whoever comes through this machine could be any visitor
            log_level="critical",  # what visitors send must not fill a disk
            workers=1,  # or it would ask WEB_CONCURRENCY
            log_config=None,  # it would ask streams that policies may have exchanged
            access_log=False,
            http=partial(FewConnections, others, budgets),  # type: ignore[arg-type]
            ws="none",
            backlog=BACKLOG,
            limit_concurrency=_MOST_REQUESTS,
            h11_max_incomplete_event_size=READ_AT_ONCE,
            timeout_graceful_shutdown=1,
        )
        uvicorn.Server(settings).run(sockets=[listener])


def application(
    offers: OfferedPolicies,
    visitor_seconds: float | None = None,
    move_seconds: float | None = None,
    budgets: VisitorBudgets | None = None,
) -> FastAPI:
    """Return the page as an ASGI application; see `serve`, and `FewRequests` for `budgets`."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    for module in (queueing, route_utils, routes):  # whose tracebacks of forged requests are long
        vars(module)["traceback"] = SimpleNamespace(print_exc=tell_of_refusal)
    vars(queueing)["AsyncQueue"] = ShortQueue
    # A visitor may say that a field holds a file of this machine, or one at an address, which
    # gradio would copy to where it serves files from. No field of the page holds files.
    vars(processing_utils)["async_move_files_to_cache"] = _keep_as_it_is
    app.add_middleware(InTurn)
    app.add_middleware(OneOrigin)
    app.add_middleware(
        LimitedBodies,
        longest=_LONGEST_REQUEST,
        brackets=_MOST_BRACKETS,
        most=_MOST_REQUESTS * _LONGEST_REQUEST,
        longest_at=_LONGEST_AT,
    )
    app.add_middleware(AllowedPaths)
    app.add_middleware(LimitedHeads)
    app.add_middleware(FewRequests, budgets=budgets or VisitorBudgets(None))
    app.add_middleware(ErrorsInALine)
    theme = gr.themes.Default(
        primary_hue="blue", font=["system-ui", "sans-serif"], font_mono=["monospace"]
    )
    return gr.mount_gradio_app(
        app,
        layout(offers, VisitorBudgets(visitor_seconds), move_seconds),
        path="/",
        theme=theme,
        css=_STYLE,
        footer_links=[],
        show_error=False,
        max_file_size=1,
        ssr_mode=False,
        enable_monitoring=False,
        app_kwargs={"exception_handlers": {RequestValidationError: _say_no}},
    )


def _say_no(_request: Request, _error: Exception) -> Response:
    """Refuse a request in few words; FastAPI would send back all of it, once for each mistake."""
    return Response("this is no request of the page", 422)


def layout(
    offers: OfferedPolicies, budgets: VisitorBudgets, move_seconds: float | None
) -> gr.Blocks:
    """Lay out the page; visitors are charged for starts, moves and pictures."""
    with gr.Blocks(title="Sudoku Gym", analytics_enabled=False) as page:
        gr.Markdown("# Sudoku Gym\nWatch policies play the same puzzle, move by move.")
        with gr.Column(elem_id="choices"):
            chosen = _choices(offers)
            pace = gr.Slider(0.1, 3.0, 0.5, step=0.1, label="Seconds a move")
        trouble = gr.Textbox(label="Note", visible=False, interactive=False, elem_id="trouble")
        with gr.Row(elem_id="controls"):
            play = gr.Button("Play", variant="primary", elem_id="play", min_width=60)
            stop = gr.Button("Stop", elem_id="stop", min_width=60)
            back = gr.Button("Back", elem_id="back", min_width=60)
            step = gr.Button("Step", elem_id="step", min_width=60)
            again = gr.Button("Start over", elem_id="start", min_width=60)
        with gr.Row(elem_id="boards"):
            boards = []
            for side in ("left", "right"):
                with gr.Column(min_width=320):
                    boards.append(gr.HTML(elem_id=side))
        gr.HTML(render_legend())
        clock = gr.Timer(0.5, active=False)
        handlers = Handlers(offers, budgets, move_seconds)
        shown = [*boards, trouble, clock]
        quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
        side_by_side = quiet | {"concurrency_id": "play", "concurrency_limit": _PLACES}
        renewed = [page.load, again.click]
        for field in chosen:
            renewed.append(field.submit if isinstance(field, gr.Textbox) else field.change)
        gr.on(
            renewed,
            handlers.start,
            chosen,
            shown,
            trigger_mode="always_last",
            **side_by_side,
        )
        step.click(handlers.move, None, shown, **side_by_side)
        clock.tick(handlers.move, None, shown, **side_by_side)
        back.click(handlers.back, None, shown, **side_by_side)
        stop.click(handlers.stop, None, clock, queue=False, **quiet)
        play.click(partial(_timer, active=True), pace, clock, **quiet)
        pace.release(_timer, pace, clock, **quiet)
    page.state_session_capacity = _MOST_SESSIONS
    page.queue(max_size=_PLACES, api_open=False)
    limit_waiting(page._queue, _PLACES_A_VISITOR)
    return page


def _choices(offers: OfferedPolicies) -> list[Any]:
    """Lay out the fields of a puzzle and of two policies; each acts at once."""
    names = offers.names
    first, second = offers.shown_first
    short: dict[str, Any] = {"max_length": _LONGEST_OPTIONS}
    with gr.Row():
        source = gr.Dropdown(list(SOURCES), value=FIRST_PUZZLE, label="Puzzle")
        number = gr.Number(1, label="Number, of a bank's test puzzles", precision=0)
        typed = gr.Textbox(
            label=f"For '{TYPED_IN}': a puzzle, row by row, then Enter",
            placeholder="53..7....6..195...",
            max_lines=16,
            max_length=_LONGEST_TEXT,
        )
    with gr.Row():
        left = gr.Dropdown(names, value=first, label="Plays on the left")
        left_options = gr.Textbox(
            label="with options, then Enter", placeholder="restarts=8", **short
        )
        right = gr.Dropdown([NO_PLAYER, *names], value=second, label="Plays on the right")
        right_options = gr.Textbox(
            label="with options, then Enter", placeholder="key=value&key=value", **short
        )
    return [source, number, typed, left, left_options, right, right_options]


def _compile(offers: OfferedPolicies) -> None:
    """Play a move of the policies that are shown first, so that no visitor waits for a compiler."""
    players = [part for name in offers.shown_first for part in (name, "")]
    for game in start_games(offers, FIRST_PUZZLE, 1, "", *players):
        game.step()


async def _keep_as_it_is(value: Any, *_: Any, **__: Any) -> Any:
    return value


def _timer(seconds: float, **state: bool) -> Any:
    return gr.Timer(value=max(float(seconds), 0.1), **state)
