"""The measurements of the solver and of resets run."""

import sys
from pathlib import Path

import numpy as np
import pytest

import build_extreme_like
import ratings
import reset
import solver_agreement
import solvers
from sudoku_gym import board, puzzles, solver

ROOT = Path(__file__).parent.parent


def test_the_solvers_are_measured(capsys):
    solvers.main(["--smoke", "--banks", "9x9", "--peers", "python-sat", "Norvig"])
    out = capsys.readouterr().out
    assert out.count(" 100.0 |") == 3
    assert "python-sat, incremental" in out and "Norvig-style Python" in out
    assert "OR-tools CP-SAT" not in out


@pytest.fixture
def native(tmp_path):
    """Return a native solver for the benchmarks, which is slow, and counts with ours."""
    program = tmp_path / "native"
    program.write_text(f"""#!{sys.executable}
import sys
from sudoku_gym import board, solver
boards = board.parse_many(open(sys.argv[2]))
counts = solver.count_solutions(boards, int(sys.argv[3]))
print(1000.0, 1, 1) if sys.argv[1] == "bench" else print(*counts, sep="\\n")
""")
    program.chmod(0o755)
    return program


def test_a_native_solver_is_measured_in_turns(capsys, native):
    arguments = ["--smoke", "--banks", "9x9", "4x4", "--peers", "--native", str(native)]
    solvers.main([*arguments, "--turns", "1"])
    rows = [line.split("|") for line in capsys.readouterr().out.splitlines() if "1000.0 |" in line]
    assert [row[1:3] for row in rows] == [
        [" bank 9x9 ", " first solution "],
        [" bank 9x9 ", "     uniqueness "],
    ]


def test_engines_are_compared(capsys, native, monkeypatch):
    arguments = ["--boards", "0", "--engines", "60", "--native", str(native)]
    solver_agreement.main(arguments)
    assert "60 boards by two engines" in capsys.readouterr().out
    monkeypatch.setattr(solver_agreement, "count_by_program", lambda program, boards: 1)
    with pytest.raises(SystemExit, match="a given less: no agreement on"):
        solver_agreement.main(arguments)


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


@pytest.mark.slow
def test_extreme_like_is_built_of_held_out_grids(capsys):
    config = build_extreme_like.Config(smoke=True, hardest_steps=50, hard_steps=50)
    bank = build_extreme_like.build(config)
    assert not puzzles.find_in_training(bank).any()
    assert set(bank.sources) == set(build_extreme_like.COUNTS) and (bank.ratings >= 0).all()
    again = build_extreme_like.build(config)
    assert (bank.puzzles == again.puzzles).all()
    build_extreme_like.main(["--smoke", "--hardest-steps", "1", "--hard-steps", "1"])
    assert "| hardest " in capsys.readouterr().out
