"""`sudoku-gym solve --file`: lists of any length, solved part by part."""

import io
import re
import sys

import numpy as np
import pytest

from sudoku_gym import board, solver
from sudoku_gym.cli import solve
from sudoku_gym.puzzles import files, load
from sudoku_gym.solver import chunks

PUZZLE = "1234....21.34..1"  # one solution
SOLUTION = "1234341221434321"
SEVERAL, NONE, CLASH = "." * 16, "123............4", f"11{'.' * 14}"
LIST = f"# four puzzles\n{PUZZLE}\n\n{SEVERAL}\n{NONE}\n{CLASH}\n"


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A working folder with a list of four puzzles, and two puzzles between bad rows."""
    (tmp_path / "four.txt").write_text(LIST)
    (tmp_path / "bad.txt").write_text(f"12\n{PUZZLE}\n{PUZZLE[:-1]}9\n{PUZZLE}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows_of(path):
    """The rows of a CSV file without quotes."""
    return [line.split(",") for line in path.read_text().splitlines()]


def test_a_list_is_solved_into_a_csv_file(run, work):
    code, out, err = run("solve", "--file", "four.txt", "--out", "out.csv")
    assert (code, out) == (1, "")
    said = "4 puzzles: 2 without a solution, 1 with one, 1 with several, 0 undecided; "
    assert re.search(re.escape(said) + r"[\d,]+ a second of processor time\n$", err)
    header, *rows = rows_of(work / "out.csv")
    assert header == ["puzzle", "solution", "solutions", "decided"]
    assert rows[0] == [PUZZLE, SOLUTION, "1", "1"]
    assert rows[1][0] == SEVERAL and rows[1][2:] == ["2", "1"]
    assert board.is_solved(board.parse(rows[1][1])[None]).all()
    assert rows[2:] == [[NONE, "", "0", "1"], [CLASH, "", "0", "1"]]
    assert sorted(file.name for file in work.iterdir()) == ["bad.txt", "four.txt", "out.csv"]


def test_without_out_lines_are_printed_as_for_an_argument(run, work):
    code, out, err = run("solve", "--file", "four.txt")
    assert (code, out, "4 puzzles" in err) == (1, run("solve", "four.txt")[1], True)
    first, second, *without = out.splitlines()
    assert first == f"{SOLUTION}  one solution" and second.endswith("  several solutions")
    assert without == [f"{NONE}  no solution", f"{CLASH}  no solution"]


@pytest.mark.parametrize("suffix", files.SUFFIXES)
@pytest.mark.parametrize("bank, chosen", [("16x16", ()), ("x9x9", ("--board", "x9x9"))])
def test_every_form_and_board_is_solved_and_reads_back(run, work, suffix, bank, chosen):
    some = load(bank, "test")[:9]
    files.write(f"list{suffix}", some)
    code, _, err = run("solve", "--file", f"list{suffix}", "--out", "out.csv", *chosen)
    assert code == 0, err
    again = files.read("out.csv", some.geometry, check=False)
    assert (again.puzzles == some.puzzles).all() and (again.solutions == some.solutions).all()


def test_stored_solutions_are_no_matter(run, work):
    (work / "a.csv").write_text(f"puzzle,solution\n{PUZZLE},{'1' * 16}\n{PUZZLE},x\n")
    code, out, _ = run("solve", "--file", "a.csv")
    assert (code, out) == (0, f"{SOLUTION}  one solution\n" * 2)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_parts_and_threads_change_nothing(run, work, monkeypatch, threads):
    """Parts that end in the middle of slices; a slice of one puzzle where each one is slow."""
    some = load("9x9", "test")[:200]
    files.write("list.txt", some)
    lines = [f"{board.to_line(solution)}  one solution" for solution in some.solutions]
    for seconds in (chunks._SECONDS, 0):
        monkeypatch.setattr(chunks, "_SECONDS", seconds)
        code, out, _ = run("solve", "--file", "list.txt", "--threads", threads)
        assert code == 0 and out.splitlines() == lines


def test_a_policy_gets_few_boards_at_a_time(work, monkeypatch):
    """A search may keep what it has tried, of every board that it is given."""
    files.write("list.txt", load("9x9", "test")[:1500])
    monkeypatch.setattr(chunks, "_SECONDS", 60)
    monkeypatch.setattr(solve.Solve, "_search", lambda self, boards, geometry: None)
    parts = {
        policy: [
            len(boards)
            for boards, *_ in solve.Solve(file="list.txt", policy=policy)._in_slices(
                files.stream_boards("list.txt", chunk=1000)
            )
        ]
        for policy in ("", "expert-iteration?search=best-first")
    }
    plain, searched = parts.values()
    assert max(searched) == 128 and max(plain) > 400 and sum(searched) == sum(plain) == 1500


def test_the_share_of_the_file_grows_to_one(work):
    files.write("list.txt", load("9x9", "test")[:1000])
    whole = solve.Solve(file="list.txt")
    shares = [share for _, _, share in whole._in_slices(files.stream_boards("list.txt", chunk=300))]
    assert shares == sorted(shares) and shares[-1] == 1 and 0 < shares[0] < 0.01
    assert len(set(shares)) == len(shares) > 4


@pytest.mark.parametrize(
    "count, code, verdicts, said",
    [
        ("1", 0, ["solved", "solved"], "2 puzzles: 0 without a solution, 2 solved, 0 undecided"),
        ("2", 1, ["one solution", "several solutions"], "1 with one, 1 with several"),
        ("9", 1, ["one solution", "9 solutions or more"], "1 with one, 1 with several"),
        ("999", 1, ["one solution", "288 solutions"], "1 with one, 1 with several"),
    ],
)
def test_so_many_solutions_are_looked_for(run, work, count, code, verdicts, said):
    (work / "two.txt").write_text(f"{PUZZLE}\n{SEVERAL}\n")
    found = run("solve", "--file", "two.txt", "--count", count)
    assert found[0] == code and said in found[2]
    assert [line.partition("  ")[2] for line in found[1].splitlines()] == verdicts
    assert run("solve", "two.txt", "--count", count)[:2] == found[:2]
    run("solve", "--file", "two.txt", "--count", count, "--out", "out.csv")
    written = [row[2] for row in rows_of(work / "out.csv")[1:]]
    assert written == ["1", {"1": "1", "2": "2", "9": "9", "999": "288"}[count]]


def test_what_the_node_limit_leaves_open_is_no_answer(run, work):
    bank = load("9x9")
    hard = bank[bank.grades == 4][:3]
    assert (solver.find_solutions(hard.puzzles, node_limit=0).decided == 0).all()
    files.write("hard.txt", hard)
    code, _, err = run("solve", "--file", "hard.txt", "--node-limit", "0", "--out", "out.csv")
    assert code == 1 and "0 with one, 0 with several, 3 undecided" in err
    assert [row[1:] for row in rows_of(work / "out.csv")[1:]] == [["", "0", "0"]] * 3


def test_a_bad_row_stops_and_leaves_nothing_half_written(run, work):
    (work / "out.csv").write_text("mine")
    code, out, err = run("solve", "--file", "bad.txt", "--out", "out.csv")
    assert (code, out) == (2, "") and "bad.txt, line 1: a board of 2 cells" in err
    assert (work / "out.csv").read_text() == "mine"
    assert sorted(file.name for file in work.iterdir()) == ["bad.txt", "four.txt", "out.csv"]


def test_bad_rows_can_be_left_out(run, work):
    code, _, err = run("solve", "--file", "bad.txt", "--skip-bad-rows", "--out", "out.csv")
    first, second = err.splitlines()[-2:]
    assert code == 0 and second.startswith("2 puzzles: ")
    assert first.startswith("bad.txt: 2 bad rows left out, the first of them 1: a board of 2 cells")
    assert [row[0] for row in rows_of(work / "out.csv")[1:]] == [PUZZLE, PUZZLE]
    np.savez("a.npz", puzzles=np.stack([board.parse(PUZZLE), np.full((4, 4), 9)]))
    assert (
        "1 bad row left out, the first of them 2: a value is"
        in run("solve", "--file", "a.npz", "--skip-bad-rows")[2]
    )


@pytest.mark.parametrize("error, code", [(KeyboardInterrupt(), 130), (OSError(5, "lost"), 2)])
def test_what_ends_it_midway_leaves_nothing_half_written(run, work, monkeypatch, error, code):
    def fail(*arguments, **options):
        if len(arguments[0]) > 1:
            raise error
        return find_solutions(*arguments, **options)

    find_solutions = solver.find_solutions
    monkeypatch.setattr(solver, "find_solutions", fail)
    assert run("solve", "--file", "four.txt", "--out", "out.csv")[0] == code
    assert sorted(file.name for file in work.iterdir()) == ["bad.txt", "four.txt"]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize("arguments", [["--out", "out.csv"], []])
def test_a_bar_is_shown_and_takes_no_line_away(run, work, monkeypatch, arguments):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    _, out, _ = run("solve", "--file", "four.txt", *arguments)
    assert "four.txt" in stream.getvalue() and "100%" in stream.getvalue()
    assert len(out.splitlines()) == (0 if arguments else 4)


def test_no_bar_stands_between_lines_on_the_same_terminal(run, work, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    monkeypatch.setattr(sys, "stdout", lines := Terminal())
    run("solve", "--file", "four.txt")
    assert len(lines.getvalue().splitlines()) == 4 and "%" not in stream.getvalue()
