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
    offered = ["hidden-singles", "dlx"]
    assert type(page.load_offered("dlx?node_limit=7", offered, False)) is type(load_policy("dlx"))
    for name in ("solver", "os:system", "./folder"):
        with pytest.raises(ValueError, match="not in the list of policies"):
            page.load_offered(name, offered, False)


def test_what_the_buttons_do():
    chosen = ["6x6", 1, "", "naked-singles", page.NOBODY]
    digits, games, *_ = page.begin(["naked-singles"], False, *chosen)
    assert digits.choices == [(digit, digit) for digit in "123456"] and len(games) == 1
    blanks = games[0].frame.board.copy() == 0
    for _ in range(blanks.sum()):
        page.move(games)
    assert board.is_solved(games[0].frame.board[None])[0]
    assert not page.show(games)[1].active  # the clock
    page.back_up(games)
    assert not games[0].is_over
    with pytest.raises(gr.Error, match="choose a number"):
        page.begin(["naked-singles"], False, "6x6", 0, *chosen[2:])
