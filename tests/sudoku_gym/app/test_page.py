"""What the page offers, and its server."""

import pytest

from sudoku_gym import board, load_policy, puzzles

gr = pytest.importorskip("gradio")

from gradio_client import Client  # noqa: E402

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


@pytest.mark.filterwarnings("ignore")  # gradio's own
def test_buttons_answer_over_http():
    blocks = page.layout(["naked-singles", "hidden-singles"], ("naked-singles", page.NOBODY))
    _, address, _ = blocks.launch(prevent_thread_lock=True, quiet=True, auth=("ada", "secret"))
    try:
        client = Client(address, auth=("ada", "secret"), verbose=False)
        client.predict("6x6", 1, "", "naked-singles", page.NOBODY, api_name="/start")
        said = client.predict(api_name="/move")
        assert any("row" in str(each) for each in said)
    finally:
        blocks.close()
