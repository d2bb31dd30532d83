"""The leaderboard of the documentation is up to date: file, page, puzzles and weights."""

from pathlib import Path

import pytest

from sudoku_gym.evaluation.leaderboard import read
from sudoku_gym.evaluation.leaderboard.fixed_sets import programme
from sudoku_gym.evaluation.leaderboard.identity import weights_of
from sudoku_gym.evaluation.leaderboard.page import page

DOCS = Path(__file__).parent.parent / "docs"
FIGURES = DOCS / "results" / "leaderboard.json"


def test_pictures_hold_every_row_that_has_played():
    plots = pytest.importorskip("sudoku_curricula.plots_leaderboard")
    standings = read(FIGURES)
    draw = plots._curve([each for each in programme().sets if each.grade], list("abcde"))
    figure = plots._figure(standings, "technique", draw)
    shown = {text.get_text().strip() for axes in figure.axes for text in _legend(axes)}
    assert shown == {row.policy for row in standings.rows if row.cells}


def _legend(axes):
    return axes.get_legend().get_texts() if axes.get_legend() else []


def test_the_committed_page_is_that_of_the_committed_file():
    assert page(read(FIGURES), "results/leaderboard.json") == (DOCS / "leaderboard.md").read_text()


def test_the_committed_file_is_of_these_puzzles_and_weights():
    standings = read(FIGURES)
    assert {each.name: each.sha256 for each in programme().sets} == {
        name: each.sha256
        for name, each in standings.sets.items()
        if not each.source.startswith("file ")
    }
    for listed in programme().rows:
        row = standings.row_of(listed.policy)
        assert row.weights == weights_of(listed.policy), f"run: sudoku-gym leaderboard ({listed})"
