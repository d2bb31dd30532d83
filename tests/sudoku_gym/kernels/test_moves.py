"""Positions know their candidates, whatever was placed and erased before."""

import numpy as np
import pytest

from sudoku_gym import board, geometry
from sudoku_gym.compiler.jit import njit
from sudoku_gym.kernels import layout, masks, moves

GEOMETRIES = [
    geometry.latin_square(2),  # masks of fewer than 64 bytes
    geometry.latin_square(3),
    geometry.Geometry.standard(4),  # one word, full
    geometry.latin_square(5),
    geometry.latin_square(7),
    geometry.sudoku_x(9),
    geometry.Geometry.standard(16),  # words without a gap
    geometry.Geometry.standard(25),
]


@njit(cache=True)
def set_up(state, sizes, tables, scratch):
    moves.set_up(state, 0, sizes, tables, scratch)


@njit(cache=True)
def place(state, cell, digit, sizes, tables):
    moves.place(state, 0, cell, digit, sizes, tables)


@njit(cache=True)
def erase(state, cell, sizes, tables):
    moves.erase(state, 0, cell, sizes, tables)


@njit(cache=True)
def mask(state, any_digit, sizes, written):
    masks.write_mask(state, 0, any_digit, sizes, written, 0)


class Position:
    """One board, set up from its digits."""

    def __init__(self, shape, digits, counted):
        self.shape, self.sizes = shape, layout.sizes_of(shape, erase=counted)
        self.tables = layout.unit_tables(shape)
        self.state = layout.new_state(1, shape, counted)
        for array, rubbish in zip(self.state, (7, 2**63 + 5, -3), strict=True):
            array[:] = rubbish
        self.state.rows[0, : shape.num_cells] = digits.ravel()
        order = np.zeros(shape.num_cells, np.int32)
        used = np.full(len(shape.units) + 1, 9, np.uint64)
        set_up(self.state, self.sizes, self.tables, (order, used))

    @property
    def digits(self):
        cells = self.state.rows[:, : self.shape.num_cells]
        return cells.reshape(1, self.shape.size, self.shape.size)

    def mask(self, any_digit=False):
        # a byte more on each side must stay as it is
        written = np.full((3, self.sizes.num_actions), 9, np.int8)
        mask(self.state, any_digit, self.sizes, written[1:2])
        assert (written[0] == 9).all() and (written[2] == 9).all()
        return written[1]

    def require_consistent(self):
        """Compare all that the position says with what its digits say."""
        candidates = board.candidates(self.digits, self.shape)[0]
        blank = self.digits[0] == 0
        placements = self.shape.num_placements
        np.testing.assert_array_equal(self.mask()[:placements], candidates.ravel())
        stuck = (blank & ~candidates.any(-1)).sum()
        satisfied = board.satisfied_units(self.digits, self.shape).sum()
        assert self.state.counts.tolist() == [[blank.sum(), candidates.sum(), stuck, satisfied]]


@pytest.mark.parametrize("shape", GEOMETRIES, ids=lambda shape: shape.name)
@pytest.mark.parametrize("counted", [False, True])
def test_placing_keeps_everything_up_to_date(shape, counted):
    rng = np.random.default_rng(shape.size)
    position = Position(shape, np.zeros((shape.size, shape.size), np.int8), counted)
    position.require_consistent()
    for move in range(shape.num_cells):
        legal = np.flatnonzero(position.mask()[: shape.num_placements])
        if not len(legal):
            break
        cell, digit = divmod(int(rng.choice(legal)), shape.size)
        place(position.state, cell, digit + 1, position.sizes, position.tables)
        if shape.size < 10 or move % 40 == 0:
            position.require_consistent()
    position.require_consistent()
    again = Position(shape, position.digits[0], counted)
    again.require_consistent()
    np.testing.assert_array_equal(again.state.candidates, position.state.candidates)


@pytest.mark.parametrize("shape", GEOMETRIES[2:6], ids=lambda shape: shape.name)
def test_clashes_and_erasures_keep_everything_up_to_date(shape):
    rng = np.random.default_rng(shape.size)
    position = Position(shape, np.zeros((shape.size, shape.size), np.int8), counted=True)
    for _ in range(4 * shape.num_cells):
        cell = int(rng.integers(shape.num_cells))
        filled = position.digits.ravel() > 0
        if filled[cell]:
            erase(position.state, cell, position.sizes, position.tables)
        else:
            digit = int(rng.integers(1, shape.size + 1))
            place(position.state, cell, digit, position.sizes, position.tables)
        position.require_consistent()
        filled = position.digits.ravel() > 0
        np.testing.assert_array_equal(position.mask()[shape.num_placements :], filled)
        any_digit = position.mask(any_digit=True)[: shape.num_placements]
        np.testing.assert_array_equal(any_digit, np.repeat(~filled, shape.size))


@pytest.mark.parametrize("shape", GEOMETRIES[2:6], ids=lambda shape: shape.name)
@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_boards_with_clashes_can_be_set_up(shape, share):
    rng = np.random.default_rng(shape.size)
    digits = rng.integers(1, shape.size + 1, (shape.size, shape.size)).astype(np.int8)
    digits[rng.random(digits.shape) > share] = 0
    position = Position(shape, digits, counted=True)
    position.require_consistent()
    for cell in np.flatnonzero(digits == 0)[:5].tolist():
        place(position.state, cell, 1, position.sizes, position.tables)
        erase(position.state, cell, position.sizes, position.tables)
        position.require_consistent()
