"""A PuzzleSet is sound, or it is not made."""

from dataclasses import replace

import numpy as np
import pytest

from sudoku_gym import puzzles
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles import PuzzleSet

FOUR = Geometry.standard(4)
PART = puzzles.load("4x4")[:3]


def with_value(array, value):
    changed = array.astype(np.int64)
    changed[1, 2, 3] = value
    return changed


@pytest.mark.parametrize(
    ("boards", "error", "message"),
    [
        (with_value(PART.puzzles, 105), ValueError, "board 1, row 3, column 4: 105"),
        (with_value(PART.puzzles, -96), ValueError, "board 1, row 3, column 4: -96 is no digit"),
        (PART.puzzles.astype(float), TypeError, "boards must hold integers, not fl"),
        (PART.puzzles[0], ValueError, r"must be \[B, N, N\], not \[4, 4\]"),
        (PART.puzzles[:, :3], ValueError, r"must be \[B, N, N\], not \[3, 3, 4\]"),
        (PART.puzzles[:2], ValueError, "2 puzzles and 3 solutions"),
        (puzzles.load("6x6")[:3].puzzles, ValueError, "6 x 6 cells, the geometry is 4x4"),
    ],
)
def test_wrong_puzzles(boards, error, message):
    with pytest.raises(error, match=message):
        PuzzleSet(boards, PART.solutions, FOUR, "mine")


@pytest.mark.parametrize(
    ("solutions", "message"),
    [
        (PART.solutions[::-1], "mine: the solution of puzzle 0 keeps not all givens; leave"),
        (PART.puzzles, "the solution of puzzle 0 breaks a rule; leave the puzzle out, or solve it"),
        (with_value(PART.solutions, 120), "board 1, row 3, column 4: 120"),
    ],
)
def test_solutions_that_do_not_fit(solutions, message):
    first = puzzles.load("4x4")[[0, 40000, 80000]]
    boards = first.puzzles if "keeps" in message else PART.puzzles
    solutions = first.solutions[::-1] if "keeps" in message else solutions
    with pytest.raises(ValueError, match=message):
        PuzzleSet(boards, solutions, FOUR, "mine")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"grades": np.array([0, 99, 0], np.int8)}, "grades are -1 to 4"),
        ({"grades": np.array([0, -2, 0], np.int8)}, "grades are -1 to 4"),
        ({"ratings": np.zeros(2)}, r"ratings must be float64 \[3\], not float64 \[2\]"),
        ({"minimal": np.array([0, 1, 2])}, r"minimal must be bool \[3\], not int64"),
    ],
)
def test_wrong_columns(columns, message):
    with pytest.raises(ValueError, match=message):
        PuzzleSet(PART.puzzles, PART.solutions, FOUR, **columns)


def test_other_integers_and_lists_become_int8():
    made = PuzzleSet(PART.puzzles.tolist(), PART.solutions.astype(">i8"), FOUR, orbits=[1, 2, 3])
    assert made.puzzles.dtype == made.solutions.dtype == np.int8
    assert made.orbits.dtype == np.int32 and made.orbits.tolist() == [1, 2, 3]
    np.testing.assert_array_equal(made.solutions, PART.solutions)


def test_parts_are_joined():
    parts = [puzzles.load("9x9", split)[:3] for split in ("validation", "test")]
    joined = PuzzleSet.join(parts)
    np.testing.assert_array_equal(joined.grades, np.concatenate([part.grades for part in parts]))
    assert (len(joined), joined.name, joined.split) == (6, "9x9", "all")
    assert PuzzleSet.join(parts[:1]).split == "validation"


def test_orbits_of_two_banks_are_not_confused():
    parts = [puzzles.load(name, "test")[:3] for name in ("9x9", "9x9-hard")]
    joined = PuzzleSet.join(parts)
    assert (joined.orbits == -1).all() and (joined.name, joined.split) == ("9x9", "test")
    own = [replace(part, name="mine", orbits=np.arange(3, dtype=np.int32)) for part in parts]
    assert (PuzzleSet.join(own).orbits == -1).all() and (own[0].orbits >= 0).all()
    assert (PuzzleSet.join(own[:1]).orbits == own[0].orbits).all()


def test_sets_of_other_units_are_not_joined():
    parts = [puzzles.load(name, "test")[:3] for name in ("9x9", "x9x9")]
    with pytest.raises(ValueError, match=r"3 puzzles, 9x9.* its boards have other units"):
        PuzzleSet.join(parts)


def test_a_set_can_be_cut():
    whole = puzzles.load("6x6")
    part = whole[10:20][np.array([3, 1])]
    assert (part.puzzles == whole.puzzles[[13, 11]]).all()
    assert part.orbits.tolist() == whole.orbits[[13, 11]].tolist()
    spread = whole[:101].spread(3)
    assert (spread.puzzles == whole.puzzles[[0, 50, 100]]).all() and len(part.spread(9)) == 2
    assert len(whole[whole.grades == 4]) == (whole.grades == 4).sum()
    with pytest.raises(ValueError, match=r"boards must be \[B, N, N\], not \[6, 6\]"):
        whole[3]
