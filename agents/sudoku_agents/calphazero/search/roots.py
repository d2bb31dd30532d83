"""The roots of the trees: where a search begins, and what it keeps of the search before a move.

What a search found out below the move that was played stays true: its subtree, moved to the front
of the arrays, is the new tree. Where there is none, what is refuted above a board still is refuted
at it, and a solved board that it agrees with can still be reached.
"""

from __future__ import annotations

import numpy as np

from sudoku_agents.calphazero.search.config import borrowed_params
from sudoku_agents.calphazero.search.proofs import LOST, UNPROVEN, WON, is_proven_lost, mark_lost
from sudoku_agents.calphazero.search.tree import (
    NUM_EDGES,
    NUM_NODES,
    add_node,
    all_edges,
    borrowed_trees,
    copy_edge,
    move_best_unvisited_first,
    visited_edges,
)
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.kernels.endings import SPARSE
from sudoku_gym.kernels.moves import copy_position, copy_row, set_up

# mypy: disable-error-code="no-untyped-def"


@njit(cache=True)
def advance_root(trees, params, games, boards, masks):
    """Make `boards[i]` int8 `[N**2]` the root of game `games[i]`, with legal placements `masks[i]`.

    Returns bool `[n]`, whether the root must be evaluated and expanded.
    """
    trees, params = borrowed_trees(trees), borrowed_params(params)
    sizes, tables, is_sparse = params.sizes, params.tables, params.rules.reward == SPARSE
    nodes, words = trees.node_exact_values.shape[1], trees.node_states.candidates.shape[1]
    is_fresh = np.ones(len(games), np.bool_)
    above = np.empty(words, np.uint64)
    scratch = np.empty(sizes.num_cells, np.int32), np.empty(sizes.num_units + 1, np.uint64)
    proves = len(trees.node_unrefuted) > 0
    for i in range(len(games)):
        game = games[i]
        root = game * nodes
        moves, action = _moves_since(trees, game, boards, i, sizes)
        goes_on = moves >= 0 and proves and params.selection.keeps_proofs
        if goes_on:
            above[:] = trees.node_unrefuted[root]
            if trees.root_outcomes[game] == LOST and is_proven_lost(trees, root, sizes, tables):
                above[:] = 0  # what is below is lost, whichever cell was played
        may_win = goes_on and trees.root_outcomes[game] == WON
        if not may_win or not _may_win(trees, game, boards, masks, i, sizes):
            trees.root_outcomes[game] = UNPROVEN
        child = -1
        if params.selection.keeps_trees and moves == 1:
            child = _child_of(trees, game, action)
        if child >= 0 and trees.node_num_edges[game, child] > 0:
            _keep_subtree(trees, game, child)
            is_fresh[i] = False
        else:
            trees.tree_size[game, NUM_NODES] = trees.tree_size[game, NUM_EDGES] = 0
            add_node(trees, game)
            copy_row(boards, i, sizes.num_cells, trees.node_states.rows, root)
            set_up(trees.node_states, root, sizes, tables, scratch)
            if proves:
                trees.node_unrefuted[root] = trees.node_states.candidates[root]
        if goes_on:
            for k in range(words):
                trees.node_unrefuted[root, k] &= above[k]
        if proves:
            if trees.node_is_lost[game, 0] or is_proven_lost(trees, root, sizes, tables):
                trees.node_unrefuted[root] = 0
                mark_lost(trees, game, 0, is_sparse)
            elif not _leaves_a_move(trees, root, masks, i, sizes):
                mark_lost(trees, game, 0, is_sparse)
        if not is_fresh[i]:
            _drop_edges(trees, game, masks, i, sizes)
            if trees.node_num_edges[game, 0] == 0:  # dropped while the root was not yet known lost
                is_fresh[i] = True
                trees.tree_size[game, NUM_NODES], trees.tree_size[game, NUM_EDGES] = 1, 0
    return is_fresh


@inlined
def _moves_since(trees, game, boards, i, sizes):
    """Return how many placements lead from the last root to a board (-1: none do), and the last."""
    if trees.tree_size[game, NUM_NODES] == 0:
        return -1, -1
    rows, root = trees.node_states.rows, game * trees.node_exact_values.shape[1]
    moves, action = 0, -1
    for cell in range(sizes.num_cells):
        if rows[root, cell] != boards[i, cell]:
            if rows[root, cell] != 0:
                return -1, -1
            moves += 1
            action = cell * sizes.size + boards[i, cell] - 1
    return moves, action


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
def _child_of(trees, game, action):
    """Return the node that a move from the root leads to, or -1."""
    for edge in visited_edges(trees, game, 0):
        if trees.children_actions[game, edge] == action:
            return trees.children_index[game, edge]
    return -1


@inlined
def _keep_subtree(trees, game, root):
    """Move the subtree of a node to the front; nodes and edges keep their order."""
    nodes = trees.node_exact_values.shape[1]
    count = trees.tree_size[game, NUM_NODES]
    new_index = np.full(count, -1, np.int32)
    new_index[root] = 0
    num_kept = 1
    for node in range(root, count):
        if new_index[node] >= 0:
            new_index[node] = num_kept if node > root else 0
            num_kept += node > root
            for edge in visited_edges(trees, game, node):
                if trees.children_index[game, edge] >= 0:
                    new_index[trees.children_index[game, edge]] = 0
    next_edge = 0
    for node in range(root, count):
        target = new_index[node]
        if target < 0:
            continue
        b, t = game * nodes + node, game * nodes + target
        if b != t:
            copy_position(trees.node_states, b, t)
            if len(trees.node_unrefuted) > 0:
                trees.node_unrefuted[t] = trees.node_unrefuted[b]
        edges, visited = all_edges(trees, game, node), visited_edges(trees, game, node)
        trees.node_first_edge[game, target] = next_edge
        trees.node_num_edges[game, target] = len(edges)
        trees.node_num_visited[game, target] = len(visited)
        trees.node_exact_values[game, target] = trees.node_exact_values[game, node]
        trees.node_raw_values[game, target] = trees.node_raw_values[game, node]
        trees.node_prior_sums[game, target] = trees.node_prior_sums[game, node]
        trees.node_is_lost[game, target] = trees.node_is_lost[game, node]
        for edge in edges:
            copy_edge(trees, game, edge, next_edge, edge < visited.stop)
            if edge < visited.stop:
                trees.children_index[game, next_edge] = new_index[trees.children_index[game, edge]]
            next_edge += 1
    trees.tree_size[game, NUM_NODES] = num_kept
    trees.tree_size[game, NUM_EDGES] = next_edge


@inlined
def _is_unrefuted(trees, b, action, sizes):
    step = sizes.cells_a_word * sizes.size
    word = trees.node_unrefuted[b, action // step]
    return (word >> np.uint64(action % step)) & np.uint64(1) != 0


@inlined
def _leaves_a_move(trees, b, masks, i, sizes):
    """Return whether a legal move is not refuted."""
    for action in range(sizes.size**3):
        if masks[i, action] and _is_unrefuted(trees, b, action, sizes):
            return True
    return False


@inlined
def _drop_edges(trees, game, masks, i, sizes):
    """Drop edges of a kept root that are not legal, and unvisited ones that are refuted."""
    edges, visited = all_edges(trees, game, 0), visited_edges(trees, game, 0)
    root = game * trees.node_exact_values.shape[1]
    kept, num_visited, prior_sum = edges.start, 0, np.float32(0)
    for edge in edges:
        action, is_visited = trees.children_actions[game, edge], edge < visited.stop
        if not masks[i, action]:
            continue
        if len(trees.node_unrefuted) > 0 and not trees.node_is_lost[game, 0]:
            if not _is_unrefuted(trees, root, action, sizes):
                if not is_visited:
                    continue
                trees.children_outcomes[game, edge] = LOST
        copy_edge(trees, game, edge, kept, is_visited)
        num_visited += is_visited
        prior_sum += trees.children_priors[game, kept]
        kept += 1
    trees.node_num_edges[game, 0] = kept - edges.start
    trees.node_num_visited[game, 0] = num_visited
    trees.node_prior_sums[game, 0] = prior_sum
    move_best_unvisited_first(trees, game, 0)


@njit(cache=True)
def root_priors(trees, games, num_actions):
    """Return the priors of the roots' edges, float32 `[n, A]`, 0 where there is no edge."""
    trees = borrowed_trees(trees)
    priors = np.zeros((len(games), num_actions), np.float32)
    for i in range(len(games)):
        game = games[i]
        for edge in all_edges(trees, game, 0):
            priors[i, trees.children_actions[game, edge]] = trees.children_priors[game, edge]
    return priors


@njit(cache=True)
def set_root_priors(trees, games, priors):
    """Give the roots' edges the priors float32 `[n, A]`, such as those with noise."""
    trees = borrowed_trees(trees)
    for i in range(len(games)):
        game = games[i]
        for edge in all_edges(trees, game, 0):
            trees.children_priors[game, edge] = priors[i, trees.children_actions[game, edge]]
        move_best_unvisited_first(trees, game, 0)


@njit(cache=True)
def set_simulations_left(trees, params, games):
    """Set how many simulations the roots of some games lack: none where they are proven."""
    trees, params = borrowed_trees(trees), borrowed_params(params)
    trees.root_simulations_left[:] = 0
    for game in games:
        outcome, visits = trees.root_outcomes[game], 0
        if outcome == WON or (outcome == LOST and params.rules.reward == SPARSE):
            continue
        for edge in visited_edges(trees, game, 0):
            visits += trees.children_visits[game, edge]
        trees.root_simulations_left[game] = max(params.selection.simulations - visits, 0)
