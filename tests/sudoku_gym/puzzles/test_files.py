"""Lists of puzzles: what is written reads back, public forms are read, bad rows are named."""

import io
import pickle
import re
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sudoku_gym import board, puzzles
from sudoku_gym.geometry import Geometry, sudoku_x
from sudoku_gym.puzzles import files, rows
from sudoku_gym.puzzles.puzzle_set import NOT_KNOWN

BANK = puzzles.load("4x4", "test")[::800]
PUZZLE, SOLUTION = board.to_line(BANK.puzzles[0]), board.to_line(BANK.solutions[0])
OTHER = next(line for line in map(board.to_line, BANK.solutions) if line != SOLUTION)
NINE = board.to_line(puzzles.load("9x9").puzzles[0])
NINE_ROWS = [NINE[i : i + 9] for i in range(0, 81, 9)]
GRID = "\n".join(NINE_ROWS)
DRAWN = board.to_text(board.parse(NINE))


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
    again = files.read(path, some.geometry)
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


@pytest.mark.parametrize(
    "text",
    [
        f"quizzes,solutions\n{PUZZLE.replace('.', '0')},{SOLUTION}\n",
        f"id,puzzle,solution,clues,difficulty\n1,{PUZZLE},{SOLUTION},4,0.0\n",
        f"source,question,answer,rating\nme,{PUZZLE},{SOLUTION},3\n",
        f"\ufeffPuzzle , Solution\n{PUZZLE},{SOLUTION}\n",
        f"Puzzle\n{PUZZLE}\n",
        f"unsolved,solved\n{PUZZLE},{SOLUTION}\n",
        f"Aufgabe,Loesung\n{PUZZLE},{SOLUTION}\n",
        f"{PUZZLE},{SOLUTION}\n\n",
        f'"{PUZZLE}"\r\n',
        f"quizzes,solutions\n{PUZZLE.replace('.', '_')},\n",
        f"quizzes;solutions;rating\n{PUZZLE};{SOLUTION};7,25\n",
        f"puzzle\tsolution\n{PUZZLE}\t{SOLUTION}\n",
        f"id|full board|board|clues\n7|{SOLUTION}|{PUZZLE.replace('.', '0')}|4\n",
        f"1,{PUZZLE},{SOLUTION}\n",
    ],
)
def test_public_csv_forms(tmp_path, text):
    found = files.read(written(tmp_path, "a.csv", text))
    assert board.to_line(found.puzzles[0]) == PUZZLE
    assert board.to_line(found.solutions[0]) == SOLUTION


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.txt", f"# mine\n\n{PUZZLE}\n  {PUZZLE[:8]}|{PUZZLE[8:]}  \n", [PUZZLE] * 2),
        ("a.txt", NINE.replace(".", "-"), [NINE]),
        ("a.txt", NINE.replace(".", "_"), [NINE]),
        ("a.txt", f"Grid 01\n{GRID.replace('.', '0')}\nGrid 02\n{GRID}\n", [NINE] * 2),
        ("a.txt", f"{GRID.replace('.', '-')}\n\n{GRID.replace('.', '*')}\n", [NINE] * 2),
        ("a.txt", f"{DRAWN}\n\n{DRAWN}\n", [NINE] * 2),
        ("a.txt", f"# a\n{GRID[:30]}\n# b\n{GRID[30:]}\n//\n{GRID}\n", [NINE] * 2),
        ("a.txt", f"Sudoku Nr. 5:\n{GRID}\nGame A\n{GRID}\n[Puzzle]\n{GRID}", [NINE] * 3),
        ("a.sdk", f"#AMe\n#B01-02-2026\n#LEasy\n{GRID}\n", [NINE]),
    ],
)
def test_forms_of_blanks_and_grids(tmp_path, name, text, lines):
    found = files.read(written(tmp_path, name, text))
    assert [board.to_line(puzzle) for puzzle in found.puzzles] == lines


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"a,b\n1,{SOLUTION}\n", "line 2: no column holds .* in the header, puzzle, puzzles, quiz"),
        (f"a,b\n{PUZZLE},{PUZZLE}\n", "line 2: several columns hold a board with blanks"),
    ],
)
def test_a_csv_file_whose_puzzles_are_not_found_names_the_headers(tmp_path, text, problem):
    with pytest.raises(ValueError, match=problem):
        files.read(written(tmp_path, "a.csv", text))


def test_16_symbols_are_a_row_of_a_16x16_board_where_the_geometry_says_so(tmp_path):
    large = puzzles.load("16x16")[:2]
    text = "\n".join(re.findall("." * 16, "".join(map(board.to_line, large.puzzles))))
    path = written(tmp_path, "a.txt", text)
    ((_, boards, _),) = files.stream_boards(path, Geometry.standard(16))
    assert (boards == large.puzzles).all()


def test_ratings_may_be_decimal(tmp_path):
    text = f"puzzle,rating\n{PUZZLE},7.25\n{PUZZLE},\n{PUZZLE},8\n"
    found = files.read(written(tmp_path, "a.csv", text))
    assert found.ratings.tolist() == [7.25, NOT_KNOWN, 8]
    text = f"id,puzzle,solution,clues,difficulty\n1,{PUZZLE},,27,2.2\n2,{PUZZLE},,27,easy\n"
    assert files.read(written(tmp_path, "c.csv", text)).ratings.tolist() == [2.2, NOT_KNOWN]
    files.write(tmp_path / "b.csv", found)
    assert (files.read(tmp_path / "b.csv").ratings == found.ratings).all()


def test_a_quote_that_nothing_closes_hides_no_row_without_a_word(tmp_path):
    lines = [board.to_line(each) for each in puzzles.load("4x4").puzzles[:6]]
    table = [f"{line},fine" for line in lines]
    table[1] = f'{lines[1]},"oops'
    path = written(tmp_path, "list.csv", "puzzle,comment\n" + "\n".join(table) + "\n")
    with pytest.raises(ValueError, match=r"line 3: no row of a CSV file .*with the lines up to 7"):
        files.read(path)
    table[1] = f'{lines[1]},"over two\nlines"'
    path.write_text("puzzle,comment\n" + "\n".join(table) + "\n")
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
        (f"{'.' * 16},", "the puzzle has several solutions"),
        (f"11{'.' * 14},", "the puzzle has no solution"),
        (f",{SOLUTION}", "the row has no puzzle"),
        (f"{PUZZLE},,hard", "the rating 'hard' is no number"),
        (f"{PUZZLE},,-3", "the rating '-3' is no number from 0 on"),
        ("....1234...,", "a board of 11 cells"),
        ("0000....12.3....,", "0 and . stand in one board: write . for blanks, and digits from 1"),
    ],
)
def test_bad_rows_are_named(tmp_path, row, problem):
    good = f"{PUZZLE},{SOLUTION},1"
    path = written(tmp_path, "a.csv", f"puzzle,solution,rating\n{good}\n{row}\n{good}\n")
    with pytest.raises(ValueError, match=f"a.csv, line 3: .*{problem}"):
        files.read(path)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (f"123\n{PUZZLE}\n", 1, "a board of 3 cells"),
        (f"{GRID}\n" + "\n".join(NINE_ROWS[:8]), 10, "a board of 72 cells"),
        (f"{GRID}\nGrid 2\n{NINE_ROWS[0]}\nGrid 3\n{GRID}", 11, "a board of 9 cells"),
    ],
)
def test_bad_lines_of_text_are_named(tmp_path, text, line, problem):
    path = written(tmp_path, "a.txt", text)
    with pytest.raises(ValueError, match=f"line {line}: {problem}"):
        files.read(path)


def test_unchecked_reading_trusts_the_stored_solution(tmp_path):
    path = written(tmp_path, "a.csv", f"puzzle,solution\n{'.' * 16},{SOLUTION}\n{PUZZLE},\n")
    (trusted,) = files.read_in_parts(path, check=False)
    assert [board.to_line(each) for each in trusted.solutions] == [SOLUTION] * 2


@pytest.mark.parametrize("suffix", files.SUFFIXES)
def test_boards_stream_whatever_their_number_of_solutions(tmp_path, suffix):
    path = tmp_path / f"list{suffix}"
    boards = puzzles.load("9x9").puzzles[:20].copy()
    boards[3], boards[4, 0] = 0, 1  # several solutions, and none
    some = puzzles.load("9x9")[:20]
    some.puzzles[:] = boards
    files.write(path, some)
    geometries, parts, shares = zip(*files.stream_boards(path, chunk=8), strict=True)
    assert (np.concatenate(parts) == boards).all() and [len(part) for part in parts] == [8, 8, 4]
    assert set(geometries) == {some.geometry}
    assert list(shares) == sorted(shares) and shares[-1] == 1


def test_streams_read_no_further_than_asked(tmp_path):
    path = written(tmp_path, "a.txt", f"{PUZZLE}\n" * 6 + "12\n")
    stream = files.read_in_parts(path, chunk=3)
    assert len(next(stream)) == len(next(stream)) == 3
    with pytest.raises(ValueError, match="line 7"):
        next(stream)


def test_a_stream_needs_no_solution_and_no_rating(tmp_path):
    path = written(tmp_path, "a.csv", f"question,answer,rating\n{PUZZLE},wrong,x\n")
    ((_, boards, _),) = files.stream_boards(path)
    assert (boards == BANK.puzzles[:1]).all()
    assert list(files.stream_boards(written(tmp_path, "b.txt", "# nothing\n"))) == []


@pytest.mark.parametrize("dtype", ["int8", ">i4", "<u8"])
def test_npz_of_any_integers_flat_or_not_with_solutions_or_without(tmp_path, dtype):
    path = tmp_path / "a.npz"
    flat = BANK.puzzles.reshape(-1, 16).astype(dtype)
    for columns in ({}, {"solution": BANK.solutions.reshape(-1, 16)}):
        np.savez_compressed(path, quiz=np.asfortranarray(flat), **columns)
        parts = list(files.read_in_parts(path, chunk=7))
        assert [len(part) for part in parts[:-1]] == [7] * (len(parts) - 1)
        assert (np.concatenate([part.puzzles for part in parts]) == BANK.puzzles).all()
        assert (np.concatenate([part.solutions for part in parts]) == BANK.solutions).all()


def npz(**arrays):
    np.savez(stream := io.BytesIO(), **arrays)
    return stream.getvalue()


def archive(content):
    with zipfile.ZipFile(stream := io.BytesIO(), "w") as opened:
        opened.writestr("puzzles.npy", content)
    return stream.getvalue()


GOOD = npz(puzzles=BANK.puzzles, solutions=BANK.solutions)
WRONG = np.where(BANK.solutions == 4, 200, BANK.solutions)  # 200 is no 4
DAMAGED = {
    "empty": (b"", "no readable npz"),
    "pickle": (pickle.dumps(BANK.puzzles), "no readable npz"),
    "text": (b"1234....21.34..1\n", "no readable npz"),
    "text inside": (archive(b"1234....21.34..1"), "no readable npz"),
    "pickle inside": (archive(pickle.dumps([1])), "no readable npz"),
    "objects": (npz(puzzles=np.full((1, 4, 4), None)), "allow_pickle=False"),
    "cut off": (GOOD[: len(GOOD) // 2], "no readable npz"),
    "flipped": (GOOD[:150] + b"\xff" * 30 + GOOD[180:], "no readable npz"),
    "other name": (npz(boards=BANK.puzzles), "it holds no array `puzzles`"),
    "fractions": (npz(puzzles=BANK.puzzles * 0.5), "must be integers of one shape"),
    "fewer": (npz(puzzles=BANK.puzzles, solutions=BANK.solutions[:1]), "integers of one shape"),
    "no square": (npz(puzzles=np.zeros((3, 15), int)), r"\[M, N, N\] or \[M, N\*\*2\]"),
    "one board": (npz(puzzles=BANK.puzzles[0]), r"\[M, N, N\] or|no standard board"),
    "no board": (npz(puzzles=np.zeros((0, 4, 4), int)), "no puzzle|no readable npz"),
    "5 digits": (npz(puzzles=np.zeros((1, 5, 5), np.int8)), "no standard board"),
    "no digit": (npz(puzzles=np.full((3, 4, 4), 5)), "row 1: a value is no digit of a 4x4 board"),
    "negative": (npz(puzzles=np.full((3, 4, 4), -300)), "row 1: a value is no digit"),
    "64 bits": (npz(puzzles=np.full((1, 4, 4), 2**63, "u8")), "row 1: a value is no digit"),
    "solution": (npz(puzzles=BANK.puzzles, solutions=WRONG), "row 1: a value is no digit"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_npz_file_is_named(tmp_path, name):
    content, problem = DAMAGED[name]
    path = tmp_path / "list.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"list\.npz.*({problem})"):
        files.read(path)


def test_a_file_with_too_many_bytes_is_not_read(tmp_path, monkeypatch):
    files.write(tmp_path / "a.txt", BANK)
    monkeypatch.setattr(rows, "_MOST_BYTES", 10)
    with pytest.raises(ValueError, match=r"a\.txt: .* bytes, more than 10"):
        files.read(tmp_path / "a.txt")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a.json", "ends in .txt, .csv, .npz"),
        ("folder.txt", "is a folder"),
        ("no/a.txt", "there is no folder"),
    ],
)
def test_where_nothing_can_be_written(tmp_path, name, said):
    (tmp_path / "folder.txt").mkdir()
    for call in (files.check_target, lambda path: files.write(path, BANK)):
        with pytest.raises(ValueError, match=re.escape(said)):
            call(tmp_path / name)
    assert [path.name for path in tmp_path.rglob("*")] == ["folder.txt"]


def test_wrong_paths_and_options(tmp_path):
    for suffix in (".txt", ".npz"):
        with pytest.raises(FileNotFoundError):
            files.read(tmp_path / f"none{suffix}")
    path = written(tmp_path, "a.txt", PUZZLE)
    with pytest.raises(ValueError, match="no puzzle found"):
        files.read(written(tmp_path, "b.txt", "# nothing\n"))
    path.write_bytes(PUZZLE.encode("utf-16"))
    with pytest.raises(ValueError, match=r"a\.txt: no text of UTF-8"):
        files.read(path)


@given(data=st.binary(max_size=300) | st.text(alphabet='1234.,"\n\r#x-+|', max_size=200))
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
