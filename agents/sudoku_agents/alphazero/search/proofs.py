"""Proofs along the tree that a position is won or lost.

The game has one player and no chance in it. So a position is *won* once a solved board was met
below it: play can go there. It also is whatever way one takes: a placement that agrees with the
solved board wins, since the rest of that board may follow in any order. It is *lost* if no solved
board can be reached.

With the reward `sparse` a lost position is worth 0, whatever is played. With `terminal` it is worth
less than 1, and how much a proof does not say: the value stays what was seen. There, a proof keeps
the search out of a lost move for as long as another one is left, and when the root itself is lost,
the search goes on for the largest fraction, as if there were no proofs.

A placement is *refuted* if the position behind it is lost. Three facts make proofs cheap:

- Every cell must be filled. So a position is lost once all candidates of *one* blank cell are
  refuted: a solved board below it would have some digit there, and placing that digit first would
  have led to the same board, from a position that would not be lost.
- Every unit needs every digit, so the same holds of all places of one digit in one unit. With no
  candidate left at all these are the two kinds of dead end. A digit that stands twice in a unit
  leaves no room for another one: such a position is lost, and no candidate leads to one.
- Digits are never taken back. A placement that is refuted here is so in every position below, for
  what solves the board there solves it here. So a new node inherits what is refuted, and may be
  lost by that alone.

Source: Winands, Bjoernsson and Saito, "Monte-Carlo tree search solver", 2008, for proofs in a tree
of simulations; the rest is exact cover.
"""

from __future__ import annotations

import numpy as np

from sudoku_gym.compiler.intrinsics import popcount
from sudoku_gym.compiler.jit import inlined
from sudoku_gym.kernels.positions import candidates_of, copy_row, place_of

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg"

UNDECIDED, WON, LOST = range(3)


@inlined
def inherit(trees, b, parent):
    """Write which candidates of position b are not refuted above it, at position `parent`."""
    candidates, row, above = trees.state[1], np.uint64(b), np.uint64(parent)
    for k in range(np.uint64(candidates.shape[1])):
        trees.open[row, k] = trees.open[above, k] & candidates[row, k]


@inlined
def is_refuted(trees, b, sizes, tables):
    """Return whether a cell or a digit in a unit of position b has no place that is still open."""
    rows, row = trees.state[0], np.uint64(b)
    units = tables.units
    for unit in range(np.uint64(units.shape[0])):
        digits, num_filled = np.uint64(0), 0
        for i in range(np.uint64(units.shape[1])):
            cell = np.uint64(units[unit, i])
            if rows[row, cell] > 0:
                num_filled += 1
            else:
                own = candidates_of(trees.open, b, cell, sizes, tables)
                if own == 0:
                    return True
                digits |= own
        distinct = rows[row, np.uint64(sizes.distinct_at) + unit]
        if num_filled != distinct or distinct + np.int64(popcount(digits)) < sizes.size:
            return True
    return False


@inlined
def _closes(trees, b, cell, digit, sizes, tables):
    """Return whether a placement was the last open one of its cell, or of its digit in a unit."""
    if candidates_of(trees.open, b, cell, sizes, tables) == 0:
        return True
    for k in range(tables.cell_units.shape[1]):
        unit = tables.cell_units[cell, k]
        if unit < sizes.num_units:
            digits = np.uint64(0)
            for i in range(sizes.size):
                digits |= candidates_of(trees.open, b, tables.units[unit, i], sizes, tables)
            if (digits >> np.uint64(digit)) & np.uint64(1) == 0:
                return True
    return False


@inlined
def refute(trees, game, depth, sizes, tables, is_sparse):
    """Note that the last edge of the path is refuted, and what follows for the nodes above it."""
    nodes = trees.end_value.shape[1]
    for step in range(depth - 1, -1, -1):
        edge = trees.path[game, step]
        node = trees.child[game, trees.path[game, step - 1]] if step > 0 else 0
        trees.status[game, edge] = LOST
        if trees.lost[game, node]:
            return
        b = game * nodes + node
        cell, digit = divmod(trees.action[game, edge], sizes.size)
        word, first = place_of(cell, tables)
        trees.open[b, word] &= ~(np.uint64(1) << (first + np.uint64(digit)))
        if not _closes(trees, b, cell, digit, sizes, tables):
            return
        settle_lost(trees, game, node, is_sparse)


@inlined
def settle_lost(trees, game, node, is_sparse):
    """Note that a node is lost; a search whose root is worth 0 for certain is over."""
    trees.lost[game, node] = True
    if is_sparse:
        trees.end_value[game, node] = 0.0
    if node == 0:
        trees.verdict[game] = LOST
        if is_sparse:
            trees.left[game] = 0


@inlined
def settle_won(trees, game, b, depth, num_cells):
    """Note that the path has led to position b, which is solved."""
    for step in range(depth):
        trees.status[game, trees.path[game, step]] = WON
    if len(trees.open) > 0:
        copy_row(trees.state[0], b, num_cells, trees.solution, game)
        trees.verdict[game] = WON
        trees.left[game] = 0
