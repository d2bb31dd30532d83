"""The leaderboard of the documentation is up to date: results, page, puzzles and weights."""

import io
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

import leaderboard_page
from sudoku_gym.evaluation.leaderboard import LeaderboardConfig, read_leaderboard
from sudoku_gym.evaluation.leaderboard.cells import BATCH_CELLS, TIMED_PUZZLES
from sudoku_gym.evaluation.leaderboard.fixed_sets import SEED, fixed_sets
from sudoku_gym.evaluation.leaderboard.workers import listed_rows
from sudoku_gym.policies.identity import weights_checksum

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


def test_one_plot_names_the_frontier_of_all(results):
    plots = pytest.importorskip("leaderboard_plots")
    points = {"slow": (9.0, 0.9), "fast": (1.0, 0.5), "worse": (2.0, 0.4), "twin": (1.0, 0.4)}
    assert plots.frontier(points) == ["fast", "slow"] and plots.frontier({}) == []
    (axes,) = plots.plots(results)["times"].axes
    named = {text.get_text() for text in axes.texts}
    hard = {name: row.cells.get("9x9-hard") for name, row in results.rows.items()}
    played = {name: cell for name, cell in hard.items() if cell and cell.played}
    fastest = min(played, key=lambda name: played[name].puzzle_seconds)
    best = max(cell.share for cell in played.values())
    assert fastest in named and any(played[name].share == best for name in named)
    drawn = sum(len(part.get_children()[0].get_xdata()) for part in axes.containers)
    assert drawn == len(played)


def test_plots_and_page_of_odd_results(results):
    plots = pytest.importorskip("leaderboard_plots")
    policy, row = next(each for each in results.rows.items() if "9x9-hard" in each[1].cells)
    odd = replace(results, rows={policy: replace(row, kind="$\\frac$")})
    for figure in plots.plots(odd).values():
        figure.savefig(io.BytesIO(), format="png")
    empty = replace(results, sets={}, rows={policy: replace(row, cells={})})
    assert f"| `{policy}`" in leaderboard_page.fill_in(PAGE, empty)


def _legend(axes):
    return axes.get_legend().get_texts() if axes.get_legend() else []


def test_the_page_gets_every_part(results):
    page = leaderboard_page.fill_in(PAGE, results)
    assert "<!--" not in page and "make docs" not in page
    for policy in results.rows:
        # In the table of all policies, and in those of lists, times and rows.
        assert page.count(f"| `{policy}`") == len(leaderboard_page.TABLES) + 4
    assert all(f"| `{name}`" in page for name in results.sets)


def test_the_page_says_how_it_is_played():
    text = " ".join(PAGE.split())
    assert f"no more than {LeaderboardConfig().budget:g} s of processor time" in text
    assert f"Seed {SEED}; boards of {BATCH_CELLS:,} cells" in text
    assert f"the first {TIMED_PUZZLES} puzzles of a set" in text


def test_playing_everything_takes_three_hours_on_two_cores_at_most(results):
    """By the recorded times, which the page states."""
    hours = leaderboard_page.hours_of(results)
    assert 0 < hours <= 2 * 3
    stated = leaderboard_page.fill_in("<!-- leaderboard: duration -->", results)
    assert f"about {hours / 2:.1f} hours on two cores" in stated


def test_tables_show_every_set():
    shown = {name for sets in leaderboard_page.TABLES.values() for name in sets}
    shown.add(leaderboard_page.SORTED_BY)
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
        assert row.kind == kind and kind in leaderboard_page.KINDS
        assert row.weights == weights_checksum(policy), f"{policy}: run sudoku-gym leaderboard"


def test_rows_stand_in_one_stated_order_within_their_kind(results):
    kinds = leaderboard_page.by_kind(results)
    assert list(kinds) == list(leaderboard_page.KINDS)
    for policies in kinds.values():
        cells = [results.rows[policy].cells.get(leaderboard_page.SORTED_BY) for policy in policies]
        shares = [cell.share if cell else 0.0 for cell in cells]
        assert shares == sorted(shares, reverse=True)
    first = leaderboard_page.fill_in("<!-- leaderboard: best -->", results).splitlines()
    assert len(first) == 2 + len(kinds)
    assert all(
        f"`{policies[0]}`" in line for policies, line in zip(kinds.values(), first[2:], strict=True)
    )


def test_the_rule_holds_where_a_board_was_played_by_it(results):
    """Cells of another size were played by an earlier rule, and are played anew by a run."""
    for row in results.rows.values():
        for name, cell in row.cells.items():
            info = results.sets[name]
            if not cell.error and cell.budget == LeaderboardConfig().budget:
                assert cell.played in (info.subset, info.count)
