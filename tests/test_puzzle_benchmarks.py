"""The measurements of the solver and of resets run."""

from pathlib import Path

import numpy as np

import ratings
import reset
import solvers
from sudoku_gym import board, puzzles, solver

ROOT = Path(__file__).parent.parent


def test_the_solvers_are_measured(capsys):
    solvers.main(["--smoke", "--banks", "9x9", "--peers", "python-sat", "Norvig"])
    out = capsys.readouterr().out
    assert out.count(" 100.0 |") == 3
    assert "python-sat, incremental" in out and "Norvig-style Python" in out
    assert "OR-tools CP-SAT" not in out


def test_large_boards_are_measured_on_enough_puzzles():
    lists = solvers.lists_of(solvers.Config(banks=("16x16", "25x25", "25x25:330"), dug=0))
    assert [len(boards) for boards, _ in lists.values()] == [1_500, 120, 50]
    revealed, geometry = lists["bank 25x25:330"]
    assert ((revealed == 0).sum((1, 2)) == 330).all()
    assert (solver.count_solutions(revealed[:5], 2, geometry) == 1).all()
    again = solvers.lists_of(solvers.Config(banks=("25x25:330",), dug=0))["bank 25x25:330"][0]
    np.testing.assert_array_equal(again, revealed)


def test_a_solution_after_the_limit_does_not_count():
    config = solvers.Config(limit=1.0)
    row = solvers._row(np.array([0.5, 2.0, 0.5, 0.5]), [True, True, True, False], 1.0, config)
    assert (row[solvers.SHARE], row["slowest ms"], row["median ms"], row["count"]) == (
        50.0,
        2000.0,
        500.0,
        4,
    )


def test_resets_are_measured(capsys):
    reset.main(["--smoke", "--names", "Sudoku9x9-v0", "--num-envs", "4", "--shares", "0", "0.25"])
    lines = capsys.readouterr().out.splitlines()[-3:]
    blanks = [line.split("|")[2].strip() for line in lines if "`Sudoku9x9-v0`" in line]
    assert blanks == ["1", "20", "as stored"]


def test_ratings_are_tabulated(capsys, tmp_path):
    path = tmp_path / "mine.txt"
    named = puzzles.load("named").puzzles
    path.write_text("\n".join(board.to_line(puzzle) for puzzle in named))
    ratings.main(["--smoke", "--banks", "named", "6x6", "--lists", str(path)])
    lines = capsys.readouterr().out.splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "|" in line]
    assert [len(row) for row in rows[2:]] == [len(rows[0])] * 3
    assert rows[2][1:-1] == rows[4][1:-1]
    assert rows[4][0] == "mine.txt" and rows[3][1] == "10"
