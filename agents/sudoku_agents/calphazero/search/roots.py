"""The roots of the trees: where a search begins, what it keeps of the one before, its results.

What is refuted above a board still is refuted at it, and a solved board that it agrees with can
still be reached.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.calphazero.search.config import GUMBEL, borrowed_params
from sudoku_agents.calphazero.search.proofs import LOST, UNPROVEN, WON, is_proven_lost, mark_lost
from sudoku_agents.calphazero.search.selection import SMALLEST_PRIOR, write_gumbel_weights
from sudoku_agents.calphazero.search.tree import (
    NUM_EDGES,
    NUM_NODES,
    add_node,
    all_edges,
    borrowed_trees,
    is_eligible,
    visited_edges,
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


@dataclass(frozen=True)
class SearchOutput:
    """Results of a search at B roots."""

    visit_counts: NDArray[np.int32]
    """`[B, N**3]`, how often each action was simulated"""
    values: NDArray[np.float32]
    """`[B]`, what the root is worth: the mean over the simulations; 1 or 0 where it is proven"""
    solved: NDArray[np.bool_]
    """`[B, N**3]`, actions that are proven to win"""
    refuted: NDArray[np.bool_]
    """`[B, N**3]`, legal actions after which the board can't be solved any more"""
    solutions: NDArray[np.int8]
    """`[B, N, N]`, the solved board that was met, zeros where there is none"""
    action_weights: NDArray[np.float32]
    """`[B, N**3]`, rows sum to 1: the improved policy, which a network learns. PUCT: visit counts
    as shares. Gumbel: the softmax of logits + sigma(completed Q). Refuted actions have no share,
    and where a win is proven, or no visit counts, it is the network's policy among the actions that
    win, or are left"""
    scores: NDArray[np.float32]
    """`[B, N**3]`, see `best_actions`"""

    def best_actions(self) -> NDArray[np.int64]:
        """The actions to play, int64 `[B]`: among those proven to win, or all, the best.

        The best is the one most visited (PUCT), the winner of the sequential halving (Gumbel), or
        with one constraint a node the one with the highest weight.
        """
        is_solved = self.solved.any(1, keepdims=True) & ~self.solved
        return np.where(is_solved, -np.inf, self.scores).argmax(1)


@njit(cache=True)
def root_results(trees, params, games, priors, masks):
    """Return the arrays of a `SearchOutput` at the roots of games int64 `[n]`, the boards flat.

    Priors float32 `[n, N**3]` are the network's, without noise; masks bool of that shape.
    """
    trees, params = borrowed_trees(trees), borrowed_params(params)
    selection, is_sparse = params.selection, params.rules.reward == SPARSE
    count, num_actions = masks.shape
    visit_counts = np.zeros((count, num_actions), np.int32)
    values = np.zeros(count, np.float32)
    solved = np.zeros((count, num_actions), np.bool_)
    refuted = np.zeros((count, num_actions), np.bool_)
    solutions = np.zeros((count, params.sizes.num_cells), np.int8)
    weights = np.zeros((count, num_actions), np.float32)
    scores = np.full((count, num_actions), -np.inf, np.float32)
    size = params.sizes.size
    for i in range(count):
        game = games[i]
        visited, outcome = visited_edges(trees, game, 0), trees.root_outcomes[game]
        if len(trees.node_unrefuted) > 0:
            b = game * trees.node_exact_values.shape[1]
            for action in range(num_actions):
                if masks[i, action]:
                    is_left = outcome != LOST and is_unrefuted(trees, b, action, params.sizes)
                    refuted[i, action] = not is_left
                    if outcome == WON:
                        cell, digit = divmod(action, size)
                        solved[i, action] = trees.root_solutions[game, cell] == digit + 1
        if outcome == WON:
            solutions[i] = trees.root_solutions[game]
        for edge in all_edges(trees, game, 0):
            action, is_visited = trees.children_actions[game, edge], edge < visited.stop
            if is_visited:  # what is found out of an edge is not written before
                visit_counts[i, action] = trees.children_visits[game, edge]
                solved[i, action] |= trees.children_outcomes[game, edge] == WON
        values[i] = _root_value(trees, game, outcome, is_sparse)
        if selection.rule == GUMBEL:
            write_gumbel_weights(
                trees, game, selection, priors[i], solved[i], refuted[i], weights[i], scores[i]
            )
        else:
            for edge in visited:
                if is_eligible(trees, game, 0, edge):
                    action = trees.children_actions[game, edge]
                    weights[i, action] = trees.children_visits[game, edge]
        total = 0.0
        for action in range(num_actions):
            total += weights[i, action]
        if outcome == WON or (outcome == LOST and is_sparse) or total == 0:
            total = _use_priors(outcome, priors[i], masks[i], solved[i], refuted[i], weights[i])
        for action in range(num_actions):
            weights[i, action] = weights[i, action] / total
        if selection.rule != GUMBEL or selection.one_constraint:
            scores[i] = weights[i]
    return visit_counts, values, solved, refuted, solutions, weights, scores


@inlined
def _root_value(trees, game, outcome, is_sparse):
    if outcome == WON:
        return np.float32(1)
    if outcome == LOST and is_sparse:
        return np.float32(0)
    total, visits = np.float32(0), 0
    for edge in visited_edges(trees, game, 0):
        total += trees.children_values[game, edge]
        visits += trees.children_visits[game, edge]
    return np.float32(total / visits) if visits > 0 else trees.node_raw_values[game, 0]


@inlined
def _use_priors(outcome, priors, masks, solved, refuted, weights):
    """Write the priors of the actions that win, or are left, or of all at a lost root; sum them."""
    total = 0.0
    weights[:] = 0
    for action in range(len(masks)):
        is_used = solved[action] if outcome == WON else outcome == LOST or not refuted[action]
        if masks[action] and is_used:
            weights[action] = max(priors[action], SMALLEST_PRIOR)
            total += weights[action]
    return total
