"""A search node of the exact cover as bit masks, and the singles that follow from a placement.

A node is a flat array of items: a cell's item has a bit for each digit left, a unit's digit has a
bit for each cell left, and a covered item is 0. Removing a candidate clears one bit in each of its
items; an item with one bit left is a naked or hidden single. Negative results: `-1 - item`
of the contradicted item; FAILED where the item is not known.
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
DIGIT_BITS = np.uint32(5)  # a candidate is stored as `cell << DIGIT_BITS | digit_index`
DIGIT_MASK = np.uint32(31)
SIMD_BLOCK = 64  # items are padded to whole blocks, which the search compares with SIMD

# These functions never allocate, so they are compiled without numba's runtime (`_nrt=False`). This
# skips reference counting and halves the search time. Row assignment `a[i] = b[j]` allocates a
# view, so it is not allowed here.
NO_RUNTIME_JIT: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}


class CoverTables(NamedTuple):
    """Lookup tables of a geometry: U units, at most K of them per cell."""

    cell_of: NDArray[np.uint32]  # [U * N], the cells of all units, one unit after the other
    first_item: NDArray[np.uint32]  # [N**2, K], the item of digit 1 in each unit of a cell
    bit_in_unit: NDArray[np.uint32]  # [N**2, K], the cell's bit in that unit's items; 0: padding
    unit_of: NDArray[np.uint32]  # [N**2, K], the units of a cell, padded with U
    size: np.uint32  # N


class Workspace(NamedTuple):
    """The arrays of a search: I items with their padding, U units."""

    stack: NDArray[np.uint32]  # [N**2 + 1, I], the node at each depth
    num_filled: NDArray[np.int64]  # [N**2 + 1], cells filled in each node
    tried_candidate: NDArray[np.uint32]  # [N**2 + 1], the candidate tried in each node
    queue: NDArray[np.uint32]  # [I + 1], candidates to place
    used_digits: NDArray[np.uint32]  # [U + 1], the digits given in each unit, as bits
    conflict_weights: NDArray[np.float32]  # [I], how often each item made a branch fail, plus 1


@cache
def cover_tables(geometry: Geometry) -> CoverTables:
    """Build the lookup tables of a geometry."""
    units, cells = geometry.units, geometry.num_cells
    first_item = np.zeros(geometry.cell_units.shape, np.uint32)
    bit_in_unit = np.zeros(geometry.cell_units.shape, np.uint32)
    for cell in range(cells):
        for k, unit in enumerate(geometry.cell_units[cell]):
            if unit < len(units):
                first_item[cell, k] = cells + unit * geometry.size
                bit_in_unit[cell, k] = 1 << int(np.flatnonzero(units[unit] == cell)[0])
    cell_of = units.ravel().astype(np.uint32)
    unit_of = geometry.cell_units.astype(np.uint32)
    return CoverTables(cell_of, first_item, bit_in_unit, unit_of, np.uint32(geometry.size))


@njit(**NO_RUNTIME_JIT)
def _place(items, queue, tail, cell, digit_index, tables):
    """Place an open candidate, queue new singles; returns the new tail, or `-1 - item`."""
    cell_of, first_item, bit_in_unit = tables.cell_of, tables.first_item, tables.bit_in_unit
    cells = np.uint32(len(first_item))
    other_digits = items[cell] ^ (_ONE << digit_index)
    items[cell] = 0
    for k in range(np.uint32(first_item.shape[1])):
        cell_bit = bit_in_unit[cell, k]
        if cell_bit == 0:
            break
        unit_first_item = first_item[cell, k]
        unit_start = unit_first_item - cells
        remaining = other_digits
        while remaining:
            other = lowest_bit(remaining)
            item = unit_first_item + other
            remaining &= remaining - _ONE
            new_mask = items[item] ^ cell_bit
            if new_mask & (new_mask - _ONE) == 0:
                if new_mask == 0:
                    return -1 - np.int64(item)
                queue[tail] = cell_of[unit_start + lowest_bit(new_mask)] << DIGIT_BITS | other
                tail += 1
            items[item] = new_mask
        remaining = items[unit_first_item + digit_index] & ~cell_bit
        items[unit_first_item + digit_index] = 0
        while remaining:
            peer = cell_of[unit_start + lowest_bit(remaining)]
            remaining &= remaining - _ONE
            tail = remove_candidate(items, queue, tail, peer, digit_index, tables)
            if tail < 0:
                return tail
    return tail


@njit(**NO_RUNTIME_JIT)
def remove_candidate(items, queue, tail, cell, digit_index, tables):
    """Remove an open candidate, queue new singles; returns the new tail, or `-1 - item`."""
    cell_of, first_item, bit_in_unit = tables.cell_of, tables.first_item, tables.bit_in_unit
    cells = np.uint32(len(first_item))
    new_mask = items[cell] ^ (_ONE << digit_index)
    if new_mask & (new_mask - _ONE) == 0:
        if new_mask == 0:
            return -1 - np.int64(cell)
        queue[tail] = cell << DIGIT_BITS | lowest_bit(new_mask)
        tail += 1
    items[cell] = new_mask
    for k in range(np.uint32(first_item.shape[1])):
        unit_first_item, cell_bit = first_item[cell, k], bit_in_unit[cell, k]
        item = unit_first_item + digit_index
        old_mask = items[item]
        if old_mask & cell_bit:
            new_mask = old_mask ^ cell_bit
            if new_mask & (new_mask - _ONE) == 0:
                if new_mask == 0:
                    return -1 - np.int64(item)
                single = cell_of[unit_first_item - cells + lowest_bit(new_mask)]
                queue[tail] = single << DIGIT_BITS | digit_index
                tail += 1
            items[item] = new_mask
    return tail


@njit(**NO_RUNTIME_JIT)
def propagate(items, queue, tail, solution, tables):
    """Place the queued candidates and all singles that follow; returns how many, or `-1 - item`."""
    head = 0
    placed = 0
    while head < tail:
        cell, digit_index = queue[head] >> DIGIT_BITS, queue[head] & DIGIT_MASK
        head += 1
        if items[cell] & (_ONE << digit_index):
            tail = _place(items, queue, tail, cell, digit_index, tables)
            if tail < 0:
                return tail
            solution[cell] = digit_index + 1
            placed += 1
    return placed


@njit(cache=True, nogil=True)
def allocate_workspace(tables):
    """Allocate the arrays of a search, once for all boards."""
    cells = len(tables.first_item)
    items = cells + len(tables.cell_of)
    items += -items % SIMD_BLOCK
    return Workspace(
        np.zeros((cells + 1, items), np.uint32),
        np.empty(cells + 1, np.int64),
        np.empty(cells + 1, np.uint32),
        np.empty(items + 1, np.uint32),
        np.empty(len(tables.cell_of) // tables.size + 1, np.uint32),
        np.ones(items, np.float32),
    )


@njit(**NO_RUNTIME_JIT)
def reset_weights(workspace):
    """Set the weights of all items to 1."""
    for item in range(len(workspace.conflict_weights)):
        workspace.conflict_weights[item] = np.float32(1)


@njit(**NO_RUNTIME_JIT)
def load_board(workspace, board, banned, solution, tables):
    """Make a board, int8 `[N**2]`, the root of the search.

    `banned`, int8 `[N**2]`, holds a digit that each cell must not take, 0 for none; the givens and
    the singles that follow are written into `solution`, int8 `[N**2]`. Returns the number of cells
    filled, or a negative number if the givens cannot be completed.
    """
    root, queue, used_digits = workspace.stack[0], workspace.queue, workspace.used_digits
    placed = _mark_givens(board, used_digits, solution, tables)
    if placed < 0 or _open_items(root, used_digits, board, banned, tables) < 0:
        return FAILED
    tail = _queue_singles(root, queue, used_digits, tables)
    more = tail if tail < 0 else propagate(root, queue, tail, solution, tables)
    workspace.num_filled[0] = placed + more if more >= 0 else FAILED
    return workspace.num_filled[0]


@njit(**NO_RUNTIME_JIT)
def _mark_givens(board, used_digits, solution, tables):
    """Collect the digits given in each unit; returns the number of givens, or FAILED."""
    padding = np.uint32(len(used_digits) - 1)
    for unit in range(len(used_digits)):
        used_digits[unit] = 0
    placed = 0
    for cell in range(np.uint32(len(board))):
        if board[cell] > 0:
            solution[cell] = board[cell]
            placed += 1
            digit_bit = _ONE << np.uint32(board[cell] - 1)
            for k in range(np.uint32(tables.unit_of.shape[1])):
                unit = tables.unit_of[cell, k]
                if used_digits[unit] & digit_bit and unit != padding:
                    return FAILED
                used_digits[unit] |= digit_bit
    used_digits[padding] = 0
    return placed


@njit(**NO_RUNTIME_JIT)
def _open_items(items, used_digits, board, banned, tables):
    """Fill the items of a node from the givens; returns 0, or `-1 - item`."""
    first_item, bit_in_unit, unit_of = tables.first_item, tables.bit_in_unit, tables.unit_of
    for item in range(len(items)):
        items[item] = 0
    for cell in range(np.uint32(len(board))):
        if board[cell] > 0:
            continue
        mask = (_ONE << tables.size) - _ONE
        for k in range(np.uint32(unit_of.shape[1])):
            mask &= ~used_digits[unit_of[cell, k]]
        if banned[cell] > 0:
            mask &= ~(_ONE << np.uint32(banned[cell] - 1))
        if mask == 0:
            return -1 - np.int64(cell)
        items[cell] = mask
        for k in range(np.uint32(unit_of.shape[1])):
            unit_first_item, cell_bit = first_item[cell, k], bit_in_unit[cell, k]
            remaining = mask if cell_bit else np.uint32(0)
            while remaining:
                items[unit_first_item + lowest_bit(remaining)] |= cell_bit
                remaining &= remaining - _ONE
    return 0


@njit(**NO_RUNTIME_JIT)
def _queue_singles(items, queue, used_digits, tables):
    """Queue the singles of a new node; returns the tail of the queue, or `-1 - item`."""
    cells = np.uint32(len(tables.first_item))
    tail = 0
    for cell in range(cells):
        if items[cell] and items[cell] & (items[cell] - _ONE) == 0:
            queue[tail] = cell << DIGIT_BITS | lowest_bit(items[cell])
            tail += 1
    for unit in range(np.uint32(len(used_digits) - 1)):
        unit_start = unit * tables.size
        remaining = ~used_digits[unit] & ((_ONE << tables.size) - _ONE)
        while remaining:
            digit_index = lowest_bit(remaining)
            remaining &= remaining - _ONE
            item = cells + unit_start + digit_index
            mask = items[item]
            if mask & (mask - _ONE) == 0:
                if mask == 0:
                    return -1 - np.int64(item)
                cell = tables.cell_of[unit_start + lowest_bit(mask)]
                queue[tail] = cell << DIGIT_BITS | digit_index
                tail += 1
    return tail


@njit(**NO_RUNTIME_JIT)
def candidate_of(item, bit, tables):
    """Return the cell and the digit index that bit number `bit` of an item stands for."""
    cells = np.uint32(len(tables.first_item))
    if item < cells:
        return item, bit
    digit_index = (item - cells) % tables.size
    return tables.cell_of[item - cells - digit_index + bit], digit_index
