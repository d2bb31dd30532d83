"""The roots of the trees: where a search begins, and what it keeps of the search before a move.

What is refuted above a board still is refuted at it, and a solved board that it agrees with can
still be reached.
"""

from __future__ import annotations

import numpy as np

from sudoku_agents.calphazero.search.config import borrowed_params
from sudoku_agents.calphazero.search.proofs import LOST, UNPROVEN, WON, is_proven_lost, mark_lost
from sudoku_agents.calphazero.search.tree import (
    NUM_EDGES,
    NUM_NODES,
    add_node,
    borrowed_trees,
)
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.kernels.endings import SPARSE
from sudoku_gym.kernels.moves import copy_row, set_up

# mypy: disable-error-code="no-untyped-def"


@njit(cache=True)
def advance_root(trees, params, games, boards, masks):
    """Make `boards[i]` int8 `[N**2]` the root of game `games[i]`, with legal placements `masks[i]`.

    Its tree is new, but for what was proven of a board above it.
    """
    trees, params = borrowed_trees(trees), borrowed_params(params)
    sizes, tables, is_sparse = params.sizes, params.tables, params.rules.reward == SPARSE
    nodes, words = trees.node_exact_values.shape[1], trees.node_states.candidates.shape[1]
    above = np.empty(words, np.uint64)
    scratch = np.empty(sizes.num_cells, np.int32), np.empty(sizes.num_units + 1, np.uint64)
    proves = len(trees.node_unrefuted) > 0
    for i in range(len(games)):
        game = games[i]
        root = game * nodes
        goes_on = proves and _is_below(trees, game, boards, i, sizes)
        if goes_on:
            above[:] = trees.node_unrefuted[root]
            if trees.root_outcomes[game] == LOST and is_proven_lost(trees, root, sizes, tables):
                above[:] = 0  # what is below is lost, whichever cell was played
        may_win = goes_on and trees.root_outcomes[game] == WON
        if not may_win or not _may_win(trees, game, boards, masks, i, sizes):
            trees.root_outcomes[game] = UNPROVEN
        trees.path_length[game] = 0
        trees.tree_size[game, NUM_NODES] = trees.tree_size[game, NUM_EDGES] = 0
        add_node(trees, game)
        copy_row(boards, i, sizes.num_cells, trees.node_states.rows, root)
        set_up(trees.node_states, root, sizes, tables, scratch)
        if proves:
            trees.node_unrefuted[root] = trees.node_states.candidates[root]
            if goes_on:
                for k in range(words):
                    trees.node_unrefuted[root, k] &= above[k]
            if is_proven_lost(trees, root, sizes, tables):
                trees.node_unrefuted[root] = 0
                mark_lost(trees, game, 0, is_sparse)
            elif not _leaves_a_move(trees, root, masks, i, sizes):
                mark_lost(trees, game, 0, is_sparse)


@inlined
def _is_below(trees, game, boards, i, sizes):
    """Return whether a board holds all digits of the last root, if there was one."""
    if trees.tree_size[game, NUM_NODES] == 0:
        return False
    rows, root = trees.node_states.rows, game * trees.node_exact_values.shape[1]
    for cell in range(sizes.num_cells):
        if rows[root, cell] != 0 and rows[root, cell] != boards[i, cell]:
            return False
    return True


@inlined
def _may_win(trees, game, boards, masks, i, sizes):
    """Return whether a board agrees with the solved one, and a legal move leads to it."""
    may = False
    for cell in range(sizes.num_cells):
        digit = trees.root_solutions[game, cell]
        if boards[i, cell] == 0:
            may |= masks[i, cell * sizes.size + digit - 1]
        elif boards[i, cell] != digit:
            return False
    return may


@inlined
def is_unrefuted(trees, b, action, sizes):
    """Return whether a placement is a candidate at position b that is not refuted."""
    step = sizes.cells_a_word * sizes.size
    word = trees.node_unrefuted[b, action // step]
    return (word >> np.uint64(action % step)) & np.uint64(1) != 0


@inlined
def _leaves_a_move(trees, b, masks, i, sizes):
    """Return whether a legal move is not refuted."""
    for action in range(sizes.size**3):
        if masks[i, action] and is_unrefuted(trees, b, action, sizes):
            return True
    return False


@njit(cache=True)
def set_simulations_left(trees, params, games):
    """Set how many simulations the roots of some games have: none where they are proven."""
    trees, params = borrowed_trees(trees), borrowed_params(params)
    trees.root_simulations_left[:] = 0
    for game in games:
        outcome = trees.root_outcomes[game]
        if outcome != WON and not (outcome == LOST and params.rules.reward == SPARSE):
            trees.root_simulations_left[game] = params.selection.simulations


@njit(cache=True)
def mark_solved(trees, games, solutions):
    """Mark the roots of some games as won, int64 `[n]`, by the solved boards int8 `[n, N**2]`.

    Each was read off the leaf of the simulation under way, or off the root if there is none.
    """
    trees = borrowed_trees(trees)
    for i in range(len(games)):
        game = games[i]
        for step in range(trees.path_length[game]):
            trees.children_outcomes[game, trees.path_edges[game, step]] = WON
        trees.root_solutions[game] = solutions[i]
        trees.root_outcomes[game] = WON
        trees.root_simulations_left[game] = 0
