"""The row and column permutations that map a table of units onto itself, for variants.

The group of the standard boards is a product of known permutations and needs no search.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.jit import njit

MAX_SYMMETRIES = 20_000


def row_column_automorphisms(units: NDArray[np.int32]) -> NDArray[np.int32]:
    """List every symmetry (transpose or not, row permutation, column permutation) of a unit table.

    Rows and columns must be among the units, int32 `[U, N]`, so that a symmetry maps lines to
    lines; then it is a permutation of rows and one of columns, perhaps after a transpose.

    Returns:
        int32 `[G, 2 N + 1]`: the image of each row, the image of each column, 1 for transpose.

    Raises:
        ValueError: if there are more than 20,000, as for Sudoku-X of 25 digits.
    """
    size = units.shape[1]
    member = np.zeros((len(units), size * size), np.uint8)
    np.put_along_axis(member, units.astype(np.int64), 1, axis=1)
    shared = member.T @ member
    found = np.empty((MAX_SYMMETRIES, 2 * size + 1), np.int32)
    count = 0
    for transpose in (False, True):
        count = _extend(shared, transpose, found, count)
        if count < 0:
            raise ValueError(
                f"this board of {size} digits has more than {MAX_SYMMETRIES:,} symmetries that are "
                "no mere product of line permutations; they are not listed: do without symmetry "
                "augmentation (augment=False)"
            )
    images = cell_images(*np.split(found[:count], [size, 2 * size], axis=1))
    known = {unit.tobytes() for unit in np.sort(units.astype(np.int64), axis=1)}
    moved = np.sort(images[:, units], axis=2)
    listed = found[:count][[all(u.tobytes() in known for u in each) for each in moved]]
    return listed[np.lexsort(listed.T[::-1])]


def cell_images(
    rows: NDArray[np.integer], columns: NDArray[np.integer], transpose: NDArray[Any]
) -> NDArray[np.int64]:
    """Return the image of each cell, int64 `[G, N**2]`, given those of lines, `[G, N]` each."""
    count, size = rows.shape
    down, right = rows[:, :, None].astype(np.int64), columns[:, None, :]
    swap = transpose.reshape(count, 1, 1) != 0
    return np.where(swap, right * size + down, down * size + right).reshape(count, size**2)


@njit(cache=True)
def _extend(shared, transpose, found, count):
    """Depth-first search for images of row 0, column 0, row 1, ...; return the new count, or -1."""
    size = found.shape[1] // 2
    rows, columns = np.full(size, -1), np.full(size, -1)
    step = 0
    while step >= 0:
        if step == 2 * size:
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
    row_step, column_step = (1, size) if transpose else (size, 1)
    for k in range(width if step % 2 == 0 else height):
        row, column = (place, k) if step % 2 == 0 else (k, place)
        cell = row * size + column
        cell_image = rows[row] * row_step + columns[column] * column_step
        for other_row in range(height):
            for other_column in range(width):
                other = other_row * size + other_column
                other_image = rows[other_row] * row_step + columns[other_column] * column_step
                if shared[cell, other] != shared[cell_image, other_image]:
                    return False
    return True
