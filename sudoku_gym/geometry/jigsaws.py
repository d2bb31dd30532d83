"""Jigsaw boards: rows, columns, and irregular connected regions in place of boxes."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.geometry.units import Geometry

_ROUNDS = 30


@cache
def jigsaw(size: int = 9, seed: int = 0) -> Geometry:
    """Return a jigsaw board of N digits, 4 to 25 and no prime; the seed decides its regions.

    The regions start as boxes; regions that touch then exchange cells, as long as both stay
    connected. Not every board has a solution (with 9 digits nearly all do): ask `solver.solve`.

    Raises:
        ValueError: if there is no standard board of N digits to start from.
    """
    regions = Geometry.standard(size).regions.ravel().copy()
    neighbours = _neighbours(size)
    rng = np.random.default_rng(seed)
    for cell in rng.integers(0, size * size, _ROUNDS * size * size).tolist():
        _exchange(regions, cell, neighbours, rng)
    return Geometry(f"Jigsaw {size}x{size} (seed {seed})", regions.reshape(size, size))


def _exchange(
    regions: NDArray[np.int32], cell: int, neighbours: list[list[int]], rng: np.random.Generator
) -> None:
    """Give `cell` to a region it touches, for a cell of that region; undo it if one falls apart."""
    own = regions[cell]
    others = sorted({int(regions[n]) for n in neighbours[cell]} - {int(own)})
    if not others:
        return
    other = others[rng.integers(len(others))]
    border = [
        c
        for c in np.flatnonzero(regions == other).tolist()
        if any(regions[n] == own for n in neighbours[c])
    ]
    back = border[rng.integers(len(border))]
    regions[cell], regions[back] = other, own
    if not all(_is_connected(regions, region, neighbours) for region in (own, other)):
        regions[cell], regions[back] = own, other


def _is_connected(regions: NDArray[np.int32], region: int, neighbours: list[list[int]]) -> bool:
    cells = np.flatnonzero(regions == region).tolist()
    reached = {cells[0]}
    frontier = [cells[0]]
    while frontier:
        for cell in neighbours[frontier.pop()]:
            if regions[cell] == region and cell not in reached:
                reached.add(cell)
                frontier.append(cell)
    return len(reached) == len(cells)


def _neighbours(size: int) -> list[list[int]]:
    """List the cells that share a side with each cell."""
    steps = ((-1, 0), (1, 0), (0, -1), (0, 1))
    return [
        [
            (row + down) * size + column + right
            for down, right in steps
            if 0 <= row + down < size and 0 <= column + right < size
        ]
        for row in range(size)
        for column in range(size)
    ]
