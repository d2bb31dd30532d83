"""The shape of a board: a table of units, from which all rules and symmetries follow."""

from __future__ import annotations

from functools import cache, cached_property
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.geometry.automorphisms import row_column_automorphisms

MAX_SIZE = 25
"""Maximum number of digits of a board."""
_JIGSAW_ROUNDS = 30  # exchanges tried per cell


class Geometry:
    """A board of N x N cells and the groups of N cells that must hold N different digits.

    Cells are numbered row by row: `cell = row * N + column`. Build one with `Geometry.boxes`,
    `Geometry.standard` or a variant's function such as `sudoku_x`; the constructor itself takes
    any unit table in which rows and columns are units.

    Args:
        name: shown in error messages and `repr`, e.g. `"9x9"`.
        regions: int `[N, N]`, the box (or jigsaw region) of each cell, counted from 0; all zeros
            where there are none, as in a Latin square.
        extra_units: int `[E, N]`, further units such as diagonals.
        box_shape: `(height, width)` if the regions are rectangular boxes, else None.

    Attributes:
        size: N, the number of digits, 2 to 25.
        num_cells: N**2.
        num_placements: N**3, the number of (cell, digit) pairs.
        units: int32 `[U, N]`, the cells of each unit: rows, columns, regions, extra units.
        cell_units: int32 `[N**2, K]`, the units of each cell; short rows are padded with U, which
            stands for a unit that is always empty.
        peers: int32 `[N**2, P]`, the other cells that share a unit with a cell; short rows are
            padded with the cell itself.

    Raises:
        ValueError: if a table has the wrong shape, names a cell twice, or the regions are not the
            boxes of `box_shape`.
    """

    def __init__(
        self,
        name: str,
        regions: NDArray[np.integer],
        extra_units: NDArray[np.integer] | None = None,
        box_shape: tuple[int, int] | None = None,
    ) -> None:
        regions = np.asarray(regions)
        size = len(regions) if regions.ndim else 0
        _check_size(name, size)
        if regions.shape != (size, size):
            raise ValueError(f"{name}: regions must be [{size}, {size}], not {regions.shape}")
        if regions.dtype.kind not in "iu" or regions.min() < 0 or regions.max() >= size:
            raise ValueError(f"{name}: regions are numbered from 0 to {size - 1}")
        if box_shape is not None:
            height, width = box_shape
            if height * width != size or not np.array_equal(regions, _box_regions(*box_shape)):
                raise ValueError(f"{name}: the regions are not the boxes of {box_shape}: give None")
        self.name = name
        self.size = size
        self.num_cells = size**2
        self.num_placements = size**3
        self.box_shape = box_shape
        self.regions = np.ascontiguousarray(regions, np.int32)
        self.units = _unit_table(name, self.regions, extra_units)
        cells = np.arange(self.num_cells)
        units_of = [np.flatnonzero((self.units == cell).any(1)) for cell in cells]
        self.cell_units = _pad(units_of, np.full(self.num_cells, len(self.units)))
        peers = [np.setdiff1d(self.units[own], cell) for cell, own in enumerate(units_of)]
        self.peers = _pad(peers, cells)
        for table in (self.regions, self.units, self.cell_units, self.peers):
            table.setflags(write=False)

    @staticmethod
    @cache
    def boxes(height: int, width: int) -> Geometry:
        """Return the usual board of `height` x `width` boxes; N = height * width."""
        if height < 1 or width < 1:
            raise ValueError(f"a box has at least one cell, not {height} x {width}")
        size = height * width
        _check_size(f"{height} x {width} boxes", size)
        regions = _box_regions(height, width)
        standard = (height, width) == _standard_box(size)
        name = f"{size}x{size}" if standard else f"{size}x{size} with {height}x{width} boxes"
        return Geometry(name, regions, box_shape=(height, width))

    @staticmethod
    @cache
    def standard(size: int) -> Geometry:
        """Return the board whose boxes are as near to square as N allows, height <= width.

        Raises:
            ValueError: if N is prime (no boxes) or not within 4 to 25.
        """
        height, width = _standard_box(size) if 4 <= size <= MAX_SIZE else (1, size)
        if height == 1:
            raise ValueError(
                f"no standard board has {size!r:.30} digits: use 4, 6, 8, 9, ... {MAX_SIZE} "
                "(a product of two numbers above 1), or give a Geometry"
            )
        return Geometry.boxes(height, width)

    @cached_property
    def line_blocks(self) -> tuple[int, int]:
        """Rows a band, columns a stack that may be permuted freely; (0, 0) for a listed group."""
        if len(self.units) == 2 * self.size:
            return self.size, self.size
        has_extra_units = len(self.units) > 3 * self.size
        return (0, 0) if self.box_shape is None or has_extra_units else self.box_shape

    @cached_property
    def symmetries(self) -> NDArray[np.int32]:
        """The listed symmetry group of a variant: int32 `[G, 2 N + 1]`, or `[0, 2 N + 1]`.

        A row holds the image of each row, the image of each column, and 1 if the board is then
        transposed. Geometries with `line_blocks` need no list: bands, stacks, and the lines within
        each may be permuted at will (and the board transposed where `can_transpose`).
        """
        if any(self.line_blocks):
            return np.empty((0, 2 * self.size + 1), np.int32)
        return row_column_automorphisms(self.units)

    @property
    def can_transpose(self) -> bool:
        """Whether the product group (where there is one) contains the transpose."""
        return 0 < self.line_blocks[0] == self.line_blocks[1]

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Geometry) and np.array_equal(self.units, other.units)
        )

    def __hash__(self) -> int:
        return hash(self.units.tobytes())

    def __repr__(self) -> str:
        return f"Geometry({self.name}, {len(self.units)} units)"


@cache
def sudoku_x(size: int = 9) -> Geometry:
    """Return the standard board of N digits with both main diagonals as further units."""
    base = Geometry.standard(size)
    step = np.arange(size)
    diagonals = np.stack([step * size + step, step * size + size - 1 - step])
    return Geometry(f"Sudoku-X {base.name}", base.regions, diagonals, base.box_shape)


@cache
def windows(size: int = 9) -> Geometry:
    """Return the standard board with windows as further units, also called Hyper Sudoku.

    Windows are boxes set in by one line and one line apart: four of them on a 9x9 board. A
    ValueError says if the boxes are not square (4, 9, 16 or 25 digits).
    """
    base = Geometry.standard(size)
    block = isqrt(size)
    if block * block != size:
        raise ValueError(f"windows need square boxes: 4, 9, 16 or 25 digits, not {size}")
    starts = 1 + (block + 1) * np.arange(block - 1)
    corner = (starts[:, None] * size + starts).reshape(-1, 1)
    inner = (np.arange(block)[:, None] * size + np.arange(block)).reshape(1, -1)
    return Geometry(f"Windows {base.name}", base.regions, corner + inner, base.box_shape)


@cache
def latin_square(size: int) -> Geometry:
    """Return a board with rows and columns only."""
    return Geometry(f"Latin square {size}x{size}", np.zeros((size, size), np.int64))


@cache
def jigsaw(size: int = 9, seed: int = 0) -> Geometry:
    """Return a jigsaw board of N digits, 4 to 25 and not prime; the seed decides its regions.

    The regions start as boxes; regions that touch then exchange cells, as long as both stay
    connected. Not every board has a solution (with 9 digits nearly all do): ask `solver.solve`.
    """
    regions = Geometry.standard(size).regions.ravel().copy()
    neighbours = _neighbours(size)
    rng = np.random.default_rng(seed)
    for cell in rng.integers(0, size * size, _JIGSAW_ROUNDS * size * size).tolist():
        _exchange(regions, cell, neighbours, rng)
    return Geometry(f"Jigsaw {size}x{size} (seed {seed})", regions.reshape(size, size))


def geometry_for(size: int, geometry: Geometry | None) -> Geometry:
    """Return `geometry`, by default the standard one of N digits; ValueError for another size."""
    if geometry is None:
        return Geometry.standard(size)
    if geometry.size != size:
        raise ValueError(f"the boards have {size} x {size} cells, the geometry is {geometry.name}")
    return geometry


def _standard_box(size: int) -> tuple[int, int]:
    height = next((h for h in range(isqrt(max(size, 1)), 0, -1) if size % h == 0), 1)
    return height, size // height


def _check_size(name: str, size: int) -> None:
    if not 2 <= size <= MAX_SIZE:
        raise ValueError(f"{name}: a board has 2 to {MAX_SIZE} digits, not {size}")


def _box_regions(height: int, width: int) -> NDArray[np.int64]:
    size = height * width
    row, column = np.divmod(np.arange(size**2).reshape(size, size), size)
    return row // height * height + column // width


def _unit_table(
    name: str, regions: NDArray[np.int32], extra_units: NDArray[np.integer] | None
) -> NDArray[np.int32]:
    size = len(regions)
    cells = np.arange(size**2).reshape(size, size)
    parts = [cells, cells.T]
    if regions.any():
        counts = np.bincount(regions.ravel(), minlength=size)
        if len(counts) != size or (counts != size).any():
            raise ValueError(f"{name}: every one of the {size} regions must have {size} cells")
        parts.append(np.argsort(regions.ravel(), kind="stable").reshape(size, size))
    if extra_units is not None:
        extra = np.asarray(extra_units)
        if extra.ndim != 2 or extra.shape[1] != size:
            raise ValueError(f"{name}: extra units must be [E, {size}], not {extra.shape}")
        if ((extra < 0) | (extra >= size**2)).any():
            raise ValueError(f"{name}: extra units name cells outside 0 to {size**2 - 1}")
        if (np.diff(np.sort(extra, axis=1), axis=1) == 0).any():
            raise ValueError(f"{name}: an extra unit names a cell twice")
        parts.append(extra.astype(np.int64))
    return np.concatenate(parts).astype(np.int32)


def _pad(rows: list[NDArray[Any]], fill: NDArray[np.int64]) -> NDArray[np.int32]:
    """Stack ragged rows; row i is padded with `fill[i]`."""
    table = np.repeat(fill[:, None], max(map(len, rows)), axis=1).astype(np.int32)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table


def _exchange(
    regions: NDArray[np.int32], cell: int, neighbours: list[list[int]], rng: np.random.Generator
) -> None:
    """Exchange `cell` for a cell of an adjacent region, unless that disconnects one of them."""
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
    unreached = set(np.flatnonzero(regions == region).tolist())
    frontier = [unreached.pop()]
    while frontier:
        near = unreached.intersection(neighbours[frontier.pop()])
        unreached -= near
        frontier += near
    return not unreached


def _neighbours(size: int) -> list[list[int]]:
    """List the cells that share a side with each cell."""
    rows, columns = np.divmod(np.arange(size**2), size)
    distances = abs(rows[:, None] - rows) + abs(columns[:, None] - columns)
    return [np.flatnonzero(row == 1).tolist() for row in distances]
