import numpy as np
from sudoku_gym.puzzles.lane_hardening import harden_in_lanes

from sudoku_gym import solver
from sudoku_gym.geometry import Geometry
from sudoku_gym.puzzles.difficulty import rate
from sudoku_gym.puzzles.generator import generate

NINE = Geometry.standard(9)


def rng(seed=0):
    return np.random.default_rng(seed)


def harden(parents, seed=0, **options):
    """Return puzzles and solutions, int8 `[B, 81]`, scores and what is proven minimal."""
    boards = [array.reshape(-1, 81).copy() for array in (parents.puzzles, parents.solutions)]
    return *boards, *harden_in_lanes(*boards, rng(seed), **options)


def test_what_is_made_is_minimal_has_one_solution_and_is_harder():
    parents = generate(24, NINE, rng())
    puzzles, solutions, scores, minimal = harden(parents, steps=400)
    boards = puzzles.reshape(-1, 9, 9)
    assert (solver.count_solutions(boards) == 1).all()
    assert (solver.solve(boards) == solutions.reshape(boards.shape)).all()
    assert minimal.all()
    for puzzle in puzzles:
        givens = np.flatnonzero(puzzle)
        fewer = np.tile(puzzle, (len(givens), 1))
        fewer[np.arange(len(givens)), givens] = 0
        assert (solver.count_solutions(fewer.reshape(-1, 9, 9)) == 2).all()
    before, after = (rate(boards, rng(1)) for boards in (parents.puzzles, boards))
    assert np.median(before) <= 2 and np.median(after) >= 8
    assert 1 < scores.mean() / after.mean() < 1.3


def test_solutions_change():
    parents = generate(16, NINE, rng(1))
    _, solutions, _, _ = harden(parents, steps=400)
    is_same = (solutions == parents.solutions.reshape(solutions.shape)).all(1)
    assert not is_same.all()


def test_a_result_does_not_depend_on_the_other_puzzles():
    parents = generate(20, NINE, rng(2))
    whole = harden(parents, seed=3, steps=60)
    again = harden(parents, seed=3, steps=60)
    first = harden(parents[:5], seed=3, steps=60)
    for all_of_it, repeated, part in zip(whole, again, first, strict=True):
        assert (all_of_it == repeated).all()
        assert (all_of_it[:5] == part).all()
    assert (harden(parents, seed=4, steps=60)[0] != whole[0]).any()


def test_no_steps_only_remove_what_is_not_needed():
    parents = generate(6, NINE, rng(), givens=36)
    puzzles, solutions, _, minimal = harden(parents, steps=0)
    before = parents.puzzles.reshape(puzzles.shape)
    assert minimal.all() and ((puzzles == 0) | (puzzles == before)).all()
    assert (puzzles != before).any(1).all()
    assert (solutions == parents.solutions.reshape(solutions.shape)).all()


def test_progress_is_told():
    told = []
    harden(generate(70, NINE, rng()), steps=1, on_progress=told.append)
    assert told == [64 / 70, 1.0]


def test_a_small_node_limit_never_makes_a_false_claim():
    puzzles, _, _, minimal = harden(generate(10, NINE, rng()), steps=10, node_limit=2)
    assert (solver.count_solutions(puzzles.reshape(-1, 9, 9)) == 1).all()
    for puzzle in puzzles[minimal]:
        for cell in np.flatnonzero(puzzle):
            fewer = puzzle.copy()
            fewer[cell] = 0
            assert solver.count_solutions(fewer.reshape(1, 9, 9), 2)[0] == 2
