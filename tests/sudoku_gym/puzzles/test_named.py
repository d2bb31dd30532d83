import numpy as np

from sudoku_gym import board
from sudoku_gym.puzzles import named


def test_each_board_has_one_solution():
    named.boards().check()


def test_givens():
    givens = dict(zip(banks.NAMED_BOARDS, (81 - named.boards().blanks).tolist(), strict=True))
    assert givens == {
        "easy": 36,
        "medium": 30,
        "difficult": 25,
        "AI Escargot": 23,
        "Inkala 2010": 23,
        "Inkala 2012": 21,
        "Steering Wheel": 20,
        "Platinum Blonde": 21,
    }


def test_our_own_boards_are_symmetric_and_ordered_by_grade():
    boards = named.boards()
    assert boards.grades[:3].tolist() == [0, 1, 4]
    for puzzle in boards.puzzles[:2]:
        assert ((puzzle > 0) == (puzzle > 0)[::-1, ::-1]).all()


def test_the_lines_are_the_boards():
    lines = [board.to_line(puzzle) for puzzle in puzzles.load("named").puzzles]
    assert lines == list(banks.NAMED_BOARDS.values())
    assert len(np.unique(lines)) == len(banks.NAMED_BOARDS)
