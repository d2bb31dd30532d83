"""What the page offers, and its server."""

import pytest

from sudoku_gym import board, load_policy, puzzles

gr = pytest.importorskip("gradio")

from sudoku_gym.app import page  # noqa: E402


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (("6x6", 2, ""), puzzles.load("6x6", split="test").puzzles[1]),
        (("AI Escargot", 1, " "), puzzles.load("named").puzzles[3]),
        (("4x4", 1, "1............2.."), board.parse("1............2..")),
        (("6x6", 0, ""), "choose a number from 1"),
        (("6x6", None, ""), "choose a number from 1"),
        (("7x7", 1, ""), "7x7"),
        (("4x4", 1, "12345"), "a board of"),
    ],
)
def test_puzzles(chosen, expected):
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=expected):
            page.choose_puzzle(*chosen)
    else:
        puzzle, geometry = page.choose_puzzle(*chosen)
        assert (puzzle == expected).all() and geometry.size == len(puzzle)


def test_only_what_is_offered_is_loaded():
    offered = ["hidden-singles", "dlx", "calphazero"]
    assert type(page.load_offered("dlx?node_limit=7", offered, False)) is type(load_policy("dlx"))
    for name in ("solver", "os:system", "./folder", "calphazero?folder=/etc"):
        with pytest.raises(ValueError, match="not in the list of policies"):
            page.load_offered(name, offered, False)


@pytest.mark.parametrize("side", [0, 1])
def test_what_the_buttons_do(side):
    players = ["naked-singles", page.NOBODY]
    chosen = ["6x6", 1, "", players[side], players[1 - side]]
    digits, games, *updates = page.begin(["naked-singles"], False, *chosen)
    assert digits.choices == [(digit, digit) for digit in "123456"]
    columns = [update.visible for update in updates if isinstance(update, gr.Column)]
    assert columns == [side == 0, side == 1] == [game is not None for game in games]
    blanks = games[side].frame.board.copy() == 0
    for _ in range(blanks.sum()):
        page.move(games)
    assert board.is_solved(games[side].frame.board[None])[0]
    assert not page.show(games)[1].active  # the clock
    page.back_up(games)
    assert not games[side].is_over
    with pytest.raises(gr.Error, match="choose a number"):
        page.begin(["naked-singles"], False, "6x6", 0, *chosen[2:])
