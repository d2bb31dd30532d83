"""Answers are verified by the rules, and rewards lie in [0, 1]."""

import numpy as np
import pytest

from sudoku_gym import puzzles
from sudoku_gym.geometry import sudoku_x
from sudoku_gym.text import filled_constraint_fraction, score_text, verify

bank = puzzles.load("9x9", "test")[:50]


def test_solutions_are_accepted_in_batches_and_one_by_one():
    assert verify(bank.puzzles, bank.solutions).all()
    wrong = bank.solutions.copy()
    wrong[:, 0] = wrong[:, 0, ::-1]
    assert not verify(bank.puzzles, wrong).any()
    assert not verify(bank.puzzles, np.roll(bank.solutions, 1, axis=0)).any()  # others' solutions
    assert verify(bank.puzzles[0], bank.solutions[0]) is True
    assert not verify(bank.puzzles, bank.puzzles).any()


def test_any_valid_completion_is_accepted():
    puzzle = "1..............."
    assert verify(puzzle, "1234341221434321") and verify(puzzle, "1234341243212143")
    assert not verify(puzzle, "2134341212434321")


def test_the_rules_are_those_of_the_geometry():
    # the diagonal of the second board holds 1 twice
    assert verify("................", "1234341243212143", sudoku_x(4))
    assert not verify("................", "1234341221434321", sudoku_x(4))


def test_shapes_and_digits_are_checked():
    with pytest.raises(ValueError, match="give boards of one shape"):
        verify(bank.puzzles, bank.solutions[:1])
    with pytest.raises(ValueError, match="row 1, column 1: 12 is no digit"):
        verify(bank.puzzles[0], np.full((9, 9), 12))


def test_givens_earn_nothing():
    for puzzle, solution in zip(bank.puzzles[:10], bank.solutions[:10], strict=True):
        assert filled_constraint_fraction(puzzle, puzzle) == 0
        assert filled_constraint_fraction(puzzle, solution) == 1
        almost = solution.copy()
        row, column = np.argwhere(puzzle == 0)[0]
        almost[row, column] = 0
        open_units = 27 - 3  # all have blanks, and three of them still have one
        assert filled_constraint_fraction(puzzle, almost) == pytest.approx(
            open_units / 27, abs=0.15
        )
        assert filled_constraint_fraction(puzzle, almost) < 1
        row, column = np.argwhere(puzzle > 0)[0]
        changed = solution.copy()
        changed[row, column] = changed[row, column] % 9 + 1
        assert filled_constraint_fraction(puzzle, changed) == 0


def test_a_row_already_full_counts_for_nothing():
    puzzle = np.array([[1, 2, 3, 4], [3, 4, 1, 2], [2, 1, 4, 3], [4, 3, 2, 0]])
    assert filled_constraint_fraction(puzzle, puzzle) == 0
    puzzle[3, 3] = 1
    assert filled_constraint_fraction(puzzle, puzzle) == 1


def test_format_is_a_board_without_blanks():
    puzzle = bank.puzzles[0]
    line = "".join(map(str, puzzle.ravel()))
    assert score_text(puzzle, line) == {"solved": 0, "constraints": 0, "format": 0}
    assert score_text(line, "?") == score_text(puzzle, "?")  # a puzzle may be a text too
    full = "".join(map(str, bank.solutions[0].ravel()))
    assert score_text(puzzle, f"So:\n{full}") == {"solved": 1, "constraints": 1, "format": 1}
    assert score_text(puzzle, "1" * 81)["format"] == 1
    assert score_text(puzzle, "?") == {"solved": 0, "constraints": 0, "format": 0}
