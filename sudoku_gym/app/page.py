"""The page in gradio; each session keeps its own games."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias

import gradio as gr
import numpy as np
from numpy.typing import NDArray

from sudoku_gym import board
from sudoku_gym.app.game import Game
from sudoku_gym.board import SYMBOLS
from sudoku_gym.geometry import Geometry
from sudoku_gym.plugins import split_options
from sudoku_gym.policies import load_policy
from sudoku_gym.puzzles import banks

Games: TypeAlias = tuple[Game | None, ...]  # of each side; None where nobody plays
Updates: TypeAlias = tuple[Any, ...]

BANKS = tuple(name for name in banks.NAMES if name != "named")
NOBODY = "nobody"
SIDES = ("left", "right")


def layout(policies: Sequence[str], first: tuple[str, str], trust: bool = False) -> gr.Blocks:
    """Lay out the page, on which `policies` may be chosen, with options; `first` play at first."""
    with gr.Blocks(title="Sudoku Gym", analytics_enabled=False) as page:
        gr.Markdown("# Sudoku Gym\nThe darker a candidate, the surer the policy is of it.")
        chosen = _fields(policies, first)
        with gr.Row():
            play = gr.Button("Play", variant="primary", elem_id="play", min_width=48)
            stop, back, step, new = (
                gr.Button(text, elem_id=text.lower(), min_width=48)  # all in a row on a phone
                for text in ("Stop", "Back", "Step", "New")
            )
        games = gr.State((None,) * len(SIDES))
        with gr.Row():
            sides = [_side(name) for name in SIDES]
        with gr.Row():
            digit = gr.Radio([], label="A click on a blank places", elem_id="digit", min_width=250)
            pace = gr.Slider(0.1, 3.0, 0.5, step=0.1, label="Seconds a move")
        clock = gr.Timer(active=False)
        shown = [games, clock, *(part for side in sides for part in side)]
        changes = [page.load, new.click]
        changes += [each.submit if isinstance(each, gr.Textbox) else each.change for each in chosen]
        start = partial(begin, policies, trust)
        gr.on(changes, start, chosen, [digit, *shown], trigger_mode="always_last")
        for number, (_, picture, *_) in enumerate(sides):
            picture.select(_placing(number), [games, digit], shown)
        step.click(move, games, shown)
        back.click(back_up, games, shown)
        ticked = clock.tick(move, games, shown, show_progress="hidden")
        for pausing in (ticked.failure, stop.click):
            pausing(lambda: gr.Timer(active=False), None, clock)
        play.click(lambda seconds: gr.Timer(seconds, active=True), pace, clock)
    return page


def _fields(policies: Sequence[str], first: tuple[str, str]) -> list[Any]:
    """Lay out the fields of a game, the arguments of `begin`."""
    with gr.Row():
        fields: list[Any] = [
            gr.Dropdown([*BANKS, *banks.NAMED_BOARDS], value="Inkala 2012", label="Puzzle"),
            gr.Number(1, label="Number, of a bank's test puzzles", precision=0),
            gr.Textbox(label="Or your own, row by row, then Enter", elem_id="typed"),
        ]
    with gr.Row():
        for side, name in zip(SIDES, first, strict=True):
            label = f"On the {side}: name?option=value"
            given: dict[str, Any] = {"value": name, "allow_custom_value": True, "min_width": 220}
            fields.append(gr.Dropdown([*policies, NOBODY], label=label, **given))
    return fields


def _side(name: str) -> list[Any]:
    """Lay out what is shown of a game."""
    with gr.Column() as column:
        picture = gr.Image(
            format="png", interactive=False, show_label=False, buttons=[], elem_id=name
        )
        words = gr.Markdown(elem_id=f"{name}-status")
    return [column, picture, words]


def begin(
    policies: Sequence[str], trust: bool, source: str, number: float, typed: str, *players: str
) -> Updates:
    """Begin a game of each player; see `choose_puzzle`. Return the digits, and what is shown."""
    try:
        puzzle, geometry = choose_puzzle(source, number, typed)
        games = tuple(
            None if name == NOBODY else Game(load_offered(name, policies, trust), puzzle, geometry)
            for name in players
        )
    except (ValueError, ModuleNotFoundError) as error:
        raise gr.Error(str(error), print_exception=False) from None
    digits = [*SYMBOLS[1 : geometry.size + 1]]
    return gr.Radio(choices=digits, value=digits[0]), *show(games, gr.Timer(active=False))


def show(games: Games, clock: Any = None) -> Updates:
    """Return the games, the clock's update (it stops with the last game), and what is seen."""
    if all(game is None or game.is_over for game in games):
        clock = gr.Timer(active=False)
    updates: list[Any] = [clock or gr.skip()]
    for game in games:
        if game is None:
            updates += [gr.Column(visible=False), *[gr.skip()] * 2]
        else:
            updates += [gr.Column(visible=True), game.draw(), game.status]
    return games, *updates


def move(games: Games) -> Updates:
    """Play a move of each game."""
    for game in filter(None, games):
        game.step()
    return show(games)


def back_up(games: Games) -> Updates:
    """Pause, and show the move before in each game."""
    for game in filter(None, games):
        game.back()
    return show(games, gr.Timer(active=False))


def _placing(number: int) -> Any:
    """Return what a click on the picture of a game does."""

    def place(games: Games, digit: str, click: gr.SelectData) -> Updates:
        game = games[number]
        assert game is not None  # its picture is hidden
        x, y = click.index
        try:
            game.place(game.cell_at(y), game.cell_at(x), SYMBOLS.index(digit))
        except ValueError as error:
            raise gr.Error(str(error), print_exception=False) from None
        return show(games)

    return place


def load_offered(name: str, offered: Sequence[str], trust: bool) -> Any:
    """Load one of the offered policies, with options or none.

    Any other name is a ValueError: a visitor can name neither a Python object nor a folder.
    """
    base, options = split_options(name)
    if name not in offered and (base not in offered or "folder" in options):
        raise ValueError(f"{name!r} is not in the list of policies")
    return load_policy(name, trust=trust)


def choose_puzzle(source: str, number: float, typed: str) -> tuple[NDArray[np.int8], Geometry]:
    """Return a puzzle, int8 `[N, N]`, and its geometry: `typed`, row by row, if there is a text.

    Else `source` is the title of a puzzle, or a bank with the `number`, from 1, of a test puzzle.
    """
    if typed.strip():
        puzzle = board.parse(typed)
        board.check_puzzles(puzzle[None])
        return puzzle, Geometry.standard(len(puzzle))
    if source in banks.NAMED_BOARDS:
        return board.parse(banks.NAMED_BOARDS[source]), Geometry.standard(9)
    bank = banks.load(source, "test")
    if not number or not 1 <= number <= len(bank):
        raise ValueError(f"{source} has {len(bank):,} test puzzles: choose a number from 1 to that")
    return bank.puzzles[int(number) - 1].copy(), bank.geometry
