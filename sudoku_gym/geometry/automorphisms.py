"""The row and column permutations that map a table of units onto itself, for variants.

The group of the standard boards is a product of known permutations and needs no search.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.jit import njit

MAX_SYMMETRIES = 20_000


def row_column_automorphisms(
    units: NDArray[np.int32], cell_units: NDArray[np.int32]
) -> NDArray[np.int32]:
    """List every symmetry (transpose or not, row permutation, column permutation) of a unit table.

    Rows and columns must be among the units, int32 `[U, N]`, so that a symmetry maps lines to
    lines; then it is a permutation of rows and one of columns, perhaps after a transpose. Those of
    each cell are `cell_units`, int32 `[N**2, K]`, padded with U, as `Geometry` has them.

    Returns:
        int32 `[G, 2 N + 1]`: the image of each row, the image of each column, 1 for transpose.

    Raises:
        ValueError: if there are more than 20,000, as for Sudoku-X of 25 digits.
    """
    size = units.shape[1]
    member = np.zeros((len(units), size * size), np.bool_)
    member[np.arange(len(units))[:, None], units] = True
    shared = (member.T.astype(np.uint8) @ member.astype(np.uint8)).astype(np.uint8)
    found = np.empty((MAX_SYMMETRIES, 2 * size + 1), np.int32)
    count = 0
    for transpose in (False, True):
        count = _extend(shared, member, units, cell_units, transpose, found, count)
        if count < 0:
            raise ValueError(
                f"this board of {size} digits has more than {MAX_SYMMETRIES:,} symmetries that are "
                "no mere product of line permutations; they are not listed: do without symmetry "
                "augmentation (augment=False)"
            )
    listed = found[:count]
    return listed[np.lexsort(listed.T[::-1])]


@njit(cache=True)
def _extend(shared, member, units, cell_units, transpose, found, count):
    """Depth-first search for images of row 0, column 0, row 1, ...; return the new count, or -1."""
    size = units.shape[1]
    rows, columns = np.full(size, -1), np.full(size, -1)
    step = 0
    while step >= 0:
        if step == 2 * size:
            if _maps_units(member, units, cell_units, rows, columns, transpose):
                if count == len(found):
                    return -1
                found[count, :size] = rows
                found[count, size : 2 * size] = columns
                found[count, 2 * size] = transpose
                count += 1
            step -= 1
            continue
        place = step // 2
        line = rows if step % 2 == 0 else columns
        image = line[place] + 1
        while image < size and (line[:place] == image).any():
            image += 1
        if image == size:
            line[place] = -1
            step -= 1
            continue
        line[place] = image
        if _agrees(shared, rows, columns, step, transpose):
            step += 1
    return count


@njit(cache=True)
def _agrees(shared, rows, columns, step, transpose):
    """Return whether cells on the line fixed at `step` share as many units as their images do."""
    size = len(rows)
    place = step // 2
    height, width = place + 1, (step + 1) // 2
    for k in range(width if step % 2 == 0 else height):
        row, column = (place, k) if step % 2 == 0 else (k, place)
        cell = row * size + column
        cell_image = _image(rows[row], columns[column], size, transpose)
        for other_row in range(height):
            for other_column in range(width):
                other = other_row * size + other_column
                other_image = _image(rows[other_row], columns[other_column], size, transpose)
                if shared[cell, other] != shared[cell_image, other_image]:
                    return False
    return True


@njit(cache=True)
def _image(row, column, size, transpose):
    return column * size + row if transpose else row * size + column


@njit(cache=True)
def _maps_units(member, units, cell_units, rows, columns, transpose):
    """Return whether every unit's image is a unit: one of those through the first cell's image."""
    size = len(rows)
    for cells in units:
        first = _image(rows[cells[0] // size], columns[cells[0] % size], size, transpose)
        for target in cell_units[first]:
            inside = 0
            while target < len(member) and inside < size:
                row, column = rows[cells[inside] // size], columns[cells[inside] % size]
                if not member[target, _image(row, column, size, transpose)]:
                    break
                inside += 1
            if inside == size:
                break
        else:
            return False
    return True
