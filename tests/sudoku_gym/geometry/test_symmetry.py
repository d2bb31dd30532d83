from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudoku_gym import board, solver
from sudoku_gym.geometry import Geometry, jigsaw, latin_square, sudoku_x, symmetry, windows
from sudoku_gym.puzzles.generator import generate

GEOMETRIES = [
    Geometry.standard(4),
    Geometry.standard(6),
    Geometry.boxes(3, 2),
    Geometry.standard(8),
    Geometry.standard(9),
    sudoku_x(6),
    sudoku_x(9),
    windows(9),
    jigsaw(9),
    latin_square(5),
]


@cache
def grids_of(which):
    geometry = GEOMETRIES[which]
    rng = np.random.default_rng(1)
    return generate(6, geometry, rng, givens=geometry.num_cells).solutions


@st.composite
def cases(draw):
    """A geometry, partly filled boards and a generator."""
    which = draw(st.integers(0, len(GEOMETRIES) - 1))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    grids = grids_of(which)
    boards = grids * (rng.random(grids.shape) < draw(st.floats(0, 1)))
    return GEOMETRIES[which], boards.astype(np.int8), rng


@given(cases())
@settings(deadline=None)
def test_solved_stays_solved_and_counts_stay(case):
    geometry, boards, rng = case
    moves = symmetry.sample(geometry, len(boards), rng)
    solutions = grids_of(GEOMETRIES.index(geometry))
    assert board.is_solved(moves.apply(solutions), geometry).all()
    counts = solver.count_solutions(boards, 3, geometry, node_limit=10_000)
    assert (counts != 0).all()
    decided = counts > 0  # hardly any board takes more nodes
    moved = moves.apply(boards)[decided]
    assert (counts[decided] == solver.count_solutions(moved, 3, geometry)).all()


@given(cases())
@settings(deadline=None)
def test_legal_moves_move_with_the_board(case):
    geometry, boards, rng = case
    moves = symmetry.sample(geometry, len(boards), rng)
    masks = board.candidates(boards, geometry).reshape(len(boards), -1)
    moved = board.candidates(moves.apply(boards), geometry).reshape(len(boards), -1)
    assert (moves.apply_to_policy(masks) == moved).all()


@given(cases())
@settings(deadline=None)
def test_acting_and_moving_commute(case):
    geometry, boards, rng = case
    size, count = geometry.size, len(boards)
    moves = symmetry.sample(geometry, count, rng)
    actions = rng.integers(0, size**3 + size**2, count)
    images = moves.actions[np.arange(count), actions]
    assert (act(moves.apply(boards), images) == moves.apply(act(boards, actions))).all()
    marked = np.zeros((count, size**3 + size**2))
    marked[np.arange(count), actions] = 1
    assert (moves.apply_to_policy(marked).argmax(1) == images).all()


def act(boards, actions):
    size = boards.shape[1]
    after = boards.reshape(len(boards), -1).copy()
    for cells, action in zip(after, actions, strict=True):
        if action < size**3:
            cells[action // size] = action % size + 1
        else:
            cells[action - size**3] = 0
    return after.reshape(boards.shape)


@pytest.mark.parametrize("geometry", [Geometry.standard(4), sudoku_x(4), sudoku_x(9)])
def test_samples_cover_the_group_evenly(geometry):
    order = symmetry.group_order(geometry)
    assert len(symmetry.cell_sources(geometry)) == order
    assert len(np.unique(symmetry.cell_sources(geometry), axis=0)) == order
    moves = symmetry.sample(geometry, 60 * order, np.random.default_rng(0))
    counts = np.unique(moves.cells, axis=0, return_counts=True)[1]
    assert len(counts) == order
    assert abs(counts - 60).max() < 6 * np.sqrt(60)


@pytest.mark.parametrize("geometry", [Geometry.standard(4), Geometry.standard(6), sudoku_x(9)])
def test_canonical_form_names_the_orbit(geometry):
    rng = np.random.default_rng(5)
    grids = grids_of(GEOMETRIES.index(geometry))
    boards = grids * (rng.random(grids.shape) < 0.4).astype(np.int8)
    forms = symmetry.canonical_form(boards, geometry)
    moved = symmetry.sample(geometry, len(boards), rng).apply(boards)
    assert (symmetry.canonical_form(moved, geometry) == forms).all()
    assert (symmetry.canonical_form(forms, geometry) == forms).all()
    assert ((forms > 0).sum((1, 2)) == (boards > 0).sum((1, 2))).all()
    changed = boards.copy()
    changed[:, 0, 0] = np.where(changed[:, 0, 0] > 0, 0, grids[:, 0, 0])
    assert (symmetry.canonical_form(changed, geometry) != forms).any((1, 2)).all()


def test_large_groups_are_not_listed():
    with pytest.raises(ValueError, match="9x9 has 3,359,232 symmetries, too many to list"):
        symmetry.canonical_form(np.zeros((1, 9, 9), np.int8), Geometry.standard(9))
