import numpy as np

import complete4x4
from sudoku_gym import board, puzzles, solver
from sudoku_gym.geometry import symmetry
from sudoku_gym.puzzles.difficulty import grade

# Multiverse, table 1, and the same counted for 15 and 16 givens
WELL_POSED = {
    4: 25728,
    5: 284160,
    6: 1041408,
    7: 2141184,
    8: 2961024,
    9: 2958336,
    10: 2204928,
    11: 1239552,
    12: 522624,
    13: 161280,
    14: 34560,
    15: 4608,
    16: 288,
}


def test_every_grid_once():
    grids = complete4x4.solution_grids()
    assert grids.shape == (288, 4, 4)
    assert board.is_solved(grids).all()
    lines = [board.to_line(grid) for grid in grids]
    assert lines == sorted(set(lines))


def test_well_posed_counts():
    of_pattern = np.bincount(complete4x4.patterns())
    per_mask = of_pattern @ ~complete4x4.ill_posed()
    givens = np.bitwise_count(np.arange(1 << 16))
    counts = np.bincount(givens, weights=per_mask, minlength=17).astype(int)
    assert {number: count for number, count in enumerate(counts.tolist()) if count} == WELL_POSED


def test_the_solver_agrees_on_random_masks():
    rng = np.random.default_rng(0)
    grid, mask = rng.integers(0, 288, 3_000), rng.integers(0, 1 << 16, 3_000)
    givens = (mask[:, None] >> np.arange(16)) & 1
    boards = complete4x4.solution_grids()[grid] * givens.reshape(-1, 4, 4).astype(np.int8)
    ill = complete4x4.ill_posed()[complete4x4.patterns()[grid], mask]
    assert 0 < ill.sum() < len(ill)
    assert ((solver.count_solutions(boards) == 2) == ill).all()


def test_minimal_puzzles():
    whole = complete4x4.minimal_puzzles()
    givens = 16 - whole.blanks
    assert np.bincount(givens).tolist() == [0, 0, 0, 0, 25_728, 58_368, 1_536]
    assert len(np.unique(whole.puzzles.reshape(-1, 16), axis=0)) == 85_632
    whole.check()
    sample = whole.puzzles[::97].reshape(-1, 16)
    for cell in range(16):
        fewer = sample[sample[:, cell] > 0].copy()
        fewer[:, cell] = 0
        assert (solver.count_solutions(fewer.reshape(-1, 4, 4)) == 2).all()


def test_36_orbits():
    whole = complete4x4.minimal_puzzles()
    givens = 16 - whole.blanks
    per_orbit = [np.unique(givens[whole.orbits == orbit]).tolist() for orbit in range(36)]
    assert per_orbit == [[4]] * 13 + [[5]] * 22 + [[6]]
    sizes = np.bincount(whole.orbits)
    assert (128 * 24 % sizes == 0).all()  # an orbit's size divides the order of the group
    moves = symmetry.sample(whole.geometry, len(whole), np.random.default_rng(1))
    moved = moves.apply(whole.puzzles).reshape(-1, 16) @ 5 ** np.arange(16)
    order = np.argsort(whole.puzzles.reshape(-1, 16) @ 5 ** np.arange(16))
    own = (whole.puzzles.reshape(-1, 16) @ 5 ** np.arange(16))[order]
    assert (whole.orbits[order[np.searchsorted(own, moved)]] == whole.orbits).all()


def test_naked_singles_solve_every_minimal_puzzle():
    whole = complete4x4.minimal_puzzles()
    assert (whole.grades == 0).all()
    assert (grade(whole.puzzles) == 0).all()


def test_splits():
    splits = complete4x4.split_of_orbits()
    shares = [np.bincount(part).tolist() for part in (splits[:13], splits)]
    assert shares == [[8, 2, 3], [22, 6, 8]]
    assert puzzles.SPLITS[splits[35]] == "test"


def test_loading_copies_the_shared_arrays():
    loaded = puzzles.load("4x4")
    loaded.puzzles[0] = 0
    assert puzzles.load("4x4").puzzles[0].any()
