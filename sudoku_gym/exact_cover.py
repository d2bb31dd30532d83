"""Exact search on any unit table: the compiled kernel behind `sudoku_gym.solver`.

Sudoku is an exact cover. Its items are the cells (each takes one digit) and the digits of each
unit (each takes one place); a candidate (cell, digit) lies in one item of the first kind and one
per unit of the cell. A search node is one flat array of items: a cell's item has a bit for each
digit left, a unit's digit has a bit for each place left, and an item that is settled is 0. Taking
a candidate away clears one bit in each of its items, and an item with one bit left is a naked or
a hidden single at once, so nothing is ever scanned for singles and nothing is allocated.

Source: Knuth, "Dancing links" (2000), for the exact cover; the bit masks in place of the links and
the two-way branching (try a candidate, else rule it out for good) are ours.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,var-annotated"

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from sudoku_gym.geometry import Geometry

UNDECIDED = -1
_FAILED = -1
_ONE = np.uint32(1)
_SHIFT = np.uint32(5)  # a candidate is stored as `cell << 5 | digit - 1`
_DIGIT = np.uint32(31)

# The inner functions only pass arrays on. Without numba's runtime they count no references, which
# halves the time of a search; they must not allocate then, not even for `a[i] = b[j]` on rows.
_INNER: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}


@intrinsic
def lowest_bit(_typing_context, value):
    """Return the index of the lowest bit set in a uint32."""

    def build(_context, builder, _signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint32(types.uint32), build


@intrinsic
def count_bits(_typing_context, value):
    """Return the number of bits set in a uint32."""

    def build(_context, builder, _signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint32(types.uint32), build


class Tables(NamedTuple):
    """What the kernel reads of a geometry.

    Attributes:
        cell_of: uint32 `[U * N]`, the cells of all units, one unit after the other.
        first_item: uint32 `[N**2, K]`, the item of digit 1 in each unit of a cell.
        place_bit: uint32 `[N**2, K]`, the cell's bit in the items of that unit, 0 for padding.
        size: N.
    """

    cell_of: NDArray[np.uint32]
    first_item: NDArray[np.uint32]
    place_bit: NDArray[np.uint32]
    size: np.uint32


@cache
def tables_of(geometry: Geometry) -> Tables:
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
    return Tables(cell_of, first_item, place_bit, np.uint32(geometry.size))


@njit(**_INNER)
def _place(items, queue, tail, cell, digit, tables):
    """Settle a candidate that is still open; push new singles; return the new tail or FAILED."""
    cell_of, first_item, place_bit, _ = tables
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
            if items[item] & mine:
                left = items[item] ^ mine
                if left & (left - _ONE) == 0:
                    if left == 0:
                        return _FAILED
                    queue[tail] = cell_of[first - cells + lowest_bit(left)] << _SHIFT | item - first
                    tail += 1
                items[item] = left
        rest = items[first + digit] & ~mine
        items[first + digit] = 0
        while rest:
            peer = cell_of[first - cells + lowest_bit(rest)]
            rest &= rest - _ONE
            tail = _remove(items, queue, tail, peer, digit, tables)
            if tail < 0:
                return _FAILED
    return tail


@njit(**_INNER)
def _remove(items, queue, tail, cell, digit, tables):
    """Take an open candidate away; push new singles; return the new tail or FAILED."""
    cell_of, first_item, place_bit, _ = tables
    cells = np.uint32(len(first_item))
    left = items[cell] ^ (_ONE << digit)
    if left & (left - _ONE) == 0:
        if left == 0:
            return _FAILED
        queue[tail] = cell << _SHIFT | lowest_bit(left)
        tail += 1
    items[cell] = left
    for k in range(np.uint32(first_item.shape[1])):
        first = first_item[cell, k]
        bit = place_bit[cell, k]
        old = items[first + digit]
        if old & bit:
            left = old ^ bit
            if left & (left - _ONE) == 0:
                if left == 0:
                    return _FAILED
                queue[tail] = cell_of[first - cells + lowest_bit(left)] << _SHIFT | digit
                tail += 1
            items[first + digit] = left
    return tail


@njit(**_INNER)
def _settle(items, queue, tail, board, tables):
    """Place the queued candidates and all singles that follow; return how many, or FAILED."""
    head = 0
    placed = 0
    while head < tail:
        cell, digit = queue[head] >> _SHIFT, queue[head] & _DIGIT
        head += 1
        if items[cell] & (_ONE << digit):
            tail = _place(items, queue, tail, cell, digit, tables)
            if tail < 0:
                return _FAILED
            board[cell] = digit + 1
            placed += 1
    return placed


@njit(**_INNER)
def _choose(items):
    """Return the open item with the fewest bits."""
    best = np.uint32(0)
    fewest = np.uint32(99)
    for item in range(np.uint32(len(items))):
        if items[item]:
            bits = count_bits(items[item])
            if bits < fewest:
                best, fewest = item, bits
                if bits == 2:
                    break
    return best


@njit(**_INNER)
def candidate_of(item, bit, tables):
    """Return the cell and digit (from 0) that bit number `bit` of an item stands for."""
    cells = np.uint32(len(tables.first_item))
    if item < cells:
        return item, bit
    digit = (item - cells) % tables.size
    return tables.cell_of[item - cells - digit + bit], digit


@njit(cache=True, nogil=True)
def new_space(tables):
    """Allocate what a search needs, once for all boards: (stack, settled, tried, queue)."""
    cells = len(tables.first_item)
    items = cells + len(tables.cell_of)
    stack = np.empty((cells + 1, items), np.uint32)
    settled = np.empty(cells + 1, np.int64)
    tried = np.empty(cells + 1, np.uint32)
    queue = np.empty(items + 1, np.uint32)
    return stack, settled, tried, queue


@njit(**_INNER)
def _start(items, queue, board, solution, tables):
    """Fill the first node from a board's givens; return how many cells are settled, or FAILED."""
    for item in range(len(items)):
        items[item] = (_ONE << tables.size) - _ONE
    placed = 0
    tail = 0
    for cell in range(np.uint32(len(tables.first_item))):
        if board[cell] > 0:
            digit = np.uint32(board[cell] - 1)
            if items[cell] & (_ONE << digit) == 0:
                return _FAILED
            tail = _place(items, queue, tail, cell, digit, tables)
            if tail < 0:
                return _FAILED
            solution[cell] = board[cell]
            placed += 1
    more = _settle(items, queue, tail, solution, tables)
    return _FAILED if more < 0 else placed + more


@njit(**_INNER)
def load_board(space, board, work, tables):
    """Make a board the root of the search; return False if its givens lead to a contradiction."""
    stack, settled, _, queue = space
    settled[0] = _start(stack[0], queue, board, work, tables)
    return settled[0] >= 0


@njit(**_INNER)
def rule_out(space, depth, cell, digit, work, tables):
    """Take a candidate away from node `depth` and follow it up; return False if none is left."""
    stack, settled, _, queue = space
    items = stack[depth]
    if items[cell] & (_ONE << digit) == 0:
        return items[cell] != 0 or work[cell] != digit + 1
    tail = _remove(items, queue, 0, cell, digit, tables)
    more = _FAILED if tail < 0 else _settle(items, queue, tail, work, tables)
    settled[depth] += more
    return more >= 0


@njit(**_INNER)
def descend(space, depth, cell, digit, work, tables):
    """Try a candidate in a copy of node `depth`, one deeper; return False if it fails at once."""
    stack, settled, tried, queue = space
    tried[depth] = cell << _SHIFT | digit
    for item in range(stack.shape[1]):
        stack[depth + 1, item] = stack[depth, item]
    queue[0] = tried[depth]
    more = _settle(stack[depth + 1], queue, 1, work, tables)
    settled[depth + 1] = settled[depth] + more
    return more >= 0


@njit(**_INNER)
def retreat(space, depth, work, tables):
    """Rule out what was tried at node `depth`; return False if nothing else is left there."""
    tried = space[2]
    return rule_out(space, depth, tried[depth] >> _SHIFT, tried[depth] & _DIGIT, work, tables)


@njit(**_INNER)
def explore(space, limit, node_limit, work, first, tables):
    """Search below the root.

    Args:
        space: `new_space(tables)`, with a root.
        limit: stop at this many solutions.
        node_limit: stop after this many tried candidates.
        work: int8 `[N**2]`, the digits settled so far.
        first: int8 `[N**2]`, the first solution is written here.
        tables: `tables_of(geometry)`.

    Returns:
        Solutions found, or `-1 - found` if the node limit ended the search; candidates tried.
    """
    stack, settled, _, _ = space
    cells = len(tables.first_item)
    found, nodes, depth = 0, 0, 0
    alive = True
    while True:
        if alive and settled[depth] == cells:
            if found == 0:
                for cell in range(cells):
                    first[cell] = work[cell]
            found += 1
            alive = False
        if not alive:
            if depth == 0 or found >= limit:
                return found, nodes
            depth -= 1
            alive = retreat(space, depth, work, tables)
            continue
        if nodes >= node_limit:
            return UNDECIDED - found, nodes
        nodes += 1
        item = _choose(stack[depth])
        cell, digit = candidate_of(item, lowest_bit(stack[depth][item]), tables)
        alive = descend(space, depth, cell, digit, work, tables)
        depth += 1


@njit(cache=True, nogil=True)
def search(boards, limit, node_limit, tables, solutions, counts, nodes):
    """Count the solutions of each board up to `limit`, and keep the first of each.

    Args:
        boards: int8 `[B, N**2]`.
        limit: stop at this many solutions.
        node_limit: stop after this many tried candidates a board.
        tables: `tables_of(geometry)`.
        solutions: int8 `[B, N**2]`, zeros; the first solution is written here.
        counts: int64 `[B]`, written: solutions found, or `-1 - found` at the node limit.
        nodes: int64 `[B]`, written: candidates tried.
    """
    space = new_space(tables)
    work = np.empty(boards.shape[1], np.int8)
    for b in range(len(boards)):
        counts[b], nodes[b] = 0, 0
        if load_board(space, boards[b], work, tables):
            counts[b], nodes[b] = explore(space, limit, node_limit, work, solutions[b], tables)
