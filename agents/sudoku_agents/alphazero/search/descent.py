"""A simulation's way down: from each root to a node that is new, or whose worth is settled."""

from __future__ import annotations

import numpy as np

from sudoku_agents.alphazero.search.gumbel import select_at_root
from sudoku_agents.alphazero.search.proofs import (
    inherit,
    is_refuted,
    refute,
    settle_lost,
    settle_won,
)
from sudoku_agents.alphazero.search.selection import Scoring, select_gumbel, select_puct
from sudoku_agents.alphazero.search.tree import borrowed_trees, bring_next, new_node, try_edge
from sudoku_gym.compiler.intrinsics import borrowed
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.kernels.endings import SPARSE, Rules, end_value, is_over, is_solved
from sudoku_gym.kernels.layout import Sizes, borrowed_state, borrowed_tables
from sudoku_gym.kernels.masks import write_mask
from sudoku_gym.kernels.positions import copy_position, copy_row, place

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,var-annotated"


@njit(cache=True)
def descend(trees, sizes, tables, rules, scoring, leaf_boards, leaf_masks):
    """Walk each tree that has simulations left down to a leaf; write new ones as boards.

    Args:
        trees: the trees; `path` and `depth` are written, and new nodes are added.
        sizes: see `sudoku_gym.kernels.layout.Sizes`.
        tables: see `sudoku_gym.kernels.layout.UnitTables`.
        rules: see `sudoku_gym.kernels.endings.Rules`.
        scoring: see `selection.Scoring`.
        leaf_boards: int8 `[G, N**2]`, written where the leaf must be evaluated.
        leaf_masks: int8 `[G, N**3]`, likewise.

    Returns:
        leaves int32 `[G]`, values float32 `[G]` (where they are settled), is_open bool `[G]`:
        whether the leaf must be evaluated.
    """
    trees, sizes, rules, scoring = (
        borrowed_trees(trees),
        Sizes(*sizes),
        Rules(*rules),
        Scoring(*scoring),
    )
    games = len(trees.left)
    leaves = np.zeros(games, np.int32)
    values = np.zeros(games, np.float32)
    is_open = np.zeros(games, np.bool_)
    state, tables = borrowed_state(trees.state), borrowed_tables(tables)
    boards, masks = borrowed(leaf_boards), borrowed(leaf_masks)
    for game in range(games):
        trees.depth[game] = 0
        if trees.left[game] == 0:
            continue
        trees.left[game] -= 1
        node, depth, is_new = 0, 0, False
        while not is_new and np.isnan(trees.end_value[game, node]):
            edge = _select(trees, game, node, scoring)
            if edge < 0:  # a root whose allowed moves are all refuted
                settle_lost(trees, game, 0, rules.reward == SPARSE)
                continue
            trees.path[game, depth] = edge
            depth += 1
            above, node = node, trees.child[game, edge]
            if node < 0:
                is_new = True
                node = new_node(trees, game)
                trees.child[game, edge] = node
                _make(trees, state, game, above, node, edge, depth, sizes, tables, rules)
        leaves[game] = node
        trees.depth[game] = depth
        if np.isnan(trees.end_value[game, node]):
            is_open[game] = True
            b = np.uint64(game * trees.end_value.shape[1] + node)
            copy_row(state.rows, b, sizes.num_cells, boards, game)
            write_mask(state, b, rules.any_digit, sizes, masks, game)
        else:
            values[game] = trees.end_value[game, node]
    return leaves, values, is_open


@inlined
def _select(trees, game, node, scoring):
    """Return the edge to follow, which counts as tried from now on, or -1."""
    if not scoring.gumbel:
        edge = select_puct(trees, game, node, scoring)
    elif node == 0:
        edge = select_at_root(trees, game, scoring)
    else:
        edge = select_gumbel(trees, game, node, scoring)
    if edge == trees.first_edge[game, node] + trees.num_tried[game, node]:
        try_edge(trees, game, node, edge)
        if node > 0 or not scoring.gumbel:  # Gumbel's roots have an order of their own
            bring_next(trees, game, node)
    return edge


@njit(cache=True, inline="always")
def _make(trees, state, game, above, node, edge, depth, sizes, tables, rules):
    """Fill in the node behind an edge, the last of the path; find out whether it is settled."""
    nodes = trees.end_value.shape[1]
    b, parent = np.uint64(game * nodes + node), np.uint64(game * nodes + above)
    copy_position(state, parent, b)
    cell, digit = divmod(trees.action[game, edge], sizes.size)
    place(state, b, cell, digit + 1, sizes, tables)
    if is_over(state.counts, b, sizes.num_units, rules):
        trees.end_value[game, node] = end_value(state.counts, b, sizes.num_units, rules.reward)
    if is_solved(state.counts, b, sizes.num_units):
        settle_won(trees, game, b, depth, sizes.num_cells)
    elif len(trees.open) > 0:
        inherit(trees, b, parent)
        lost = trees.lost[game, above] or not np.isnan(trees.end_value[game, node])
        if lost or is_refuted(trees, b, sizes, tables):
            trees.lost[game, node] = True
            if rules.reward == SPARSE:
                trees.end_value[game, node] = 0.0
            refute(trees, game, depth, sizes, tables, rules.reward == SPARSE)
