"""What is shown while one waits."""

import io
import sys

import pytest
from rich.console import Console

from sudoku_gym.cli import terminal


class Terminal(io.StringIO):
    """A standard error that says it is a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize("kind", [Terminal, io.StringIO])
def test_a_terminal_sees_how_far_it_is_and_nobody_else(run, monkeypatch, kind):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream := kind())
    code, out, _ = run("compare", "naked-singles", "runs[/b]", "masked-random", "--count", "50")
    assert (code, out) == (2, "")
    stream.truncate(0)
    code, out, _ = run("compare", "naked-singles", "masked-random", "--count", "50")
    assert code == 0 and "95 % interval" in out
    if kind is io.StringIO:
        assert stream.getvalue() == ""
    else:
        shown = stream.getvalue()
        assert "naked-singles (1 of 2)" in shown and "masked-random (2 of 2)" in shown
        assert "100%" in shown and shown.rstrip().endswith("\x1b[2K")  # the line is gone


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_whoever_makes_puzzles_sees_how_far_it_is(run, monkeypatch, kind):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream := kind())
    for more in (["--board", "6x6"], ["--difficulty", "pairs"], ["--hard", "--steps", "1"]):
        code, out, _ = run("generate", "--count", "20", *more)
        assert code == 0 and len(out.splitlines()) == 20
    shown = [part in stream.getvalue() for part in ("generate (1 of 2)", "harden (2 of 2)", "100%")]
    assert shown == [kind is Terminal] * 3


@pytest.mark.parametrize("width", [80, 120])
def test_a_table_that_is_too_wide_loses_nothing(monkeypatch, width):
    file = io.StringIO()
    monkeypatch.setattr(terminal, "console", lambda: Console(file=file, width=width))
    heads = [
        "policy",
        "solved",
        "95 % interval",
        "over orbits",
        "units satisfied",
        "processor time",
    ]
    heads += ["orbits", "puzzles/s"]
    row = ["naked-singles", "100.0 %", "83.9 to 100.0 %", "83.9 to 100.0 %", "100.0 %", "190 µs"]
    terminal.console().print(terminal.table(heads, [[*row, "6 of 6", "129,793"]], "4x4"))
    lines = file.getvalue().splitlines()
    assert max(map(len, lines)) <= width and "…" not in file.getvalue()
    words = file.getvalue().split()
    assert {word for cell in [*heads, *row, "129,793"] for word in cell.split()} <= {*words}
    assert ("━" in file.getvalue()) == (width == 120)


@pytest.mark.parametrize("width", [20, 80])
def test_a_name_that_is_too_long_hides_no_figure(monkeypatch, width):
    file = io.StringIO()
    monkeypatch.setattr(terminal, "console", lambda: Console(file=file, width=width))
    rows = [["n" * 124, "1.25", "7.5"], ["dlx", "2.25", "8.5"]]
    terminal.console().print(terminal.table(["policy", "a", "b"], rows))
    assert {"1.25", "7.5", "2.25", "8.5"} <= {*file.getvalue().split()}
    assert file.getvalue().count("n") == 124
