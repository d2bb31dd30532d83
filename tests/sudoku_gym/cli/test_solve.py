"""`sudoku-gym solve`: puzzles, and lists of any length, solved part by part."""

import io
import re
import sys

import numpy as np
import pytest

from sudoku_gym import board, solver
from sudoku_gym.puzzles import files, load
from sudoku_gym.solver import chunks

PUZZLE = "1234....21.34..1"  # one solution
SOLUTION = "1234341221434321"
SEVERAL, NONE, CLASH = "." * 16, "123............4", f"11{'.' * 14}"
LIST = f"# four puzzles\n{PUZZLE}\n\n{SEVERAL}\n{NONE}\n{CLASH}\n"


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A working folder with a list of four puzzles, and one with bad rows."""
    (tmp_path / "four.txt").write_text(LIST)
    (tmp_path / "bad.txt").write_text(f"12\n{PUZZLE}\n{PUZZLE[:-1]}9\n{PUZZLE}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows_of(path):
    """The rows of a CSV file without quotes."""
    return [line.split(",") for line in path.read_text().splitlines()]


def test_a_list_is_solved_into_a_csv_file(run, work):
    code, out, err = run("solve", "four.txt", "--out", "out.csv")
    assert (code, out) == (1, "")
    said = "4 puzzles: no solution 2, one solution 1, several solutions 1; "
    assert re.search(re.escape(said) + r"[\d,]+ a second of processor time\n$", err)
    header, *rows = rows_of(work / "out.csv")
    assert header == ["puzzle", "solution", "solutions", "decided"]
    assert rows[0] == [PUZZLE, SOLUTION, "1", "1"]
    assert rows[1][0] == SEVERAL and rows[1][2:] == ["2", "1"]
    assert board.is_solved(board.parse(rows[1][1])[None]).all()
    assert rows[2:] == [[NONE, "", "0", "1"], [CLASH, "", "0", "1"]]
    assert sorted(file.name for file in work.iterdir()) == ["bad.txt", "four.txt", "out.csv"]


def test_without_out_lines_are_printed(run, work):
    code, out, err = run("solve", "four.txt")
    assert code == 1 and "4 puzzles" in err
    first, second, *without = out.splitlines()
    assert first == f"{SOLUTION}  one solution" and second.endswith("  several solutions")
    assert without == [f"{NONE}  no solution", f"{CLASH}  no solution"]


@pytest.mark.parametrize("suffix", files.SUFFIXES)
@pytest.mark.parametrize("bank, chosen", [("x9x9", ("--board", "x9x9"))])
def test_every_form_and_board_is_solved_and_reads_back(run, work, suffix, bank, chosen):
    some = load(bank, "test")[:9]
    files.write(f"list{suffix}", some)
    code, _, err = run("solve", f"list{suffix}", "--out", "out.csv", *chosen)
    assert code == 0, err
    again = files.read("out.csv", some.geometry)
    assert (again.puzzles == some.puzzles).all() and (again.solutions == some.solutions).all()


@pytest.mark.parametrize("threads", ["1", "3"])
def test_parts_and_threads_change_nothing(run, work, monkeypatch, threads):
    """Parts that end in the middle of slices; a slice of one puzzle where each one is slow."""
    some = load("9x9", "test")[:200]
    files.write("list.txt", some)
    lines = [f"{board.to_line(solution)}  one solution" for solution in some.solutions]
    for seconds in (chunks._SECONDS, 0):
        monkeypatch.setattr(chunks, "_SECONDS", seconds)
        code, out, _ = run("solve", "list.txt", "--threads", threads)
        assert code == 0 and out.splitlines() == lines


@pytest.mark.parametrize(
    "count, code, verdicts",
    [
        ("1", 0, ["solved", "solved"]),
        ("2", 1, ["one solution", "several solutions"]),
        ("9", 1, ["one solution", "9 solutions or more"]),
        ("999", 1, ["one solution", "288 solutions"]),
    ],
)
def test_so_many_solutions_are_looked_for(run, work, count, code, verdicts):
    (work / "two.txt").write_text(f"{PUZZLE}\n{SEVERAL}\n")
    found = run("solve", "two.txt", "--limit", count)
    said = "one solution 1, several solutions 1; " if code else "solved 2; "
    assert found[0] == code and f"2 puzzles: {said}" in found[2]
    assert [line.partition("  ")[2] for line in found[1].splitlines()] == verdicts
    run("solve", "two.txt", "--limit", count, "--out", "out.csv")
    written = [row[2] for row in rows_of(work / "out.csv")[1:]]
    assert written == ["1", {"1": "1", "2": "2", "9": "9", "999": "288"}[count]]


def test_what_the_node_limit_leaves_open_is_no_answer(run, work):
    bank = load("9x9")
    hard = bank[bank.grades == 4][:3]
    assert (solver.find_solutions(hard.puzzles, node_limit=0).decided == 0).all()
    files.write("hard.txt", hard)
    code, _, err = run("solve", "hard.txt", "--node-limit", "0", "--out", "out.csv")
    assert code == 1 and "3 puzzles: undecided 3; " in err
    assert [row[1:] for row in rows_of(work / "out.csv")[1:]] == [["", "0", "0"]] * 3


def test_a_bad_row_stops_and_leaves_nothing_half_written(run, work):
    (work / "out.csv").write_text("mine")
    code, out, err = run("solve", "bad.txt", "--out", "out.csv")
    assert (code, out) == (2, "") and "bad.txt, line 1: a board of 2 cells" in err
    assert (work / "out.csv").read_text() == "mine"
    assert sorted(file.name for file in work.iterdir()) == ["bad.txt", "four.txt", "out.csv"]


def test_a_list_without_a_puzzle_is_refused(run, work):
    (work / "none.txt").write_text("# nothing\n")
    code, _, err = run("solve", "none.txt", "--out", "none.csv")
    assert code == 2 and "no puzzle found" in err and not (work / "none.csv").exists()
    np.savez("a.npz", puzzles=np.stack([board.parse(PUZZLE), np.full((4, 4), 9)]))
    assert "a.npz, row 2: a value is" in run("solve", "a.npz")[2]


@pytest.mark.parametrize("error, code", [(KeyboardInterrupt(), 130), (OSError(5, "lost"), 2)])
def test_what_ends_it_midway_leaves_nothing_half_written(run, work, monkeypatch, error, code):
    def fail(*arguments, **options):
        if len(arguments[0]) > 1:
            raise error
        return find_solutions(*arguments, **options)

    find_solutions = solver.find_solutions
    monkeypatch.setattr(solver, "find_solutions", fail)
    assert run("solve", "four.txt", "--out", "out.csv")[0] == code
    assert sorted(file.name for file in work.iterdir()) == ["bad.txt", "four.txt"]


@pytest.mark.parametrize(
    "text, code, said",
    [
        (PUZZLE, 0, "one solution"),
        ("." * 16, 1, "several solutions"),
        ("123............4", 1, "no solution"),
        ("11..............", 1, "no solution: 1 stands twice in a unit, at row 1, column 1"),
    ],
)
def test_solve_says_how_many_solutions_there_are(run, text, code, said):
    result = run("solve", text)
    assert result[0] == code and result[1].startswith(said)


def test_solve_reads_standard_input(run, monkeypatch):
    lines = f"# two boards\n{PUZZLE}\n\n{'.' * 16}\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    code, out, _ = run("solve", "-")
    assert code == 1 and re.fullmatch("[1-4]{16}  one .*\n[1-4]{16}  several .*\n", out)
    monkeypatch.setattr(sys, "stdin", io.StringIO(board.to_text(board.parse(PUZZLE))))
    assert run("solve", "-")[1] == f"{SOLUTION}  one solution\n"


def test_solve_knows_variants_and_long_puzzles(run):
    test = load("x9x9", "test")
    line = board.to_line(test.puzzles[0])
    code, out, _ = run("solve", line, "--board", "x9x9")
    assert code == 0 and out.startswith("one solution\n")
    assert (board.parse(out.partition("\n")[2]) == test.solutions[0]).all()
    assert run("solve", line)[0] == 1  # without the diagonals it has several
    long = board.to_line(load("25x25").puzzles[0])
    assert run("solve", long)[0] == 0


def test_solve_admits_what_it_cannot_decide(run):
    hard = load("9x9")[load("9x9").grades == 4].puzzles[0]
    code, out, _ = run("solve", board.to_line(hard), "--node-limit", "0")
    assert code == 1 and out.startswith("undecided")


@pytest.mark.parametrize("count, said", [(4, "line 3: row 1"), (16, "line 3: row 1")])
def test_a_wrong_symbol_does_not_make_a_list_one_board(run, tmp_path, count, said):
    """Four boards of 4x4 have as many symbols as one of 8x8, and sixteen have as many rows, too."""
    lines = [PUZZLE] * count
    lines[2] = PUZZLE.replace("1", "5", 1)
    (tmp_path / "list.txt").write_text("\n".join(lines))
    code, out, err = run("solve", str(tmp_path / "list.txt"))
    assert (code, out) == (2, "") and f"list.txt, {said}" in err and "'5' is no digit" in err


@pytest.mark.parametrize("bank", ["6x6", "16x16"])
def test_a_file_may_hold_one_board_row_by_row(run, tmp_path, bank):
    puzzle = load(bank, "test").puzzles[0]
    rows = [
        board.to_line(puzzle)[start : start + len(puzzle)]
        for start in range(0, puzzle.size, len(puzzle))
    ]
    for text in ("\n".join(rows), board.to_text(puzzle)):
        (tmp_path / "one.txt").write_text(text)
        code, out, _ = run("solve", str(tmp_path / "one.txt"), "--board", bank)
        assert code == 0 and out.endswith("  one solution\n")
