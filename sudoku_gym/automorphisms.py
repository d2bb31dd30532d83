"""The row and column permutations that map a table of units onto itself.

The standard boards need no search (their group is a product of known permutations); this one is
for variants, whose diagonals, windows or jigsaw regions leave only a small group.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def row_column_automorphisms(units: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """List every symmetry (transpose or not, row permutation, column permutation) of a unit table.

    Rows and columns must be units themselves, so that a symmetry maps lines to lines; then it is
    a permutation of rows and one of columns, perhaps after a transpose.

    Args:
        units: int32 `[U, N]`, the cells of each unit; rows and columns among them.
        size: N.

    Returns:
        int32 `[G, 2 N + 1]`: the image of each row, the image of each column, 1 for transpose.
    """
    weight = np.zeros((size * size, size * size), np.int64)
    for unit in units:
        weight[np.ix_(unit, unit)] += 1
    wanted = {frozenset(unit.tolist()) for unit in units}
    found = []
    for transpose in (0, 1):
        images = np.arange(size * size).reshape(size, size)
        target = weight
        if transpose:
            swap = images.T.ravel()
            target = weight[np.ix_(swap, swap)]
        for rows, columns in _matching_lines(weight, target, size):
            image = rows[:, None] * size + columns[None, :]
            if transpose:
                image = columns[None, :] * size + rows[:, None]
            flat = image.ravel()
            if {frozenset(flat[unit].tolist()) for unit in units} == wanted:
                found.append(np.concatenate([rows, columns, [transpose]]))
    return np.array(sorted(found, key=lambda row: row.tolist()), np.int32).reshape(-1, 2 * size + 1)


def _matching_lines(
    weight: NDArray[np.int64], target: NDArray[np.int64], size: int
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Depth-first search for row and column images that keep how many units two cells share.

    Row k and column k are fixed in turn, so each step can compare all cells of the square
    `[0..k, 0..k]` with their images; a wrong choice is seen at once.
    """
    results: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    rows = np.full(size, -1, np.int64)
    columns = np.full(size, -1, np.int64)

    def agrees(height: int, width: int) -> bool:
        old = (np.arange(height)[:, None] * size + np.arange(width)).ravel()
        new = (rows[:height, None] * size + columns[:width]).ravel()
        return bool((weight[np.ix_(old, old)] == target[np.ix_(new, new)]).all())

    def extend(step: int) -> None:
        if step == 2 * size:
            results.append((rows.copy(), columns.copy()))
            return
        line, place = (rows, step // 2) if step % 2 == 0 else (columns, step // 2)
        for image in range(size):
            if image in line[:place]:
                continue
            line[place] = image
            if agrees((step + 2) // 2, (step + 1) // 2):
                extend(step + 1)
        line[place] = -1

    extend(0)
    return results
