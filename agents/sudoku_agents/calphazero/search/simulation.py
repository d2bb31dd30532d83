"""The three steps of a simulation: down to a leaf, its edges, and its value back up (mctx's names).

`simulate` walks from each root to a node that is new, or whose value is known; the network
evaluates the new ones; `expand` gives them edges, and `backup_values` updates the edges on the way.
"""

from __future__ import annotations

import numpy as np

from sudoku_agents.calphazero.search.config import borrowed_params
from sudoku_agents.calphazero.search.proofs import (
    inherit_refuted,
    is_proven_lost,
    mark_lost,
    mark_won,
    propagate_refuted,
)
from sudoku_agents.calphazero.search.selection import select_edge
from sudoku_agents.calphazero.search.tree import (
    NUM_EDGES,
    add_node,
    borrowed_trees,
    move_best_unvisited_first,
)
from sudoku_gym.compiler.intrinsics import borrowed, lowest_bit
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.kernels.endings import SPARSE, end_value, is_over, state_is_solved
from sudoku_gym.kernels.masks import any_placements, write_mask
from sudoku_gym.kernels.moves import copy_position, copy_row, place

# mypy: disable-error-code="no-untyped-def,call-arg,var-annotated"


@njit(cache=True)
def simulate(trees, params, leaf_boards, leaf_masks):
    """Walk each tree that has simulations left down to a leaf; write new leaves as boards.

    Boards int8 `[G, N**2]` and masks int8 `[G, N**3]` are written where the leaf must be evaluated.
    Returns leaves int32, values float32 (where known), and which must be evaluated, bool `[G]`.
    """
    trees, params = borrowed_trees(trees), borrowed_params(params)
    sizes, is_sparse = params.sizes, params.rules.reward == SPARSE
    games, nodes = trees.node_exact_values.shape
    leaves = np.zeros(games, np.int32)
    values = np.zeros(games, np.float32)
    is_open = np.zeros(games, np.bool_)
    boards, masks = borrowed(leaf_boards), borrowed(leaf_masks)
    for game in range(games):
        trees.path_length[game] = 0
        if trees.root_simulations_left[game] == 0:
            continue
        trees.root_simulations_left[game] -= 1
        node, depth, is_new = 0, 0, False
        while not is_new and np.isnan(trees.node_exact_values[game, node]):
            edge = select_edge(trees, game, node, params.selection)
            if edge < 0:  # a root whose allowed moves are all refuted
                mark_lost(trees, game, 0, is_sparse)
                continue
            trees.path_edges[game, depth] = edge
            depth += 1
            parent, node = node, trees.children_index[game, edge]
            if node < 0:
                is_new = True
                node = add_node(trees, game)
                trees.children_index[game, edge] = node
                _set_up_node(trees, params, game, parent, node, edge, depth)
        leaves[game] = node
        trees.path_length[game] = depth
        if np.isnan(trees.node_exact_values[game, node]):
            is_open[game] = True
            b = np.uint64(game * nodes + node)
            copy_row(trees.node_states.rows, b, sizes.num_cells, boards, game)
            write_mask(trees.node_states, b, params.rules.any_digit, sizes, masks, game)
        else:
            values[game] = trees.node_exact_values[game, node]
    return leaves, values, is_open


@njit(cache=True, inline="always")
def _set_up_node(trees, params, game, parent, node, edge, depth):
    """Set up the position behind an edge, the last of the path, and its value if it is known."""
    sizes, tables, rules, state = params.sizes, params.tables, params.rules, trees.node_states
    nodes = trees.node_exact_values.shape[1]
    b, above = np.uint64(game * nodes + node), np.uint64(game * nodes + parent)
    copy_position(state, above, b)
    cell, digit = divmod(trees.children_actions[game, edge], sizes.size)
    place(state, b, cell, digit + 1, sizes, tables)
    if is_over(state.counts, b, sizes.num_units, rules):
        value = end_value(state.counts, b, sizes.num_units, rules.reward)
        trees.node_exact_values[game, node] = value
    if state_is_solved(state.counts, b, sizes.num_units):
        mark_won(trees, game, b, depth, sizes.num_cells)
    elif len(trees.node_unrefuted) > 0:
        inherit_refuted(trees, b, above)
        is_lost = trees.node_is_lost[game, parent]
        is_lost = is_lost or not np.isnan(trees.node_exact_values[game, node])
        if is_lost or is_proven_lost(trees, b, sizes, tables):
            trees.node_is_lost[game, node] = True
            if rules.reward == SPARSE:
                trees.node_exact_values[game, node] = 0.0
            propagate_refuted(trees, game, depth, sizes, tables, rules.reward == SPARSE)


@njit(cache=True)
def expand(trees, params, games, nodes, priors, values, masks, members):
    """Give node `nodes[i]` of game `games[i]` its edges, priors `[N**3]` and value.

    Those are the placements of `masks[i]` that are not refuted, or all of them at a lost node; or
    of these the ones of a single constraint, whose `members` are those of `constraint_members`.
    """
    trees, params = borrowed_trees(trees), borrowed_params(params)
    left = np.zeros(masks.shape[1], np.bool_)
    sizes, state = params.sizes, trees.node_states
    placements_a_word = sizes.cells_a_word * sizes.size
    for i in range(len(games)):
        game, node = games[i], nodes[i]
        edge = first = trees.tree_size[game, NUM_EDGES]
        prior_sum = np.float32(0)
        left[:] = False
        b = np.uint64(game * trees.node_exact_values.shape[1] + node)
        for k in range(state.candidates.shape[1]):
            if len(trees.node_unrefuted) > 0 and not trees.node_is_lost[game, node]:
                word = trees.node_unrefuted[b, k]
            elif params.rules.any_digit:
                word = any_placements(state, b, np.uint64(k), sizes)
            else:
                word = state.candidates[b, k]
            while word != 0:
                action = k * placements_a_word + np.int64(lowest_bit(word))
                word &= word - np.uint64(1)
                left[action] = masks[i, action]
        if params.selection.one_constraint:
            _keep_hardest(left, priors[i], members)
        for action in np.flatnonzero(left):
            trees.children_actions[game, edge] = action
            trees.children_priors[game, edge] = priors[i, action]
            prior_sum += priors[i, action]
            edge += 1
        trees.node_first_edge[game, node] = first
        trees.node_num_edges[game, node] = edge - first
        trees.tree_size[game, NUM_EDGES] = edge
        trees.node_raw_values[game, node] = values[i]
        trees.node_prior_sums[game, node] = prior_sum
        move_best_unvisited_first(trees, game, node)


@inlined
def _keep_hardest(left, priors, members):
    """Keep of placements bool `[N**3]` those of the constraint that is hardest to fulfil.

    That is one with the fewest placements but at least two, where there is any, and of these the
    one that the priors hold least likely (fail first, Haralick and Elliott, 1980).
    """
    fewest, lowest, chosen = members.shape[1] + 1, np.float32(0), -1
    for constraint in range(len(members)):
        count, total = 0, np.float32(0)
        for placement in members[constraint]:
            if left[placement]:
                count += 1
                total += priors[placement]
        if count > 1 and (count < fewest or (count == fewest and total < lowest)):
            fewest, lowest, chosen = count, total, constraint
    if chosen >= 0:
        was_left = left.copy()
        left[:] = False
        for placement in members[chosen]:
            left[placement] = was_left[placement]


@njit(cache=True)
def backup_values(trees, values):
    """Add the value of each game's leaf, float32 `[G]`, to every edge of its path."""
    trees = borrowed_trees(trees)
    for game in range(len(values)):
        for step in range(trees.path_length[game]):
            edge = trees.path_edges[game, step]
            trees.children_visits[game, edge] += 1
            trees.children_values[game, edge] += values[game]
