"""The page and the pictures say what the file says."""

import re
from dataclasses import replace

import pytest

from sudoku_gym.evaluation.intervals import wilson_interval
from sudoku_gym.evaluation.leaderboard import Played
from sudoku_gym.evaluation.leaderboard.page import page


def cell(outcomes, state="finished", **changes):
    solved = outcomes.count("1")
    interval = wilson_interval(solved, len(outcomes))
    played = (state, len(outcomes), solved, interval, outcomes, 0, None, 1.0, 60.0, 0)
    return replace(Played(*played), **changes)


def line(text, start):
    return next(each for each in text.splitlines() if each.startswith(f"| {start}"))


@pytest.fixture
def board(small, play):
    return play()[0]


def test_cells_say_how_it_went(board):
    random, naked = (row.cells for row in board.rows)
    naked["4x4"] = replace(naked["4x4"], times=(0.25,) * 10)
    naked["9x9"] = cell("1011")
    random["4x4"] = cell("10" * 20, "out of time", times=(), timed=0)
    random["9x9"] = cell("", "cannot", why="no `such` boards | *here*")
    text = page(board, "results/x.json")
    assert "75.0 % (30.1 to 95.4) |" in line(text, "`naked-singles`")
    assert "100.0 % (97.3 to 100.0), 8 of 8 orbits |" in line(text, "`naked-singles`")
    row = line(text, "`masked-random`")
    assert "50.0 % (35.2 to 64.8), 40 of 140 |" in row and row.endswith(" - |")
    times = text.partition("## Time a puzzle")[2]
    assert line(times, "`naked-singles`").endswith("250 ms |")
    assert line(times, "`masked-random`").endswith("over 5 s |")
    assert "- `masked-random` on `9x9`: `no 'such' boards | *here*`" in text
    assert "](results/x.json)" in text and "$" not in text
    random["4x4"] = cell("", "out of time")
    del random["9x9"]
    assert "none in 60 s" in page(board, "x") and "not yet" in page(board, "x")


def test_words_of_a_file_are_shown_and_not_obeyed(board):
    evil = "<script>alert(1)</script> [x](http://y) | `z` ![p](q)"
    board.rows[0].kind = board.rows[0].package = board.rows[0].policy = evil
    board.runs = [replace(run, machine=evil, versions={"a": evil}) for run in board.runs]
    board.sets = {name: replace(each, title=evil) for name, each in board.sets.items()}
    lines = [each for each in page(board, "x").splitlines() if "alert" in each]
    assert len(lines) == 8
    for each in lines:
        outside = re.sub(r"`[^`]*`", "", re.sub(r"\\.", "", each))
        assert not set("<>[]!") & set(outside), each


def test_the_best_mean_stands_first(board):
    rows = [each for each in page(board, "x").splitlines() if each.startswith("| `")]
    assert [row.split("`")[1] for row in rows[:2]] == ["naked-singles", "masked-random"]


def test_pictures_are_drawn(board, tmp_path):
    plots = pytest.importorskip("sudoku_curricula.plots_leaderboard")
    (tmp_path / "images").mkdir()
    paths = plots.plot_leaderboard(board, tmp_path / "images")
    names = [f"leaderboard-{name}.png" for name in ("grades", "blanks", "times")]
    assert [path.name for path in paths] == names
    assert sorted(file.name for file in (tmp_path / "images").iterdir()) == sorted(names)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
