import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sudoku_gym import board, puzzles
from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.puzzles import files
from sudoku_gym.puzzles.puzzle_set import NOT_KNOWN

BANK = puzzles.load("4x4", "test")[::800]
PUZZLE, SOLUTION = board.to_line(BANK.puzzles[0]), board.to_line(BANK.solutions[0])
OTHER = next(line for line in map(board.to_line, BANK.solutions) if line != SOLUTION)


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", files.SUFFIXES)
@pytest.mark.parametrize("name", ["4x4", "9x9", "16x16"])
def test_what_is_written_reads_back(tmp_path, suffix, name):
    some = puzzles.load(name)[:30]
    path = tmp_path / f"list{suffix}"
    files.write(path, some)
    again = files.read(path)
    assert (again.puzzles == some.puzzles).all()
    assert (again.solutions == some.solutions).all()
    assert again.geometry == some.geometry
    assert (again.grades == NOT_KNOWN).all()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", files.SUFFIXES)
def test_variants_need_their_geometry(tmp_path, suffix):
    some = puzzles.load("x9x9")[:4]
    path = tmp_path / f"x{suffix}"
    files.write(path, some)
    assert (files.read(path, sudoku_x(9)).solutions == some.solutions).all()
    why = r"(row 1|line [12]): the puzzle has several solutions; .* give its geometry"
    with pytest.raises(ValueError, match=why):
        files.read(path)
    with pytest.raises(ValueError, match=r"line [12]|row 1") as plain:
        files.read(path, Geometry.standard(9))
    assert "geometry" not in str(plain.value)


@pytest.mark.parametrize(
    "text",
    [
        f"quizzes,solutions\n{PUZZLE.replace('.', '0')},{SOLUTION}\n",
        f"id,puzzle,solution,clues,difficulty\n1,{PUZZLE},{SOLUTION},4,0.0\n",
        f"source,question,answer,rating\nme,{PUZZLE},{SOLUTION},3\n",
        f"\ufeffPuzzle , Solution\n{PUZZLE},{SOLUTION}\n",
        f"Puzzle\n{PUZZLE}\n",
        f"{PUZZLE},{SOLUTION}\n\n",
        f'"{PUZZLE}"\r\n',
    ],
)
def test_public_csv_forms(tmp_path, text):
    found = files.read(written(tmp_path, "a.csv", text))
    assert board.to_line(found.puzzles[0]) == PUZZLE
    assert board.to_line(found.solutions[0]) == SOLUTION


def test_a_column_stands_in_a_csv_file_once(tmp_path):
    path = written(tmp_path, "a.csv", f"puzzle,puzzle\n{PUZZLE},{PUZZLE}\n")
    with pytest.raises(ValueError, match=r"a\.csv: two columns are called puzzle"):
        files.read(path)


def test_text_with_comments_and_separators(tmp_path):
    drawn = "|".join(PUZZLE[i : i + 4] for i in range(0, 16, 4))
    path = written(tmp_path, "a.txt", f"# mine\n\n{PUZZLE}\n  {drawn}  \n")
    assert (files.read(path).puzzles == BANK.puzzles[[0, 0]]).all()


def test_a_quote_that_nothing_closes_hides_no_row_without_a_word(tmp_path):
    path = tmp_path / "list.csv"
    lines = [board.to_line(each) for each in puzzles.load("4x4").puzzles[:6]]
    rows = [f"{line},fine" for line in lines]
    rows[1] = f'{lines[1]},"oops'
    path.write_text("puzzle,comment\n" + "\n".join(rows) + "\n")
    with pytest.raises(ValueError, match=r"line 3: no row of a CSV file .*with the lines up to 7"):
        files.read(path)
    rows[1] = f'{lines[1]},"over two\nlines"'
    path.write_text("puzzle,comment\n" + "\n".join(rows) + "\n")
    assert len(files.read(path)) == 6


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("12,", "a board of 2 cells"),
        (f"{PUZZLE[:-1]}9,", "row 4, column 4: '9' is no digit of a 4x4 board"),
        (f"{PUZZLE[:-1]}é,", "'é' is no digit"),
        (f"{PUZZLE},{SOLUTION[:-1]}x", "'x' is no digit"),
        (f"{PUZZLE},{OTHER}", "the stored solution does not keep the givens"),
        (f"{PUZZLE},{SOLUTION[:-1]}.", "the stored solution "),
        (f"{'.' * 16},{SOLUTION}", "the puzzle has several solutions"),
        (f"{'.' * 16},", "the puzzle has several solutions"),
        (f"11{'.' * 14},", "the puzzle has no solution"),
        (f",{SOLUTION}", "the row has no puzzle"),
        (",", "an empty row is no row"),
    ],
)
def test_bad_rows_are_named_and_skipped(tmp_path, row, problem):
    good = f"{PUZZLE},{SOLUTION}"
    path = written(tmp_path, "a.csv", f"puzzle,solution\n{good}\n{row}\n{good}\n")
    if row == ",":
        assert len(files.read(path)) == 2
        return
    with pytest.raises(ValueError, match=f"a.csv, line 3: .*{problem}"):
        files.read(path)
    with pytest.warns(UserWarning, match=f"1 rows skipped, for example .*line 3: .*{problem}"):
        assert len(files.read(path, on_bad_row="skip")) == 2
    told = []
    assert len(files.read(path, on_bad_row=lambda *row: told.append(row))) == 2
    assert [line for line, _ in told] == [3]
    assert problem in told[0][1]


def test_a_bad_first_row_does_not_hide_the_size(tmp_path):
    path = written(tmp_path, "a.txt", f"123\n{PUZZLE}\n")
    told = []
    assert len(files.read(path, on_bad_row=lambda *row: told.append(row))) == 1
    assert [line for line, _ in told] == [1]


@pytest.mark.parametrize("value", [200, -7])
def test_a_stored_solution_with_other_digits_is_a_bad_row(tmp_path, value):
    """It was clipped to the largest digit, and with 200 in place of a 4 passed for sound."""
    puzzle, solution = (board.parse(line) for line in (PUZZLE, SOLUTION))
    wrong = np.where((puzzle == 0) & (solution == 4), value, solution).astype(np.int16)
    path = tmp_path / "a.npz"
    np.savez(path, puzzles=[puzzle] * 2, solutions=[solution, wrong])
    for check in (True, False):
        with pytest.raises(ValueError, match=r"a\.npz, row 2: the stored solution is no solved"):
            files.read(path, check=check)
        with pytest.warns(UserWarning, match="1 rows skipped"):
            assert len(files.read(path, check=check, on_bad_row="skip")) == 1


def test_unchecked_reading_trusts_the_stored_solution(tmp_path):
    path = written(tmp_path, "a.csv", f"puzzle,solution\n{'.' * 16},{SOLUTION}\n{PUZZLE},\n")
    trusted = files.read(path, check=False)
    assert board.to_line(trusted.solutions[0]) == SOLUTION
    assert board.to_line(trusted.solutions[1]) == SOLUTION


@pytest.mark.parametrize("suffix", files.SUFFIXES)
def test_streams_come_in_parts(tmp_path, suffix):
    path = tmp_path / f"list{suffix}"
    files.write(path, BANK)
    parts = list(files.read_in_parts(path, chunk=7))
    assert [len(part) for part in parts[:-1]] == [7] * (len(parts) - 1)
    assert (np.concatenate([part.puzzles for part in parts]) == BANK.puzzles).all()


def test_streams_read_no_further_than_asked(tmp_path):
    path = written(tmp_path, "a.txt", f"{PUZZLE}\n" * 6 + "bad\n")
    stream = files.read_in_parts(path, chunk=3)
    assert len(next(stream)) == len(next(stream)) == 3
    with pytest.raises(ValueError, match="line 7"):
        next(stream)


@pytest.mark.parametrize("suffix", files.SUFFIXES)
def test_boards_stream_whatever_their_number_of_solutions(tmp_path, suffix):
    path = tmp_path / f"list{suffix}"
    boards = BANK.puzzles[:20].copy()
    boards[3], boards[4, 0] = 0, 1  # several solutions, and none
    some = BANK[np.arange(20)]
    some.puzzles[:] = boards
    files.write(path, some)
    geometries, parts, shares = zip(*files.stream_boards(path, chunk=8), strict=True)
    assert (np.concatenate(parts) == boards).all() and [len(part) for part in parts] == [8, 8, 4]
    assert set(geometries) == {BANK.geometry}
    assert list(shares) == sorted(shares) and shares[-1] == 1


def test_a_stream_needs_no_rating(tmp_path):
    path = written(tmp_path, "a.csv", f"question,answer,rating\n{PUZZLE},,1.2\n")
    ((_, boards, _),) = files.stream_boards(path)
    assert (boards == BANK.puzzles[:1]).all()
    with pytest.raises(ValueError, match=r"the rating '1\.2' is no whole number"):
        files.read(path)


def test_rows_that_are_no_boards_are_bad_in_a_stream_too(tmp_path):
    path = written(tmp_path, "a.csv", f"puzzle,solution\n{PUZZLE},wrong\n123,\n")
    with pytest.raises(ValueError, match=r"a.csv, line 3: a board of 3 cells"):
        list(files.stream_boards(path))
    with pytest.warns(UserWarning, match="1 rows skipped, for example .*line 3"):
        ((_, boards, _),) = files.stream_boards(path, on_bad_row="skip")
    assert (boards == BANK.puzzles[:1]).all()
    assert list(files.stream_boards(written(tmp_path, "b.txt", "# nothing\n"))) == []
    with pytest.raises(ValueError, match="chunk=0"):
        list(files.stream_boards(path, chunk=0))


@pytest.mark.parametrize("suffix", [".txt", ".csv"])
def test_a_line_without_an_end_is_not_read_whole(tmp_path, suffix):
    path = written(tmp_path, f"a{suffix}", f"{PUZZLE}\n{'1' * 300_000}")
    with pytest.raises(ValueError, match=rf"a{suffix}, line 2: 100,000 characters or more"):
        files.read(path)


def test_columns_become_lines():
    columns = [np.array([b"a", b"bcd"]), np.array([b"", b"ef"])]
    assert files.join_columns(columns) == b"a,\nbcd,ef\n"
    assert files.join_columns(columns[::-1], separator="  ") == b"  a\nef  bcd\n"
    assert files.join_columns([column[:0] for column in columns]) == b""


@pytest.mark.parametrize("dtype", ["int8", ">i4", "<u8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npz_of_any_integers_in_any_order(tmp_path, dtype, order):
    path = tmp_path / "a.npz"
    flat = BANK.puzzles.reshape(-1, 16)
    arrays = {"solution": np.asarray(BANK.solutions.reshape(-1, 16), dtype, order=order)}
    np.savez_compressed(path, quiz=np.asarray(flat, dtype, order=order), **arrays)
    parts = list(files.read_in_parts(path, chunk=7))
    assert (np.concatenate([part.puzzles for part in parts]) == BANK.puzzles).all()
    assert (np.concatenate([part.solutions for part in parts]) == BANK.solutions).all()


def test_npz_of_flat_boards_without_solutions(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, quizzes=BANK.puzzles.reshape(-1, 16).astype(np.int64))
    assert (files.read(path).solutions == BANK.solutions).all()


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        ({"boards": BANK.puzzles}, "holds no array `puzzles`"),
        ({"puzzles": BANK.puzzles * 0.5}, "must be integers of one shape"),
        ({"puzzles": BANK.puzzles, "solutions": BANK.solutions[:1]}, "integers of one shape"),
        ({"puzzles": np.zeros((3, 15), int)}, r"must be \[M, N, N\] or \[M, N\*\*2\]"),
        ({"puzzles": np.zeros((0, 4, 4), int)}, r"must be \[M, N, N\] or"),
        ({"puzzles": np.full((3, 4, 4), 5)}, "row 1: a value is no digit of a 4x4 board"),
        ({"puzzles": np.full((3, 4, 4), -300)}, "row 1: a value is no digit"),
        ({"puzzles": np.array([[None]])}, "must be integers of one shape, not object"),
    ],
)
def test_bad_npz(tmp_path, arrays, problem):
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=f"a.npz.*{problem}"):
        files.read(path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a.json", "ends in .txt, .csv, .npz"),
        ("folder.txt", "is a folder"),
        ("no/a.txt", "there is no folder"),
        ("folder.txt/../no/a.npz", "there is no folder"),
    ],
)
def test_where_nothing_can_be_written(tmp_path, name, said):
    (tmp_path / "folder.txt").mkdir()
    for call in (files.check_target, lambda path: files.write(path, BANK)):
        with pytest.raises(ValueError, match=re.escape(said)):
            call(tmp_path / name)
    files.check_target(tmp_path / "new.csv")
    assert [path.name for path in tmp_path.rglob("*")] == ["folder.txt"]


def test_wrong_paths_and_options(tmp_path):
    with pytest.raises(FileNotFoundError):
        files.read(tmp_path / "none.txt")
    with pytest.raises(FileNotFoundError):
        files.read(tmp_path / "none.npz")
    for call in (files.read, lambda path: files.write(path, BANK)):
        with pytest.raises(ValueError, match=r"a\.json: a list of puzzles ends in \.txt, \.csv"):
            call(tmp_path / "a.json")
    path = written(tmp_path, "a.txt", PUZZLE)
    with pytest.raises(ValueError, match="on_bad_row='ignore': use 'raise', 'skip' or a function"):
        files.read(path, on_bad_row="ignore")
    with pytest.raises(ValueError, match="chunk=0"):
        list(files.read_in_parts(path, chunk=0))
    with pytest.raises(ValueError, match="no puzzle found"):
        files.read(written(tmp_path, "b.txt", "# nothing\n"))


@given(data=st.binary(max_size=300) | st.text(alphabet='1234.,"\n\r#x', max_size=200))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("suffix", files.SUFFIXES)
def test_any_file_reads_or_says_why_not(tmp_path, suffix, data):
    path = tmp_path / f"fuzz{suffix}"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    try:
        found = files.read(path)
    except ValueError as error:
        assert str(path) in str(error)
    else:
        found.check()
