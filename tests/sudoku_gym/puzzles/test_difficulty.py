import numpy as np
import pytest

from sudoku_gym import board, solver
from sudoku_gym.geometry import Geometry, sudoku_x, symmetry
from sudoku_gym.puzzles import named
from sudoku_gym.puzzles.difficulty import GRADES, candidates_after, grade
from sudoku_gym.puzzles.generator import generate

NINE = Geometry.standard(9)


@pytest.fixture(scope="module")
def made():
    return generate(150, NINE, np.random.default_rng(4))


def naked_singles_by_hand(cells):
    cells = cells.copy()
    while True:
        allowed = board.candidates(cells[None])[0]
        single = allowed.sum(2) == 1
        if not single.any():
            return cells
        cells[single] = allowed.argmax(2)[single] + 1


def test_every_grade_occurs_and_is_ordered(made):
    assert set(made.grades) == set(range(len(GRADES)))


def test_naked_singles_are_those_of_the_rules():
    easy = generate(60, NINE, np.random.default_rng(5), givens=34)
    by_hand = [(naked_singles_by_hand(puzzle) > 0).all() for puzzle in easy.puzzles]
    assert ((easy.grades == 0) == by_hand).all()
    assert 0 < sum(by_hand) < 60


@pytest.mark.parametrize("technique", range(4))
def test_no_technique_takes_the_solution_away(made, technique):
    for geometry in (NINE, sudoku_x(9), Geometry.standard(6)):
        few = made if geometry is NINE else generate(40, geometry, np.random.default_rng(6))
        left = candidates_after(few.puzzles, technique, geometry)
        assert ((left >> (few.solutions - 1)) & 1 == 1).all()


def test_later_techniques_leave_no_more(made):
    left = [candidates_after(made.puzzles, technique) for technique in range(4)]
    for fewer, more in zip(left[1:], left[:-1], strict=True):
        assert (fewer & ~more == 0).all()
        assert (fewer != more).any()
    for technique in range(4):
        settled = np.bitwise_count(left[technique]).max((1, 2)) == 1
        assert (settled == (made.grades <= technique)).all()


def test_the_grade_belongs_to_the_orbit(made):
    moves = symmetry.sample(NINE, len(made), np.random.default_rng(7))
    assert (grade(moves.apply(made.puzzles)) == made.grades).all()


def test_revealing_makes_no_puzzle_harder(made):
    rng = np.random.default_rng(8)
    revealed = np.where(rng.random(made.puzzles.shape) < 0.1, made.solutions, made.puzzles)
    assert (grade(revealed) <= made.grades).all()
    assert (grade(made.solutions) == 0).all()


def test_named_boards():
    grades = dict(zip(banks.NAMED_BOARDS, named.boards().grades, strict=True))
    assert grades["easy"] == 0
    assert grades["medium"] == 1
    assert all(grades[title] == 4 for title in banks.NAMED_BOARDS[2:])


def test_boards_without_one_solution_need_search():
    empty = np.zeros((1, 9, 9), np.int8)
    contradiction = empty.copy()
    contradiction[0, 0, :8] = np.arange(1, 9)
    contradiction[0, 1, 8] = 9
    assert grade(empty)[0] == grade(contradiction)[0] == 4
    assert solver.count_solutions(contradiction)[0] == 0


def test_wrong_technique(made):
    with pytest.raises(ValueError, match="technique=4: use 0 to 3"):
        candidates_after(made.puzzles, 4)
