"""`sudoku-gym play`."""

import io
import sys

import numpy as np
import pytest

from sudoku_gym import board, solver
from sudoku_gym.cli.play import labelled
from sudoku_gym.geometry import Geometry, sudoku_x

PUZZLE = "1234....21.34..1"


def play(run, monkeypatch, moves, *arguments):
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(moves)))
    return run("play", *arguments)


def test_play_to_the_end(run, monkeypatch):
    solution = solver.solve(board.parse(PUZZLE)[None])[0]
    moves = [f"{r + 1} {c + 1} {solution[r, c]}" for r, c in np.argwhere(board.parse(PUZZLE) == 0)]
    code, out, _ = play(run, monkeypatch, moves, PUZZLE)
    assert code == 0 and out.rstrip().endswith("Solved!")
    code, out, _ = play(run, monkeypatch, moves[:-1], PUZZLE)
    assert code == 1 and "Solved!" not in out


@pytest.mark.parametrize(
    "moves, said",
    [
        (["1 1 2"], "The digit at row 1, column 1 is a given."),
        (["2 1 1"], "1 stands at row 1, column 1 already."),
        (["2 1 ."], "The cell at row 2, column 1 is blank already."),
        (["5 1 1"], "Rows, columns and digits are 1-4."),
        (["2 1 x"], "Rows, columns and digits are 1-4."),
        (["undo"], "There is nothing to take back."),
        (["check"], "Good so far."),
        (["223", "check"], "No solution any more: take something back."),
        (["2,2,3", "hint"], "No solution any more: take something back."),
        (["223", "undo", "check"], "Good so far."),
        (["223", "22.", "check"], "Good so far."),
        (["223", "224", "check"], "Good so far."),
        (["223", "221", "check"], "No solution any more"),  # the refused digit changes nothing
        (["hint"], "Try 3 at row 2, column 1."),
        (["what?"], "put digit 3 into row 2, column 1"),
        ([""], "put digit 3 into row 2, column 1"),
    ],
)
def test_play_answers(run, monkeypatch, moves, said):
    code, out, _ = play(run, monkeypatch, [*moves, "quit"], PUZZLE)
    assert code == 1 and said in out.split("> ")[len(moves)]


@pytest.mark.parametrize("bank", ["4x4", "16x16"])
def test_the_entry_that_play_suggests_is_legal(run, monkeypatch, bank):
    shown = play(run, monkeypatch, ["quit"], bank, "--seed", "3")[1]
    move = shown.splitlines()[1].split("put digit")[0]
    out = play(run, monkeypatch, [move, "quit"], bank, "--seed", "3")[1]
    assert out.count("quit     leave") == 1 and "stands at" not in out and "a given" not in out


def test_play_draws_from_banks(run, monkeypatch):
    first = play(run, monkeypatch, ["quit"], "6x6", "--blanks", "9", "--seed", "1")[1]
    assert "6x6, 9 blanks." in first
    assert play(run, monkeypatch, ["quit"], "6x6", "--blanks", "9", "--seed", "1")[1] == first
    assert play(run, monkeypatch, ["quit"], "6x6", "--blanks", "9", "--seed", "2")[1] != first


@pytest.mark.parametrize("geometry", [Geometry.standard(6), sudoku_x(9), Geometry.standard(16)])
def test_rows_and_columns_are_labelled(geometry):
    cells = np.zeros((geometry.size, geometry.size), np.int8)
    cells[-1, -1] = geometry.size
    lines = labelled(cells, cells > 0, geometry).splitlines()
    symbols = board.SYMBOLS[1 : geometry.size + 1]
    assert lines[0].split() == list(symbols)
    assert [line[0] for line in lines[1:] if line[0] != " "] == list(symbols)
    assert lines[-1].rindex(symbols[-1]) == lines[0].rindex(symbols[-1])
