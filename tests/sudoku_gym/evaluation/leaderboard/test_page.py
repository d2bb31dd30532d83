"""The page and the pictures say what the file says."""

import re
from dataclasses import replace

import pytest

import leaderboard_page
from sudoku_gym.evaluation.leaderboard.results import LeaderboardCell, Timing

PARTS = ("sizes", "times", "sets", "rows", "not_played", "runs", "lists", "duration")
MARKED = "".join(f"<!-- leaderboard: {part} -->\n\n# next\n" for part in PARTS)


def cell(outcomes, **changes):
    return LeaderboardCell(60.0, "a run", outcomes, **changes)


def page(board):
    text = leaderboard_page.fill_in(MARKED, board)
    assert "<!--" not in text and text.count("# next") == len(PARTS)
    return text


def line(text, start):
    return next(each for each in text.splitlines() if each.startswith(f"| {start}"))


@pytest.fixture
def board(small, play, monkeypatch):
    monkeypatch.setattr(leaderboard_page, "TABLES", {"sizes": ("4x4", "9x9")})
    monkeypatch.setattr(leaderboard_page, "SORTED_BY", "4x4")
    return play()[0]


def test_cells_say_how_it_went(board):
    random, naked = (row.cells for row in board.rows.values())
    naked["4x4"] = replace(naked["4x4"], timing=Timing((0.25,) * 10, "a run"))
    naked["9x9"] = cell("1011", seconds=0.0123)
    random["4x4"] = cell("10" * 20, seconds=8.0)
    random["9x9"] = cell("", error="no `such` boards | *here*")
    text = page(board)
    assert "75.0 % (30.1 to 95.4) |" in line(text, "`naked-singles`")
    assert "100.0 % (97.3 to 100.0), 8 of 8 orbits |" in line(text, "`naked-singles`")
    row = line(text, "`masked-random`")
    assert "50.0 % (35.2 to 64.8), first 40 |" in row and row.endswith(" - |")
    times = text.split("# next")[1]
    assert line(times, "`naked-singles`").endswith(" 250 |")
    assert line(times, "`masked-random`").endswith(" (200) |")
    assert "- `masked-random` on `9x9`: `no 'such' boards | *here*`" in text
    random["4x4"] = cell("")
    del random["9x9"]
    assert page(board).count("not yet") == 2


def test_a_policy_that_was_stopped_does_not_lead(board):
    random, naked = (row.cells for row in board.rows.values())
    naked["4x4"] = cell("1" * 130 + "0" * 10)
    for random["4x4"] in (cell("1" * 130, error="stopped"), cell("1" * 30)):
        assert leaderboard_page.by_kind(board)["floor"] == ["naked-singles", "masked-random"]
    random["4x4"] = cell("1" * 140, error="stopped")
    assert "100.0 %" not in page(board)


def test_words_of_a_file_are_shown_and_not_obeyed(board):
    evil = "<script>alert(1)</script> [x](http://y) | `z` ![p](q)"
    row = board.rows[evil] = board.rows.pop("masked-random")
    row.kind = row.package = evil
    ((key, run),) = board.runs.items()
    board.runs[key] = replace(run, machine=evil, versions={"a": evil})
    board.sets = {name: replace(each, title=evil) for name, each in board.sets.items()}
    lines = [each for each in page(board).splitlines() if "alert" in each]
    assert len(lines) == 9
    for each in lines:
        outside = re.sub(r"`[^`]*`", "", re.sub(r"\\.", "", each))
        assert not set("<>[]!") & set(outside), each


@pytest.mark.parametrize("name", ["", " ", "a\\", "x`{ onclick=alert(1) }"])
def test_a_browser_obeys_no_words_of_a_file(board, name):
    markdown = pytest.importorskip("markdown")
    evil = "<script>alert(1)</script> x { onclick=alert(1) }"
    row = board.rows[name] = board.rows.pop("masked-random")
    row.kind = row.package = evil
    row.cells["4x4"] = cell("", error=evil)
    ((key, run),) = board.runs.items()
    board.runs[key] = replace(run, machine=evil, date=evil, versions={"a": evil})
    shown = markdown.markdown(page(board), extensions=["attr_list", "md_in_html", "tables"])
    assert "<table>" in shown and "alert" in shown
    assert "<script" not in shown and not re.search(r"<[^<>]* onclick", shown)


def test_the_best_of_a_kind_stands_first(board):
    rows = [each for each in page(board).splitlines() if each.startswith("| `")]
    assert [row.split("`")[1] for row in rows[:2]] == ["naked-singles", "masked-random"]


def test_pictures_are_drawn(board):
    cells = board.rows["masked-random"].cells
    cells["9x9-hard"] = cell("1110", timing=Timing((1.0, 3.0), "a run"))
    plots = pytest.importorskip("leaderboard_plots").plots(board)
    assert list(plots) == ["grades", "blanks", "times"]
    for name, figure in plots.items():  # times: one panel for all kinds
        titles = [axes.get_title(loc="left") for axes in figure.axes]
        assert titles == ([""] if name == "times" else ["floor"])
    point = plots["times"].axes[0].get_lines()[0]
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (2.0, 0.75)
