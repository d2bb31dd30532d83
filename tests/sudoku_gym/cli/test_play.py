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
    code, out, _ = play(run, monkeypatch, moves, "--puzzles", PUZZLE)
    assert code == 0 and "The board is solved." in out
    code, out, _ = play(run, monkeypatch, moves[:-1], "--puzzles", PUZZLE)
    assert code == 1 and "is solved" not in out


@pytest.mark.parametrize(
    "moves, said",
    [
        (["1 1 2"], "The 1 at row 1, column 1 is given and stays."),
        (["2 1 1"], "1 at row 2, column 1 clashes with the 1 at row 1, column 1."),
        (["erase 2 1"], "There is no digit at row 2, column 1 to erase."),
        (["5 1 1"], "There is no row 5"),
        (["2 1 x"], "No move was understood"),
        (["undo"], "There is no move to undo."),
        (["check"], "Good so far."),
        (["223", "check"], "No solution any more: take something back."),
        (["2,2,3", "hint"], "No solution any more: take something back."),
        (["223", "undo", "check"], "Good so far."),
        (["223", "erase 2 2", "check"], "Good so far."),
        (["223", "erase 2 2", "224", "check"], "Good so far."),
        (["B B C"], "There is no row 11"),
        (["223", "221", "check"], "No solution any more"),  # the refused digit changes nothing
        (["hint"], "Try 3 at row 2, column 1."),
        (["what?"], "No move was understood"),
        ([""], "put digit 3 into row 1, column 2"),
    ],
)
def test_play_answers(run, monkeypatch, moves, said):
    code, out, _ = play(run, monkeypatch, [*moves, "quit"], "--puzzles", PUZZLE)
    assert code == 1 and said in out.split("> ")[len(moves)]


def test_letters_and_numbers_above_9_are_read(run, monkeypatch):
    out = play(run, monkeypatch, ["A B C", "13 14 15"], "--puzzles", "." * 256)[1]
    assert "C was placed at row 10, column 11." in out and "F was placed at row 13" in out


def test_play_draws_from_banks(run, monkeypatch):
    first = play(run, monkeypatch, ["quit"], "--puzzles", "6x6", "--blanks", "9", "--seed", "1")[1]
    assert "6x6, 9 blanks." in first
    assert (
        play(run, monkeypatch, ["quit"], "--puzzles", "6x6", "--blanks", "9", "--seed", "1")[1]
        == first
    )
    assert (
        play(run, monkeypatch, ["quit"], "--puzzles", "6x6", "--blanks", "9", "--seed", "2")[1]
        != first
    )


@pytest.mark.parametrize("geometry", [Geometry.standard(6), sudoku_x(9), Geometry.standard(16)])
def test_rows_and_columns_are_labelled(geometry):
    cells = np.zeros((geometry.size, geometry.size), np.int8)
    cells[-1, -1] = geometry.size
    lines = labelled(cells, cells > 0, geometry).splitlines()
    symbols = board.SYMBOLS[1 : geometry.size + 1]
    assert lines[0].split() == list(symbols)
    assert [line[0] for line in lines[1:] if line[0] != " "] == list(symbols)
    assert lines[-1].rindex(symbols[-1]) == lines[0].rindex(symbols[-1])
