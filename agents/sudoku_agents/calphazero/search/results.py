"""Results of a search, computed at the roots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.calphazero.search.config import GUMBEL, borrowed_params
from sudoku_agents.calphazero.search.proofs import LOST, WON
from sudoku_agents.calphazero.search.roots import is_unrefuted
from sudoku_agents.calphazero.search.selection import SMALLEST_PRIOR, write_gumbel_weights
from sudoku_agents.calphazero.search.tree import (
    all_edges,
    borrowed_trees,
    is_eligible,
    visited_edges,
)
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.kernels.endings import SPARSE

# mypy: disable-error-code="no-untyped-def"


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
