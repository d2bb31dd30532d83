"""Gumbel MuZero at the root: moves drawn without replacement, and sequential halving among them.

docs/design.md gives the formulas. Source: Danihelka, Guez, Schrittwieser and Silver, "Policy
improvement by planning with Gumbel", ICLR 2022, sections 3 and 4, Algorithm 2 (halving) and
appendix D (the mixed value).
"""

from __future__ import annotations

import numpy as np

from sudoku_agents.calphazero.search.config import borrowed_params
from sudoku_agents.calphazero.search.selection import is_eligible, mixed_value, qvalue
from sudoku_agents.calphazero.search.tree import borrowed_trees
from sudoku_gym.compiler.jit import inlined, njit

# mypy: disable-error-code="no-untyped-def"

# columns of `Trees.root_halving`: how many visits the next move has had so far; how many moves are
# left in this round; how many rounds in this phase; how many moves take part; how many did at first
NUM_VISITS, MOVES_LEFT, ROUNDS_LEFT, CONSIDERED, FIRST_CONSIDERED = range(5)

SMALLEST_PRIOR = np.float32(np.finfo(np.float32).tiny)  # a prior of 0 has no logit


@njit(cache=True)
def start_halving(trees, params, games, noise):
    """Sort the edges of some roots by g + logits, and begin the sequential halving among them.

    `noise` float64 `[n, N**3]` holds the Gumbel variables g of the games int64 `[n]`.
    """
    trees, params = borrowed_trees(trees), borrowed_params(params)
    for i in range(len(games)):
        game = games[i]
        first, count = trees.node_first_edge[game, 0], trees.node_num_edges[game, 0]
        for edge in range(first, first + count):
            prior = max(trees.children_priors[game, edge], SMALLEST_PRIOR)
            trees.children_priors[game, edge] = prior
        actions = trees.children_actions[game, first : first + count].copy()
        priors = trees.children_priors[game, first : first + count].copy()
        scores = np.empty(count, np.float64)
        for j in range(count):
            scores[j] = noise[i, actions[j]] + np.log(np.float64(priors[j]))
        order = np.argsort(-scores, kind="mergesort")
        for j in range(count):
            trees.children_actions[game, first + j] = actions[order[j]]
            trees.children_priors[game, first + j] = priors[order[j]]
            trees.root_scores[game, j] = scores[order[j]]
        considered = min(params.selection.considered, count)
        halving = trees.root_halving
        halving[game, FIRST_CONSIDERED] = considered
        halving[game, CONSIDERED] = considered
        halving[game, NUM_VISITS] = 0
        halving[game, MOVES_LEFT] = considered
        halving[game, ROUNDS_LEFT] = _num_rounds(considered, considered, params.selection)


@inlined
def _num_rounds(considered, first, selection):
    """Return how often each move is simulated in a phase (Danihelka et al., Algorithm 2)."""
    phases, reached = 0, 1
    while reached < first:
        phases, reached = phases + 1, 2 * reached
    return max(1, selection.simulations // max(1, phases * considered))


@inlined
def _next_round(trees, game, selection):
    halving = trees.root_halving
    halving[game, NUM_VISITS] += 1
    halving[game, ROUNDS_LEFT] -= 1
    if halving[game, ROUNDS_LEFT] == 0:
        first = halving[game, FIRST_CONSIDERED]
        halving[game, CONSIDERED] = max(min(2, first), halving[game, CONSIDERED] // 2)
        halving[game, ROUNDS_LEFT] = _num_rounds(halving[game, CONSIDERED], first, selection)
    halving[game, MOVES_LEFT] = halving[game, CONSIDERED]


@inlined
def select_gumbel_root(trees, game, selection):
    """Return the root's edge that sequential halving visits next, or -1 if all are refuted.

    The moves that take part in a round are those with the highest scores among all that have had
    as many simulations as the round before gave, so no list of them is kept.
    """
    first, num_visited = trees.node_first_edge[game, 0], trees.node_num_visited[game, 0]
    halving = trees.root_halving
    _, _, most = mixed_value(trees, game, 0, selection)
    if most == 0 and num_visited == trees.node_num_edges[game, 0]:
        return -1
    scale = (selection.c_visit + most) * selection.c_scale
    while True:
        if halving[game, MOVES_LEFT] == 0:
            _next_round(trees, game, selection)
        # where all that took part are refuted, those that fell out or were not considered go on
        halving[game, NUM_VISITS] = min(halving[game, NUM_VISITS], most)
        level, best, best_score = halving[game, NUM_VISITS], -1, -np.inf
        for edge in range(first, first + num_visited):
            if is_eligible(trees, game, 0, edge) and trees.children_visits[game, edge] == level:
                score = trees.root_scores[game, edge - first]
                score += scale * qvalue(trees, game, edge, selection)
                if score > best_score:
                    best, best_score = edge, score
        if level == 0 and num_visited < trees.node_num_edges[game, 0]:
            best = first + num_visited
        if best >= 0:
            halving[game, MOVES_LEFT] -= 1
            return best
        halving[game, MOVES_LEFT] = 0


@inlined
def write_gumbel_weights(trees, game, selection, priors, solved, weights, scores):
    """Write the improved policy, not yet divided by its sum, and what the move is chosen by.

    A move can be chosen if no other one was simulated more often (Algorithm 2), or if it wins.
    """
    first, num_visited = trees.node_first_edge[game, 0], trees.node_num_visited[game, 0]
    mixed, _, most = mixed_value(trees, game, 0, selection)
    scale = (selection.c_visit + most) * selection.c_scale
    top = mixed
    for edge in range(first, first + num_visited):
        if is_eligible(trees, game, 0, edge):
            top = max(top, qvalue(trees, game, edge, selection))
    for j in range(trees.node_num_edges[game, 0]):
        edge, value, visits = first + j, mixed, 0
        if j < num_visited:
            if not is_eligible(trees, game, 0, edge):
                continue
            value, visits = qvalue(trees, game, edge, selection), trees.children_visits[game, edge]
        action = trees.children_actions[game, edge]
        weights[action] = priors[action] * np.exp(scale * (value - top))
        if visits == most or solved[action]:
            scores[action] = trees.root_scores[game, j] + scale * value
