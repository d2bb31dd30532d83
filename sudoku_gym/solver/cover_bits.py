"""A search node of the exact cover as bit masks, and the singles that follow from a placement.

A node is a flat array of items: a cell's item has a bit for each digit left, a unit's digit has a
bit for each cell left, and a covered item is 0. Removing a candidate clears one bit in each of its
items; an item with one bit left is a naked or hidden single.
Source: Knuth, "Dancing links" (2000), with bit masks in place of links.
"""

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.compiler.intrinsics import lowest_bit
from sudoku_gym.compiler.jit import njit
from sudoku_gym.geometry import Geometry

FAILED = -1
_ONE = np.uint32(1)
SHIFT = np.uint32(5)  # a candidate is stored as `cell << 5 | digit - 1`
DIGIT = np.uint32(31)
BLOCK = 64  # items are padded to whole blocks, which the search compares with SIMD instructions

# The inner functions only pass arrays on. Without numba's runtime they count no references, which
# halves the time of a search; they must not allocate then, not even for `a[i] = b[j]` on rows.
INNER: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}


class CoverTables(NamedTuple):
    """The tables that the solver reads of a geometry."""

    cell_of: NDArray[np.uint32]  # [U * N], the cells of all units, one unit after the other
    first_item: NDArray[np.uint32]  # [N**2, K], the item of digit 1 in each unit of a cell
    place_bit: NDArray[np.uint32]  # [N**2, K], the cell's bit in that unit's items; 0: padding
    unit_of: NDArray[np.uint32]  # [N**2, K], the units of a cell, padded with U
    size: np.uint32  # N


@cache
def cover_tables(geometry: Geometry) -> CoverTables:
    """Return the tables of a geometry."""
    units, cells = geometry.units, geometry.num_cells
    first_item = np.zeros(geometry.cell_units.shape, np.uint32)
    place_bit = np.zeros(geometry.cell_units.shape, np.uint32)
    for cell in range(cells):
        for k, unit in enumerate(geometry.cell_units[cell]):
            if unit < len(units):
                first_item[cell, k] = cells + unit * geometry.size
                place_bit[cell, k] = 1 << int(np.flatnonzero(units[unit] == cell)[0])
    cell_of = units.ravel().astype(np.uint32)
    unit_of = geometry.cell_units.astype(np.uint32)
    return CoverTables(cell_of, first_item, place_bit, unit_of, np.uint32(geometry.size))


@njit(**INNER)
def _place(items, queue, tail, cell, digit, tables):
    """Place an open candidate, queue singles; return the tail, or `-1 - item` of an empty item."""
    cell_of, first_item, place_bit = tables.cell_of, tables.first_item, tables.place_bit
    cells = np.uint32(len(first_item))
    others = items[cell] ^ (_ONE << digit)
    items[cell] = 0
    for k in range(np.uint32(first_item.shape[1])):
        mine = place_bit[cell, k]
        if mine == 0:
            break
        first = first_item[cell, k]
        rest = others
        while rest:
            item = first + lowest_bit(rest)
            rest &= rest - _ONE
            left = items[item] ^ mine
            if left & (left - _ONE) == 0:
                if left == 0:
                    return -1 - np.int64(item)
                queue[tail] = cell_of[first - cells + lowest_bit(left)] << SHIFT | item - first
                tail += 1
            items[item] = left
        rest = items[first + digit] & ~mine
        items[first + digit] = 0
        while rest:
            peer = cell_of[first - cells + lowest_bit(rest)]
            rest &= rest - _ONE
            tail = remove_candidate(items, queue, tail, peer, digit, tables)
            if tail < 0:
                return tail
    return tail


@njit(**INNER)
def remove_candidate(items, queue, tail, cell, digit, tables):
    """Take an open candidate away and push new singles; returns what `_place` returns."""
    cell_of, first_item, place_bit = tables.cell_of, tables.first_item, tables.place_bit
    cells = np.uint32(len(first_item))
    left = items[cell] ^ (_ONE << digit)
    if left & (left - _ONE) == 0:
        if left == 0:
            return -1 - np.int64(cell)
        queue[tail] = cell << SHIFT | lowest_bit(left)
        tail += 1
    items[cell] = left
    for k in range(np.uint32(first_item.shape[1])):
        first, bit = first_item[cell, k], place_bit[cell, k]
        old = items[first + digit]
        if old & bit:
            left = old ^ bit
            if left & (left - _ONE) == 0:
                if left == 0:
                    return -1 - np.int64(first + digit)
                queue[tail] = cell_of[first - cells + lowest_bit(left)] << SHIFT | digit
                tail += 1
            items[first + digit] = left
    return tail


@njit(**INNER)
def propagate(items, queue, tail, work, tables):
    """Place the queued candidates and all singles that follow; return how many, or `-1 - item`."""
    head = 0
    placed = 0
    while head < tail:
        cell, digit = queue[head] >> SHIFT, queue[head] & DIGIT
        head += 1
        if items[cell] & (_ONE << digit):
            tail = _place(items, queue, tail, cell, digit, tables)
            if tail < 0:
                return tail
            work[cell] = digit + 1
            placed += 1
    return placed


@njit(cache=True, nogil=True)
def new_space(tables):
    """Allocate what a search needs, once for all boards."""
    cells = len(tables.first_item)
    items = cells + len(tables.cell_of)
    items += -items % BLOCK
    return (
        np.zeros((cells + 1, items), np.uint32),  # stack, one node a row
        np.empty(cells + 1, np.int64),  # num_filled, cells filled in each node
        np.empty(cells + 1, np.uint32),  # tried, the candidate tried in each node
        np.empty(items + 1, np.uint32),  # queue, candidates to place
        np.empty(len(tables.cell_of) // tables.size + 1, np.uint32),  # used, digits of each unit
        np.ones(items, np.float32),  # weights, how often each item made a branch fail, plus 1
    )


@njit(**INNER)
def reset_weights(space):
    """Set the weights of all items to 1."""
    weights = space[-1]
    for item in range(len(weights)):
        weights[item] = np.float32(1)


@njit(**INNER)
def load_board(space, board, banned, work, tables):
    """Make a board, int8 `[N**2]`, the root of the search.

    `banned`, int8 `[N**2]`, holds a digit that each cell must not take, 0 for none; the givens and
    what singles fill in are written into `work`. Returns the number of cells filled, negative if
    the givens cannot be completed.
    """
    stack, num_filled, _, queue, used, _ = space
    placed = _mark_givens(board, used, work, tables)
    if placed < 0 or not _open_items(stack[0], used, board, banned, tables):
        return FAILED
    tail = _push_singles(stack[0], queue, used, tables)
    more = tail if tail < 0 else propagate(stack[0], queue, tail, work, tables)
    num_filled[0] = placed + more if more >= 0 else FAILED
    return num_filled[0]


@njit(**INNER)
def _mark_givens(board, used, work, tables):
    """Write the digits given to each unit into `used`; return the number of givens, or FAILED."""
    padding = np.uint32(len(used) - 1)
    for unit in range(len(used)):
        used[unit] = 0
    placed = 0
    for cell in range(np.uint32(len(board))):
        if board[cell] > 0:
            work[cell] = board[cell]
            placed += 1
            bit = _ONE << np.uint32(board[cell] - 1)
            for k in range(np.uint32(tables.unit_of.shape[1])):
                unit = tables.unit_of[cell, k]
                if used[unit] & bit and unit != padding:
                    return FAILED
                used[unit] |= bit
    used[padding] = 0
    return placed


@njit(**INNER)
def _open_items(items, used, board, banned, tables):
    """Fill the items of a node from the givens; return False if a cell has no candidate."""
    first_item, place_bit, unit_of = tables.first_item, tables.place_bit, tables.unit_of
    for item in range(len(items)):
        items[item] = 0
    for cell in range(np.uint32(len(board))):
        if board[cell] > 0:
            continue
        mask = (_ONE << tables.size) - _ONE
        for k in range(np.uint32(unit_of.shape[1])):
            mask &= ~used[unit_of[cell, k]]
        if banned[cell] > 0:
            mask &= ~(_ONE << np.uint32(banned[cell] - 1))
        if mask == 0:
            return False
        items[cell] = mask
        for k in range(np.uint32(unit_of.shape[1])):
            first, bit = first_item[cell, k], place_bit[cell, k]
            rest = mask if bit else np.uint32(0)
            while rest:
                items[first + lowest_bit(rest)] |= bit
                rest &= rest - _ONE
    return True


@njit(**INNER)
def _push_singles(items, queue, used, tables):
    """Queue the singles of a new node; return the tail of the queue, or FAILED."""
    cells = np.uint32(len(tables.first_item))
    tail = 0
    for cell in range(cells):
        if items[cell] and items[cell] & (items[cell] - _ONE) == 0:
            queue[tail] = cell << SHIFT | lowest_bit(items[cell])
            tail += 1
    for unit in range(np.uint32(len(used) - 1)):
        first = cells + unit * tables.size
        rest = ~used[unit] & ((_ONE << tables.size) - _ONE)
        while rest:
            digit = lowest_bit(rest)
            rest &= rest - _ONE
            left = items[first + digit]
            if left & (left - _ONE) == 0:
                if left == 0:
                    return FAILED
                cell = tables.cell_of[first - cells + lowest_bit(left)]
                queue[tail] = cell << SHIFT | digit
                tail += 1
    return tail


@njit(**INNER)
def candidate_of(item, bit, tables):
    """Return the cell and digit (from 0) that bit number `bit` of an item stands for."""
    cells = np.uint32(len(tables.first_item))
    if item < cells:
        return item, bit
    digit = (item - cells) % tables.size
    return tables.cell_of[item - cells - digit + bit], digit
