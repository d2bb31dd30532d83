"""The page of the docs on which a network plays, in a real browser."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from sudoku_gym import board, solver
from sudoku_gym.geometry import sudoku_x
from sudoku_gym.puzzles.banks import NAMED_BOARDS as BOARDS

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


@pytest.mark.nightly
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


@pytest.mark.nightly
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
