"""A game as a piece of HTML: the board as a picture within it, words and bars below."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from io import BytesIO

from PIL import Image

from sudoku_gym.board import to_line
from sudoku_gym.demo.game import Game, Share

PIXELS = 640


def html_of(game: Game) -> str:
    """Draw a game; whatever a policy or a visitor named is escaped."""
    moment = game.moment
    file = BytesIO()
    Image.fromarray(moment.drawn(PIXELS)).save(file, "PNG")
    source = f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"
    parts = [
        f"<h3>{escape(game.name)}</h3>",
        f'<img src="{source}" alt="{escape(to_line(moment.board))}">',
        f'<p class="words">{escape(game.words)}</p>',
    ]
    if not game.is_over and game.thoughts:
        parts.append(_bars("Likely to place next", game.thoughts))
    if game.searched is not None:
        shares, value = game.searched
        parts.append(_bars(f"The search looked at (value {value:.2f})", shares))
    return f'<section class="game">{"".join(parts)}</section>'


def _bars(title: str, shares: list[Share]) -> str:
    most = max((each.share for each in shares), default=1.0)  # the longest bar is full
    rows = "".join(
        f'<tr><td>{escape(each.placement)}</td><td class="bar"><i style="width:'
        f'{100 * each.share / most:.1f}%"></i></td><td>{escape(each.amount)}</td></tr>'
        for each in shares
    )
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"
