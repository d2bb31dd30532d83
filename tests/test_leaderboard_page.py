"""The leaderboard of the documentation is up to date: results, page, puzzles and weights."""

import tomllib
from pathlib import Path

import pytest

import leaderboard_page
from sudoku_gym.evaluation.leaderboard import read_leaderboard
from sudoku_gym.evaluation.leaderboard.cells import BATCH_CELLS, TIMED_PUZZLES
from sudoku_gym.evaluation.leaderboard.fixed_sets import SEED, fixed_sets
from sudoku_gym.evaluation.leaderboard.identity import weights_checksum
from sudoku_gym.evaluation.leaderboard.play import listed_rows

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "leaderboard.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def results():
    return read_leaderboard(ROOT / "docs" / "results" / "leaderboard.json")


def test_plots_hold_every_row_that_has_played(results):
    plots = pytest.importorskip("leaderboard_plots")
    figure = plots.plots(results)["grades"]
    shown = {text.get_text().strip() for axes in figure.axes for text in _legend(axes)}
    assert shown == {policy for policy, row in results.rows.items() if row.cells}


def _legend(axes):
    return axes.get_legend().get_texts() if axes.get_legend() else []


def test_the_page_gets_every_part(results):
    page = leaderboard_page.fill_in(PAGE, results)
    assert "<!--" not in page and "make docs" not in page
    for policy in results.rows:
        assert page.count(f"| `{policy}`") == len(leaderboard_page.TABLES) + 3
    assert all(f"| `{name}`" in page for name in results.sets)


def test_the_page_says_how_it_is_played():
    text = " ".join(PAGE.split())
    assert f"Seed {SEED}; boards of {BATCH_CELLS:,} cells" in text
    assert f"the first {TIMED_PUZZLES} puzzles of a set" in text


def test_tables_show_every_set():
    shown = {name for sets in leaderboard_page.TABLES.values() for name in sets}
    assert shown == {each.name for each in fixed_sets()}


def test_every_policy_that_comes_with_the_package_has_a_row_or_a_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    policies = set(project["entry-points"]["sudoku_gym.policies"])
    rows = {name.partition("?")[0] for name in listed_rows()}
    assert {name for name in policies if f"`{name}` has no row: " in PAGE} == policies - rows
    assert rows <= policies


def test_the_results_are_of_these_puzzles_and_weights(results):
    assert {each.name: each.sha256 for each in fixed_sets()} == {
        name: each.sha256 for name, each in results.sets.items() if not each.is_file
    }
    for policy, kind in listed_rows().items():
        row = results.rows[policy]
        assert row.kind == kind
        assert row.weights == weights_checksum(policy), f"{policy}: run sudoku-gym leaderboard"
