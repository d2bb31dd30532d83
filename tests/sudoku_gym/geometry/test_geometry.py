import numpy as np
import pytest

from sudoku_gym import solver
from sudoku_gym.geometry import Geometry, geometry_for, jigsaw, sudoku_x, windows

SIZES = [4, 6, 8, 9, 10, 12, 16, 25]


@pytest.mark.parametrize("size", SIZES)
def test_standard_boards_have_rows_columns_and_boxes(size):
    geometry = Geometry.standard(size)
    assert geometry.units.shape == (3 * size, size)
    assert (np.sort(geometry.units[size : 2 * size].ravel()) == np.arange(size**2)).all()
    height, width = geometry.box_shape
    assert height * width == size
    assert height <= width
    for box in geometry.units[2 * size :]:
        rows, columns = np.divmod(box, size)
        assert len(set(rows)) == height
        assert len(set(columns)) == width


@pytest.mark.parametrize("geometry", [Geometry.standard(6), sudoku_x(9), windows(4), jigsaw(8, 1)])
def test_tables_agree_with_the_units(geometry):
    for cell in range(geometry.num_cells):
        of_cell = set(np.flatnonzero((geometry.units == cell).any(1)))
        listed = geometry.cell_units[cell].tolist()
        assert set(listed) - {len(geometry.units)} == of_cell
        peers = set(geometry.units[list(of_cell)].ravel()) - {cell}
        assert set(geometry.peers[cell]) - {cell} == peers


def test_sudoku_x_adds_two_diagonals():
    units = sudoku_x(9).units
    assert len(units) == 29
    assert units[27].tolist() == [10 * i for i in range(9)]
    assert units[28].tolist() == [8 * i for i in range(1, 10)]


def test_windows_are_boxes_set_in_by_one():
    units = windows(9).units
    assert len(units) == 31
    assert units[27].tolist() == [10, 11, 12, 19, 20, 21, 28, 29, 30]
    assert units[30].tolist() == [50, 51, 52, 59, 60, 61, 68, 69, 70]
    with pytest.raises(ValueError, match="windows need square boxes: 4, 9, 16 or 25 digits, not 6"):
        windows(6)


@pytest.mark.parametrize(("size", "seed"), [(4, 0), (6, 3), (9, 0), (9, 5), (12, 1)])
def test_jigsaw_regions_are_connected(size, seed):
    regions = jigsaw(size, seed).regions
    assert (np.bincount(regions.ravel()) == size).all()
    for region in range(size):
        cells = {tuple(cell) for cell in np.argwhere(regions == region).tolist()}
        reached = {min(cells)}
        for _ in range(size):
            reached |= {
                (row + down, column + right)
                for row, column in reached
                for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0))
            } & cells
        assert reached == cells


def test_the_seed_decides_the_jigsaw():
    assert jigsaw(9, 0) != jigsaw(9, 1)
    assert jigsaw(9, 0) != Geometry.standard(9)
    lines = ["".join(map(str, row)) for row in jigsaw(9, 0).regions]
    assert lines == [
        "000122222",
        "030111222",
        "030111152",
        "330015555",
        "366665888",
        "366445588",
        "336644588",
        "737674448",
        "777777448",
    ]  # the shipped bank is made for these regions
    empty = np.zeros((1, 9, 9), np.int8)
    assert solver.count_solutions(empty, 2, jigsaw(9, 0)).tolist() == [2]


@pytest.mark.parametrize(
    ("geometry", "order"),
    [
        (sudoku_x(4), 16),
        (sudoku_x(6), 8),
        (sudoku_x(9), 96),
        (sudoku_x(12), 48),
        (windows(4), 8),
        (windows(9), 128),
        (jigsaw(9, 0), 1),
    ],
)
def test_listed_symmetries_form_a_group(geometry, order):
    size = geometry.size
    listed = geometry.symmetries
    assert listed.shape == (order, 2 * size + 1)
    units = {frozenset(unit) for unit in geometry.units.tolist()}
    for element in listed:
        rows, columns, transpose = element[:size], element[size:-1], element[-1]
        image = rows[:, None] * size + columns
        if transpose:
            image = rows[:, None] + columns * size
        assert {frozenset(image.ravel()[list(unit)].tolist()) for unit in units} == units
    assert len(np.unique(listed, axis=0)) == order


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((26, 26), int),), "2 to 25 digits, not 26"),
        ((np.zeros((4, 5), int),), r"regions must be \[4, 4\]"),
        ((np.array([[0, 0], [0, 1]]),), "every one of the 2 regions must have 2 cells"),
        ((np.zeros((4, 4), int), np.zeros((1, 3), int)), r"extra units must be \[E, 4\]"),
        ((np.zeros((4, 4), int), np.array([[0, 1, 2, 16]])), "outside 0 to 15"),
        ((np.zeros((4, 4), int), np.array([[0, 1, 2, 2]])), "names a cell twice"),
    ],
)
def test_wrong_tables_are_named(arguments, message):
    with pytest.raises(ValueError, match=f"mine: .*{message}"):
        Geometry("mine", *arguments)


def test_geometry_for_checks_the_size():
    assert geometry_for(9, None) is Geometry.standard(9)
    assert geometry_for(9, sudoku_x(9)) is sudoku_x(9)
    with pytest.raises(ValueError, match="4 x 4 cells, the geometry is Sudoku-X 9x9"):
        geometry_for(4, sudoku_x(9))
