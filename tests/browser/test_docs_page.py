"""The page of the docs on which a network plays, in a real browser."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from sudoku_gym import board, load_policy, solver
from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.puzzles.named import BOARDS

By = pytest.importorskip("selenium.webdriver.common.by", reason="selenium is not installed").By
from selenium.common.exceptions import TimeoutException  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

pytestmark = pytest.mark.xdist_group("browser")

DOCS = Path(__file__).parent.parent.parent / "docs"
AROUND = """<!doctype html>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src file: 'unsafe-inline'">
<style>html {{ overflow-y: scroll }} body {{ margin: 1rem }}</style>
<body class="md-typeset">{}</body>
"""
DEAD = "123....4........"  # no digit is left for the fourth cell


class Page:
    """What a reader sees and does."""

    def __init__(self, browser):
        self.browser = browser

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def press(self, name):
        self.find(f"[data-do={name}]").click()

    def can_press(self, name):
        return self.find(f"[data-do={name}]").is_enabled()

    def turn_to(self, mode):
        self.find(f"[data-mode={mode}]").click()

    def load(self, text):
        script = "document.getElementById('play-line').value = arguments[0]"
        self.browser.execute_script(script, text)
        self.find("form button").click()

    def choose(self, field, value):
        Select(self.find(f"[data-{field}]")).select_by_visible_text(value)

    def type(self, cell, key):
        self.browser.find_elements(By.CSS_SELECTOR, ".play-cell")[cell].click()
        self.browser.switch_to.active_element.send_keys(key)

    def wait_for(self, words):
        wait = WebDriverWait(self.browser, 60, 0.1)  # asked more often, a page does little else
        try:
            wait.until(lambda _: words in self.status)
        except TimeoutException:
            assert words in self.status  # which tells what is there instead

    @property
    def status(self):
        return self.find(".play-status").get_property("textContent")

    @property
    def error(self):
        return self.find(".play-error").text

    @property
    def board(self):
        digits = self.browser.execute_script(
            "return [...document.querySelectorAll('.play-cell')].map("
            "(cell) => cell.querySelector('.play-digit')?.textContent ?? '.')"
        )
        return board.parse("".join(digits))

    def chances(self):
        """Return how strongly each visible candidate is coloured."""
        return self.browser.execute_script(
            "return [...document.querySelectorAll('.play-candidates span')]"
            ".filter((spot) => spot.style.visibility === 'visible')"
            ".map((spot) => Number(spot.style.getPropertyValue('--chance')))"
        )


@pytest.fixture
def page(browser, errors, tmp_path):
    """Open the page without the site around it, which only MkDocs could lay.

    Whatever it asks of the network would be refused, and complained about.
    """
    text = (DOCS / "play.md").read_text("utf-8")
    (content,) = re.findall(r"<link.*</script>", text, re.DOTALL)
    for folder in ("javascripts", "stylesheets"):
        shutil.copytree(DOCS / folder, tmp_path / folder)
    (tmp_path / "play.html").write_text(AROUND.format(content), "utf-8")
    browser.get((tmp_path / "play.html").as_uri())
    page = Page(browser)
    page.wait_for("60 blanks to fill")
    yield page
    assert errors() == []


def test_it_solves_what_it_shows(page):
    puzzle = page.board
    assert board.to_line(puzzle) == BOARDS["Inkala 2012"]
    page.choose("pace", "fast: as quick as it can")
    page.press("play")
    page.wait_for("Solved: 60 moves, 3 thoughts of 416 rounds in all")
    solved = page.board
    assert board.is_solved(solved[None])[0] and (solved[puzzle > 0] == puzzle[puzzle > 0]).all()
    assert not page.can_press("play") and not page.can_press("step")
    page.press("restart")
    assert (page.board == puzzle).all() and page.can_press("play")


def test_a_step_is_python_s_move_and_can_be_taken_back(page):
    puzzle = page.board
    policy = load_policy("expert-iteration")
    policy.reset(puzzle[None].copy(), Geometry.standard(9), np.random.default_rng(0))
    masks = board.candidates(puzzle[None]).reshape(1, -1)
    cell, digit = divmod(int(policy.act(puzzle[None].copy(), masks)[0]), 9)
    page.press("step")
    page.wait_for(f"{digit + 1} at {board.cell_name(cell, 9)}, after 176 rounds of thought")
    expected = puzzle.copy()
    expected.ravel()[cell] = digit + 1
    assert (page.board == expected).all()
    page.press("back")
    assert (page.board == puzzle).all() and not page.can_press("back")


def test_it_shows_what_it_thinks_round_by_round_and_pauses(page):
    assert set(page.chances()) == {0}  # it has not thought yet
    page.choose("pace", "slow: ten rounds a second")
    page.press("play")
    page.wait_for("Thinking: round ")
    page.press("play")
    paused = page.status
    chances = page.chances()
    assert len(chances) == board.candidates(page.board[None]).sum() and len(set(chances)) > 5
    page.wait_for(paused)  # and nothing more happens
    assert page.find("[data-do=play]").text == "Play" and page.chances() == chances


def test_a_reader_edits_the_board(page):
    puzzle = page.board
    page.type(1, "8")  # beside an 8
    assert page.status == "8 stands twice in row 1. Change one of them to go on."
    assert not page.can_press("play")
    wrong = page.browser.find_elements(By.CSS_SELECTOR, ".play-cell.is-wrong")
    assert len(wrong) == 2
    page.type(1, "\ue003")  # Backspace
    assert (page.board == puzzle).all() and page.can_press("play")
    page.type(1, "\ue014")  # the arrow to the right
    page.find(".play-pad [aria-label='put 4']").click()
    assert page.board[0, 2] == 4
    assert page.find("#play-line").get_attribute("value") == board.to_line(page.board)


def test_an_edit_in_mid_game_is_thought_about_anew(page):
    page.choose("examples", "4x4: 4 givens, naked singles")
    page.choose("pace", "fast: as quick as it can")
    page.press("step")
    page.wait_for("after 16 rounds")
    page.press("step")
    page.wait_for("as planned")
    blank = int(np.flatnonzero(page.board.ravel() == 0)[0])
    allowed = board.candidates(page.board[None]).reshape(16, 4)[blank]
    page.type(blank, str(int(np.flatnonzero(allowed)[0]) + 1))
    page.press("step")
    page.wait_for("of thought")


def test_a_dead_end_is_named(page):
    page.load(DEAD)
    words = "No digit is left for row 1, column 4: a dead end. These givens have no solution."
    assert page.status == words and not page.can_press("play")


def test_it_plays_every_example_size(page):
    page.choose("pace", "fast: as quick as it can")
    for name in ("6x6: 10 givens, naked singles", "16x16: 121 givens, hidden singles"):
        page.choose("examples", name)
        page.press("play")
        page.wait_for("Solved")
        assert board.is_solved(page.board[None])[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "That is 0 cells."),
        ("12", "That is 2 cells."),
        ("x" * 16, "“x” at row 1, column 1 is no digit of a 4x4 board: use 1 to 4"),
        ("5" * 16, "“5” at row 1, column 1 is no digit of a 4x4 board"),
        ("\u0661" * 16, "is no digit"),
        ("\0" * 16, "is no digit"),
        ("<b>1</b>........", "“<” at row 1, column 1 is no digit"),
        ("." * 4000, "That is 4000 cells."),
        ("." * 25, "That is 25 cells."),
        ("." * 625, "That is 625 cells."),
    ],
)
def test_what_is_no_board_is_refused_in_words(page, text, words):
    before = page.board
    page.load(text)
    assert words in page.error
    assert (page.board == before).all()


def test_a_reader_plays_with_hints_checks_and_undo(page):
    puzzle = page.board
    page.turn_to("play")
    assert page.chances() == []  # what the network makes of the board is hidden
    page.type(0, "1")  # a given, which stays
    assert (page.board == puzzle).all()
    solution = solver.solve(puzzle[None])[0]
    wrong = next(digit for digit in candidates_of(puzzle, 1) if digit != solution[0, 1])
    page.type(1, str(wrong))
    page.press("check")
    assert page.status == "1 digit on the board is wrong."
    assert len(page.browser.find_elements(By.CSS_SELECTOR, ".play-cell.is-wrong")) == 1
    page.press("back")
    assert (page.board == puzzle).all()
    page.press("hint")  # no single is left on this board
    page.wait_for("no single is left; the network puts it there")
    page.press("hint")
    assert np.count_nonzero(page.board) == np.count_nonzero(puzzle) + 1
    page.press("check")
    assert page.status == "All digits are right so far."
    page.turn_to("watch")
    assert np.count_nonzero(page.board) == np.count_nonzero(puzzle) + 1 and page.chances()


def test_a_reader_races_the_network(page):
    page.choose("examples", "4x4: 4 givens, naked singles")
    page.turn_to("race")
    page.choose("interval", "as fast as it can")
    page.press("race")
    page.wait_for("The network was first, after 0:0")
    solution = solver.solve(page.board[None])[0]
    for cell in np.flatnonzero(page.board.ravel() == 0).tolist():
        page.type(cell, str(solution.ravel()[cell]))
    page.wait_for("; the network was first, after 0:0")
    page.choose("interval", "a digit in 20 s")
    page.press("race")
    for cell in np.flatnonzero(page.board.ravel() == 0).tolist():
        page.type(cell, str(solution.ravel()[cell]))
    page.wait_for("you have won. The network had")


def test_a_thought_that_does_not_converge_is_announced_and_stopped(page):
    page.load("........8..3...4...9..2..6.....79.......612...6.5.2.7...8...5...1.....2.4.5.....3")
    page.choose("pace", "fast: as quick as it can")
    page.press("play")
    page.wait_for("It has not converged, as most boards would have by now. After the last round it")
    page.press("stop")
    page.wait_for(" starts that were stopped, a guess: ")
    assert page.find("[data-do=play]").text == "Play"


def test_it_plays_a_variant(page):
    page.choose("examples", "Sudoku-X 9x9: 21 givens, hidden singles")
    page.choose("pace", "fast: as quick as it can")
    page.press("play")
    page.wait_for("Solved")
    assert board.is_solved(page.board[None], sudoku_x(9))[0]
    page.choose("variant", "Latin square: rows and columns alone")
    page.load("." * 16)
    page.choose("variant", "Jigsaw: regions in place of boxes")
    assert page.error == "The jigsaw of this page has 9 digits."


def candidates_of(puzzle, cell):
    size = len(puzzle)
    legal = board.candidates(puzzle[None]).reshape(size * size, size)[cell]
    return (np.flatnonzero(legal) + 1).tolist()


def test_it_fits_a_telephone(page):
    phone = {"width": 360, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        for name in ("9x9: easy, 36 givens, naked singles", "16x16: 121 givens, hidden singles"):
            page.choose("examples", name)
            assert page.browser.execute_script("return document.body.scrollWidth") <= 360
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
