import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_gym import board
from sudoku_gym.geometry import Geometry, sudoku_x

SOLVED = board.parse("1234 3412 2143 4321")
SIZES = st.sampled_from([4, 6, 9, 16, 25])


@st.composite
def boards(draw):
    size = draw(SIZES)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.integers(0, size + 1, (size, size)).astype(np.int8)


@given(boards())
@settings(deadline=None)
def test_text_and_line_read_back(cells):
    assert (board.parse(board.to_line(cells)) == cells).all()
    assert (board.parse(board.to_text(cells)) == cells).all()
    assert (board.parse(board.to_line(cells).lower().replace(".", "0")) == cells).all()


@given(st.lists(st.integers(0, 2**32), max_size=4), SIZES)
@settings(deadline=None)
def test_many_lines_are_the_lines_of_each(seeds, size):
    shape = (size, size)
    many = [np.random.default_rng(seed).integers(0, size + 1, shape, np.int8) for seed in seeds]
    lines = board.to_lines(np.array(many, np.int8).reshape(-1, *shape))
    assert [line.decode() for line in lines] == [board.to_line(cells) for cells in many]


@given(st.text(max_size=40) | st.text(alphabet="0123456789.AaZ |", max_size=40))
@settings(deadline=None)
def test_any_text_parses_or_says_why_not(text):
    try:
        cells = board.parse(text)
    except ValueError as error:
        assert str(error)
    else:
        assert cells.dtype == np.int8
        assert 0 <= cells.min() <= cells.max() <= len(cells)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("12", "a board of 2 cells: expected as many symbols as cells"),
        ("." * 49, "no standard board has 7 digits"),
        ("1234341221435321", "row 4, column 1: '5' is no digit of a 4x4 board"),
        ("." * 40 + "x" + "." * 40, r"row 5, column 5: 'x' is no digit .*use 1-9, and 0 or \. for"),
        ("." * 255 + "H", "row 16, column 16: 'H' is no digit of a 16x16 board .*1-9 and A-G"),
    ],
)
def test_parse_names_the_place(text, message):
    with pytest.raises(ValueError, match=message):
        board.parse(text)


def test_parse_many_skips_comments_and_counts_lines():
    lines = ["# mine", "", "." * 16, "1" + "." * 15]
    assert board.parse_many(lines).sum() == 1
    with pytest.raises(ValueError, match="line 5: row 1, column 1: '7'"):
        board.parse_many([*lines, "7" + "." * 15])
    with pytest.raises(ValueError, match=r"line 5: a board of 81 cells: expected .*16 for 4x4"):
        board.parse_many([*lines, "." * 81])
    with pytest.raises(ValueError, match="no board found"):
        board.parse_many(["# nothing"])


@given(boards())
@settings(deadline=None)
def test_candidates_are_digits_no_unit_holds(cells):
    size = len(cells)
    geometry = Geometry.standard(size)
    allowed = board.candidates(cells[None])[0]
    flat = cells.ravel()
    for cell in range(0, size * size, 7):
        seen = set(flat[geometry.peers[cell]].tolist())
        expected = [flat[cell] == 0 and digit not in seen for digit in range(1, size + 1)]
        assert allowed.reshape(-1, size)[cell].tolist() == expected


def test_conflicts_mark_both_cells_also_on_a_diagonal():
    cells = np.zeros((1, 4, 4), np.int8)
    cells[0, 0, 0] = cells[0, 3, 3] = 2
    assert not board.conflicts(cells).any()
    assert np.argwhere(board.conflicts(cells, sudoku_x(4))[0]).tolist() == [[0, 0], [3, 3]]


def test_constraint_fraction_is_one_only_when_solved():
    cells = np.stack([SOLVED, SOLVED, np.zeros_like(SOLVED)])
    cells[1, 0, 0] = 0
    assert board.is_solved(cells).tolist() == [True, False, False]
    assert board.constraint_fraction(cells).tolist() == [1.0, 0.75, 0.0]
    assert board.constraint_fraction(cells).dtype == np.float32
    assert board.satisfied_units(cells)[1].sum() == 9


def test_a_full_board_with_a_conflict_is_not_solved():
    cells = SOLVED.copy()
    cells[0, 0] = 2
    assert not board.is_solved(cells[None])[0]
    with pytest.raises(ValueError, match="2 stands twice in a unit, at row 1, column 1 and row 1,"):
        board.check_puzzles(cells[None])


@pytest.mark.parametrize(
    ("array", "error", "message"),
    [
        (np.zeros((4, 4), int), ValueError, r"must be \[B, N, N\], not \[4, 4\]"),
        (np.zeros((1, 4, 4)), TypeError, "must hold integers, not float64"),
        (np.full((1, 4, 4), 5), ValueError, "board 0, row 1, column 1: 5 is no digit of a 4x4"),
        (np.full((1, 4, 4), 300), ValueError, "300 is no digit"),
        (np.full((1, 5, 5), 0), ValueError, "no standard board has 5 digits"),
    ],
)
def test_wrong_arrays_are_named(array, error, message):
    with pytest.raises(error, match=message):
        board.as_boards(array)
