"""The page and the pictures say what the file says."""

import re
from dataclasses import replace

import pytest

import leaderboard_page
from sudoku_gym.evaluation.leaderboard import LeaderboardCell

PARTS = ("tables", "times", "sets", "rows", "not_played", "runs")
MARKED = "".join(f"*text* <!-- leaderboard: {part} -->\n\n# next\n" for part in PARTS)


def cell(outcomes, state="finished", **changes):
    return LeaderboardCell(state, outcomes, 0, None, 1.0, 60.0, 0, **changes)


def page(board):
    text = leaderboard_page.fill_in(MARKED, board)
    assert "<!--" not in text and "*text*" not in text and text.count("# next") == len(PARTS)
    return text


def line(text, start):
    return next(each for each in text.splitlines() if each.startswith(f"| {start}"))


@pytest.fixture
def board(small, play, monkeypatch):
    monkeypatch.setattr(leaderboard_page, "TABLES", {"Sizes": ("4x4", "9x9")})
    return play()[0]


def test_cells_say_how_it_went(board):
    random, naked = (row.cells for row in board.rows)
    naked["4x4"] = replace(naked["4x4"], times=(0.25,) * 10)
    naked["9x9"] = cell("1011")
    random["4x4"] = cell("10" * 20, "out of time", times=(), timing_run=0)
    random["9x9"] = cell("", "cannot", error="no `such` boards | *here*")
    text = page(board)
    assert "75.0 % (30.1 to 95.4) |" in line(text, "`naked-singles`")
    assert "100.0 % (97.3 to 100.0), 8 of 8 orbits |" in line(text, "`naked-singles`")
    row = line(text, "`masked-random`")
    assert "50.0 % (35.2 to 64.8), 40 of 140 |" in row and row.endswith(" - |")
    times = text.split("# next")[1]
    assert line(times, "`naked-singles`").endswith("250 ms |")
    assert line(times, "`masked-random`").endswith("over 5 s |")
    assert "- `masked-random` on `9x9`: `no 'such' boards | *here*`" in text
    random["4x4"] = cell("", "out of time")
    del random["9x9"]
    assert "none in 60 s" in page(board) and "not yet" in page(board)


def test_words_of_a_file_are_shown_and_not_obeyed(board):
    evil = "<script>alert(1)</script> [x](http://y) | `z` ![p](q)"
    board.rows[0].kind = board.rows[0].package = board.rows[0].policy = evil
    board.runs = [replace(run, machine=evil, versions={"a": evil}) for run in board.runs]
    board.sets = {name: replace(each, title=evil) for name, each in board.sets.items()}
    lines = [each for each in page(board).splitlines() if "alert" in each]
    assert len(lines) == 8
    for each in lines:
        outside = re.sub(r"`[^`]*`", "", re.sub(r"\\.", "", each))
        assert not set("<>[]!") & set(outside), each


def test_the_best_mean_stands_first(board):
    rows = [each for each in page(board).splitlines() if each.startswith("| `")]
    assert [row.split("`")[1] for row in rows[:2]] == ["naked-singles", "masked-random"]


def test_pictures_are_drawn(board):
    plots = pytest.importorskip("leaderboard_plots").plots(board)
    assert list(plots) == [f"leaderboard-{name}.png" for name in ("grades", "blanks", "times")]
    assert all(content.startswith(b"\x89PNG") for content in plots.values())
