"""The symmetry group of Sudoku: drawn, and applied to boards, actions and policies.

An element permutes rows and columns (bands, stacks and the lines within them, or a short list for
variants), may then transpose, and relabels digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import permutations, product
from math import factorial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.compiler.random_stream import new_stream, next_below, next_uint64
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.automorphisms import cell_images

_Value = TypeVar("_Value", bound=np.generic)

MAX_LISTED = 10_000


@dataclass(frozen=True)
class Symmetry:
    """A batch of B symmetries of N x N boards.

    Cell (r, c) moves to (rows[r], columns[c]), or, with `transpose`, to (columns[c], rows[r]);
    digit d becomes digits[d].
    """

    rows: NDArray[np.int32]  # [B, N], the image of each row
    columns: NDArray[np.int32]  # [B, N], the image of each column
    transpose: NDArray[np.bool_]  # [B]
    digits: NDArray[np.int8]  # [B, N + 1], the image of each digit; `digits[:, 0]` is 0

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def size(self) -> int:
        """N."""
        return self.rows.shape[1]

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """The image of each cell, int64 `[B, N**2]`."""
        return cell_images(self.rows, self.columns, self.transpose)

    @cached_property
    def actions(self) -> NDArray[np.int64]:
        """The image of each action, int64 `[B, N**3 + N**2]`: placements, then erasures."""
        placements = self.cells[:, :, None] * self.size + (self.digits[:, None, 1:] - 1)
        erasures = self.size**3 + self.cells
        return np.concatenate([placements.reshape(len(self), -1), erasures], axis=1)

    def apply(self, boards: NDArray[np.int8]) -> NDArray[np.int8]:
        """Move board i of int8 `[B, N, N]` by symmetry i."""
        flat = boards.reshape(len(self), self.size**2)
        moved = np.empty_like(flat)
        np.put_along_axis(moved, self.cells, np.take_along_axis(self.digits, flat, 1), 1)
        return moved.reshape(boards.shape)

    def apply_to_policy(self, values: NDArray[_Value]) -> NDArray[_Value]:
        """Move masks or probabilities `[B, N**3]` or `[B, N**3 + N**2]`, keeping the dtype."""
        moved = np.empty_like(values)
        np.put_along_axis(moved, self.actions[:, : values.shape[1]], values, 1)
        return moved


def sample(geometry: Geometry, count: int, rng: np.random.Generator) -> Symmetry:
    """Draw `count` symmetries uniformly from the whole group of `geometry`."""
    rows, columns = np.empty((2, count, geometry.size), np.int32)
    transpose, digits = np.empty(count, np.bool_), np.empty((count, geometry.size + 1), np.int8)
    _draw_symmetries(new_stream(rng), group_of(geometry), rows, columns, transpose, digits)
    return Symmetry(rows, columns, transpose, digits)


def group_of(geometry: Geometry) -> tuple[int, int, bool, NDArray[np.int32]]:
    """Return the symmetry group of a geometry as `draw_symmetry` takes it."""
    return *geometry.line_blocks, geometry.can_transpose, geometry.symmetries


def group_order(geometry: Geometry) -> int:
    """Return the number of symmetries of the cells, without those of the digits."""
    if not any(geometry.line_blocks):
        return len(geometry.symmetries)
    size, order = geometry.size, 1 + geometry.can_transpose
    for block in geometry.line_blocks:
        order *= factorial(size // block) * factorial(block) ** (size // block)
    return order


@cache
def cell_sources(geometry: Geometry) -> NDArray[np.int32]:
    """List the symmetries of the cells, 10,000 at most: int32 `[G, N**2]`, each cell's source."""
    if group_order(geometry) > MAX_LISTED:
        raise ValueError(
            f"{geometry.name} has {group_order(geometry):,} symmetries, too many to list (the "
            f"limit is {MAX_LISTED:,}); puzzles.same_orbit compares boards of any geometry"
        )
    size = geometry.size
    elements = np.split(geometry.symmetries, [size, 2 * size], axis=1)
    if any(geometry.line_blocks):
        lines = [_line_permutations(size, block) for block in geometry.line_blocks]
        transposes = (False, True)[: 1 + geometry.can_transpose]
        elements = [*map(np.array, zip(*product(*lines, transposes), strict=True))]
    return np.argsort(cell_images(*elements), axis=1).astype(np.int32)


def canonical_form(boards: NDArray[np.int8], geometry: Geometry) -> NDArray[np.int8]:
    """Return the smallest board that a symmetry makes of each board, int8 `[B, N, N]`.

    Boards are compared cell by cell, with digits numbered in order of appearance; two are in one
    orbit exactly if their canonical forms are equal. Every symmetry of the
    cells is tried; errors are those of `cell_sources`.
    """
    flat = np.ascontiguousarray(boards, np.int8).reshape(len(boards), geometry.num_cells)
    smallest = np.empty_like(flat)
    _canonical_forms(flat, cell_sources(geometry), geometry.size, smallest)
    return smallest.reshape(boards.shape)


@njit(cache=True)
def _canonical_forms(boards, sources, size, smallest):  # type: ignore[no-untyped-def]
    names = np.zeros(size + 1, np.int8)
    for b in range(len(boards)):
        best = smallest[b]
        best[:] = size + 1
        for source in sources:
            names[:] = 0
            used = 0
            tied = True
            for place in range(len(source)):
                digit = boards[b, source[place]]
                if digit > 0:
                    if names[digit] == 0:
                        used += 1
                        names[digit] = used
                    digit = names[digit]
                if tied and digit > best[place]:
                    break
                tied = tied and digit == best[place]
                best[place] = digit


@njit(cache=True)
def _draw_symmetries(stream, group, rows, columns, transpose, digits):  # type: ignore[no-untyped-def]
    """Draw a symmetry into each row of the arrays."""
    for i in range(len(rows)):
        transpose[i] = draw_symmetry(stream, group, rows[i], columns[i], digits[i])


@inlined
def draw_symmetry(stream, group, rows, columns, digits):  # type: ignore[no-untyped-def]
    """Draw one symmetry into `rows [N]`, `columns [N]`, `digits [N + 1]`; return `transpose`."""
    row_block, column_block, can_transpose, listed = group
    size = len(rows)
    transpose = False
    if row_block > 0:
        _draw_lines(stream, row_block, rows)
        _draw_lines(stream, column_block, columns)
        if can_transpose:
            transpose = next_below(stream, 2) == 1
    else:
        index = next_below(stream, len(listed))
        for i in range(size):  # assigning slices takes 2 s longer to compile
            rows[i] = listed[index, i]
            columns[i] = listed[index, size + i]
        transpose = listed[index, 2 * size] == 1
    digits[0], digits[1] = 0, 1
    next_uint64(stream)
    for digit in range(2, size + 1):
        other = 1 + next_below(stream, digit)
        digits[digit] = digits[other]
        digits[other] = digit
    return transpose


@inlined
def _draw_lines(stream, block, lines):  # type: ignore[no-untyped-def]
    """Permute the blocks of `block` lines each, and the lines within each block."""
    size = len(lines)
    lines[0] = 0  # lines[i * block] holds the image of block i for now
    next_uint64(stream)
    for i in range(1, size // block):
        j = next_below(stream, i + 1)
        lines[i * block] = lines[j * block]
        lines[j * block] = i
    for i in range(size // block):
        image = lines[i * block]
        lines[i * block] = image * block
        next_uint64(stream)
        for k in range(1, block):
            j = next_below(stream, k + 1)
            lines[i * block + k] = lines[i * block + j]
            lines[i * block + j] = image * block + k


def _line_permutations(size: int, block: int) -> NDArray[np.int32]:
    """List the permutations of N lines that keep blocks of `block` lines together."""
    within = list(permutations(range(block)))
    lines = [
        [image * block + k for image, inner in zip(order, inners, strict=True) for k in inner]
        for order in permutations(range(size // block))
        for inners in product(within, repeat=size // block)
    ]
    return np.array(lines, np.int32)
