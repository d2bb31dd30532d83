"""Grades are those of the techniques, ratings those of the search; both belong to the orbit."""

from itertools import combinations, permutations

import numpy as np
import pytest

from sudoku_gym import board, puzzles, solver
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry, jigsaw, sudoku_x, symmetry
from sudoku_gym.puzzles.banks import NAMED_BOARDS
from sudoku_gym.puzzles.difficulty import FINE_GRADES, GRADES, grade, rate
from sudoku_gym.puzzles.generator import generate
from sudoku_gym.solver import depth_first
from sudoku_gym.solver.cover_bits import cover_tables
from sudoku_gym.solver.techniques import apply_techniques, open_masks

NINE = Geometry.standard(9)


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def made():
    return generate(150, NINE, rng(4))


@pytest.fixture(scope="module")
def escargot():
    return board.parse(NAMED_BOARDS["AI Escargot"])[None]


def candidates_after(boards, technique, geometry=NINE):
    """Exhaust techniques 0 to one: uint32 `[B, N, N]`, bit `digit - 1`."""
    masks = np.empty((len(boards), geometry.num_cells), np.uint32)
    exhaust(boards.reshape(masks.shape), technique, *tables_of(geometry), masks)
    return masks.reshape(boards.shape)


def tables_of(geometry):
    return geometry.units, geometry.cell_units, geometry.peers


@njit
def exhaust(boards, technique, units, cell_units, peers, masks):
    done, lines = np.empty(boards.shape[1], np.bool_), np.empty(units.shape[1], np.uint32)
    for b in range(len(boards)):
        open_masks(boards[b], units, masks[b], done)
        apply_techniques(technique, masks[b], done, units, cell_units, peers, lines)


def naked_singles_by_hand(cells):
    cells = cells.copy()
    while True:
        allowed = board.candidates(cells[None])[0]
        single = allowed.sum(2) == 1
        if not single.any():
            return cells
        cells[single] = allowed.argmax(2)[single] + 1


def test_naked_singles_are_those_of_the_rules():
    easy = generate(60, NINE, rng(5), givens=34)
    by_hand = [(naked_singles_by_hand(puzzle) > 0).all() for puzzle in easy.puzzles]
    assert ((easy.grades == 0) == by_hand).all()
    assert 0 < sum(by_hand) < 60


@pytest.mark.parametrize("technique", range(7))
def test_no_technique_takes_the_solution_away(made, technique):
    for geometry in (NINE, sudoku_x(9), Geometry.standard(6)):
        few = made if geometry is NINE else generate(40, geometry, rng(6))
        left = candidates_after(few.puzzles, technique, geometry)
        assert ((left >> (few.solutions - 1)) & 1 == 1).all()


def test_later_techniques_leave_no_more(made):
    assert set(made.grades) == set(range(len(GRADES)))
    fine = grade(made.puzzles, fine=True)
    assert FINE_GRADES[:4] == GRADES[:4] and FINE_GRADES[-1] == GRADES[-1] == "search"
    assert (np.minimum(fine, 4) == made.grades).all()
    left = [candidates_after(made.puzzles, technique) for technique in range(7)]
    assert all((fewer != more).any() for fewer, more in zip(left[1:4], left, strict=False))
    for fewer, more in zip(left[1:], left[:-1], strict=True):
        assert (fewer & ~more == 0).all()
    for technique in range(7):
        settled = np.bitwise_count(left[technique]).max((1, 2)) == 1
        assert (settled == (fine <= technique)).all()


def narrowed(table, most):
    """Where up to `most` rows of a table bool have as few columns, take these from the others."""
    for size in range(1, most + 1):
        for chosen in map(list, combinations(np.flatnonzero(table.sum(1) <= size), size)):
            together = table[chosen].any(0)
            if together.sum() == size:
                table[np.setdiff1d(np.arange(len(table)), chosen)] &= ~together
    return table


def left_by_hand(puzzle, technique, geometry):
    """Exhaust the techniques up to one in a table of candidates, bool `[N**2, N]`."""
    size, units = geometry.size, geometry.units
    left = np.isin(puzzle.reshape(-1, 1), 0) | (puzzle.reshape(-1, 1) == np.arange(size) + 1)
    most, fish = (1, 1, 1, 2, 3, 3, 3)[technique], (0, 0, 0, 0, 0, 2, 3)[technique]
    crossing = [pair for pair in permutations(units, 2) if np.isin(*pair).sum() > 1]
    before = None
    while before is None or (left != before).any():
        before = left.copy()
        for unit in units:
            left[unit] = narrowed(left[unit], most)
            left[unit] = narrowed(left[unit].T, most if technique else 0).T
        for digit in range(size):
            for lines in units[:size], units[size : 2 * size]:
                left[lines, digit] = narrowed(left[lines, digit], fish)
            for first, second in crossing if technique >= 2 else ():
                places = first[left[first, digit]]
                if np.isin(places, second).all():
                    left[np.setdiff1d(second, first), digit] = False
    return left


def test_techniques_are_those_of_a_plain_program():
    known = puzzles.load("latin9x9")
    fine = grade(known.puzzles, known.geometry, fine=True)
    assert {4, 5, 6} <= set(fine)
    for technique in range(7):
        for one in known.puzzles[fine == technique][:1]:
            left = candidates_after(one[None], technique, known.geometry)
            bits = (left.reshape(-1, 1) >> np.arange(9)) & 1 == 1
            assert (bits == left_by_hand(one, technique, known.geometry)).all()
            if technique > 3:
                without = left_by_hand(one, technique - 1, known.geometry)
                assert (without & ~bits).any() and (bits <= without).all()


def test_the_grade_belongs_to_the_orbit(made):
    moves = symmetry.sample(NINE, len(made), rng(7))
    assert (grade(moves.apply(made.puzzles)) == made.grades).all()


def test_revealing_makes_no_puzzle_harder(made):
    revealed = np.where(rng(8).random(made.puzzles.shape) < 0.1, made.solutions, made.puzzles)
    assert (grade(revealed) <= made.grades).all()
    assert (grade(made.solutions) == 0).all()


def test_boards_without_one_solution_need_search():
    empty = np.zeros((1, 9, 9), np.int8)
    contradiction = empty.copy()
    contradiction[0, 0, :8] = np.arange(1, 9)
    contradiction[0, 1, 8] = 9
    assert grade(empty)[0] == grade(contradiction)[0] == 4
    assert solver.count_solutions(contradiction)[0] == 0


def nodes_of(boards, geometry):
    """Count the candidates that the search for all geometries tries on each board."""
    flat = boards.reshape(len(boards), -1)
    found, nodes = np.zeros((2, len(flat)), np.int64)
    outputs = np.zeros_like(flat), found, np.ones(len(flat), np.bool_), nodes
    depth_first.search_boards(flat, 2, 10**6, cover_tables(geometry), *outputs)
    assert (found == 1).all()
    return nodes


@pytest.mark.parametrize("geometry", [Geometry.standard(6), NINE, jigsaw(9)], ids=str)
def test_a_rating_is_the_median_of_searches(geometry):
    made = generate(8, geometry, rng())
    moves = symmetry.sample(geometry, 15, rng(1))
    ratings = rate(made.puzzles, rng(1), geometry, symmetries=15)
    for puzzle, rating in zip(made.puzzles, ratings, strict=True):
        moved = moves.apply(np.repeat(puzzle[None], 15, axis=0))
        assert rating == np.median(nodes_of(moved, geometry))


def test_the_generator_decides_every_rating_and_no_neighbour_any():
    made = generate(40, NINE, rng(2)).puzzles
    ratings = rate(made, rng(3))
    assert (rate(made[::-1], rng(3)) == ratings[::-1]).all()
    assert (rate(made[7:8], rng(3)) == ratings[7]).all()
    assert (rate(made, rng(4)) != ratings).any()
    assert rate(made[:0], rng()).shape == (0,)


def test_a_rating_belongs_to_the_orbit(escargot):
    """Single searches of a board, and of the boards it is turned into, have one distribution."""
    of_one = [rate(escargot, rng(seed), symmetries=1)[0] for seed in range(400)]
    moved = symmetry.sample(NINE, 400, rng(5)).apply(np.repeat(escargot, 400, axis=0))
    of_moved = rate(moved, rng(6), symmetries=1)
    error = np.sqrt((np.var(of_one) + np.var(of_moved)) / 400)
    assert abs(np.mean(of_one) - np.mean(of_moved)) < 4 * error
    assert error < 1 < 5 < np.std(of_one)


def test_zero_is_what_singles_solve(made):
    assert ((rate(made.puzzles, rng()) == 0) == (grade(made.puzzles) <= 1)).all()
    assert (rate(made.solutions, rng()) == 0).all()


def test_named_boards():
    named = puzzles.load("named")
    assert named.grades.tolist() == [0, 1, *[4] * 6]
    assert (81 - named.blanks).tolist() == [36, 30, 25, 23, 23, 21, 20, 21]
    ratings = dict(zip(NAMED_BOARDS, rate(named.puzzles, rng()), strict=True))
    assert ratings["easy"] == ratings["medium"] == 0 and 40 < ratings["AI Escargot"] < 75


def test_a_search_ends_at_the_node_limit(escargot):
    assert rate(escargot, rng(), node_limit=10).tolist() == [10]


@pytest.mark.parametrize("wrong", [{"symmetries": 0}, {"symmetries": 4}, {"node_limit": 0}])
def test_wrong_numbers(escargot, wrong):
    with pytest.raises(ValueError, match="symmetries must be odd"):
        rate(escargot, rng(), **wrong)
