"""Proofs along the tree that a position is won or lost; docs/design.md says why they hold.

A position is won once a solved board was met below it, and lost if no solved board can be reached.
A placement is refuted if the position behind it is lost. A position is lost once all candidates of
one blank cell, or all cells of one digit in one unit, are refuted.

Source: Winands, Bjoernsson and Saito, "Monte-Carlo tree search solver", 2008; the rest is exact
cover.
"""

from __future__ import annotations

import numpy as np

from sudoku_gym.compiler.intrinsics import popcount
from sudoku_gym.compiler.jit import inlined
from sudoku_gym.kernels.moves import candidates_of, copy_row, word_and_bit

# mypy: disable-error-code="no-untyped-def,call-arg"

UNPROVEN, WON, LOST = range(3)


@inlined
def inherit_refuted(trees, b, parent):
    """Write which candidates of position b are not refuted above it, at position `parent`."""
    candidates, row, above = trees.node_states.candidates, np.uint64(b), np.uint64(parent)
    for k in range(np.uint64(candidates.shape[1])):
        trees.node_unrefuted[row, k] = trees.node_unrefuted[above, k] & candidates[row, k]


@inlined
def is_proven_lost(trees, b, sizes, tables):
    """Return whether all candidates of a cell, or of a digit in a unit, are refuted at b."""
    rows, row = trees.node_states.rows, np.uint64(b)
    units = tables.units
    for unit in range(np.uint64(units.shape[0])):
        digits, num_filled = np.uint64(0), 0
        for i in range(np.uint64(units.shape[1])):
            cell = np.uint64(units[unit, i])
            if rows[row, cell] > 0:
                num_filled += 1
            else:
                own = candidates_of(trees.node_unrefuted, b, cell, sizes, tables)
                if own == 0:
                    return True
                digits |= own
        distinct = rows[row, np.uint64(sizes.distinct_at) + unit]
        if num_filled != distinct or distinct + np.int64(popcount(digits)) < sizes.size:
            return True
    return False


@inlined
def _was_last(trees, b, cell, digit, sizes, tables):
    """Return whether no candidate of a cell, or of a digit in a unit of it, is unrefuted now."""
    if candidates_of(trees.node_unrefuted, b, cell, sizes, tables) == 0:
        return True
    for k in range(tables.cell_units.shape[1]):
        unit = tables.cell_units[cell, k]
        if unit < sizes.num_units:
            digits = np.uint64(0)
            for i in range(sizes.size):
                other = tables.units[unit, i]
                digits |= candidates_of(trees.node_unrefuted, b, other, sizes, tables)
            if (digits >> np.uint64(digit)) & np.uint64(1) == 0:
                return True
    return False


@inlined
def propagate_refuted(trees, game, depth, sizes, tables, is_sparse):
    """Mark the last edge of the path as refuted, and what follows for the nodes above it."""
    nodes = trees.node_exact_values.shape[1]
    for step in range(depth - 1, -1, -1):
        edge = trees.path_edges[game, step]
        node = trees.children_index[game, trees.path_edges[game, step - 1]] if step > 0 else 0
        trees.children_outcomes[game, edge] = LOST
        if trees.node_is_lost[game, node]:
            return
        b = game * nodes + node
        cell, digit = divmod(trees.children_actions[game, edge], sizes.size)
        word, first = word_and_bit(cell, tables)
        trees.node_unrefuted[b, word] &= ~(np.uint64(1) << (first + np.uint64(digit)))
        if not _was_last(trees, b, cell, digit, sizes, tables):
            return
        mark_lost(trees, game, node, is_sparse)


@inlined
def mark_lost(trees, game, node, is_sparse):
    """Mark a node as lost; a search whose root is worth 0 for certain is over."""
    trees.node_is_lost[game, node] = True
    if is_sparse:
        trees.node_exact_values[game, node] = 0.0
    if node == 0:
        trees.root_outcomes[game] = LOST
        if is_sparse:
            trees.root_simulations_left[game] = 0


@inlined
def mark_won(trees, game, b, depth, num_cells):
    """Mark the edges of a path that has led to position b, which is solved."""
    for step in range(depth):
        trees.children_outcomes[game, trees.path_edges[game, step]] = WON
    if len(trees.node_unrefuted) > 0:
        copy_row(trees.node_states.rows, b, num_cells, trees.root_solutions, game)
        trees.root_outcomes[game] = WON
        trees.root_simulations_left[game] = 0
