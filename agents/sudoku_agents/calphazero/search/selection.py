"""Selection of the edge that a simulation takes: PUCT, or Gumbel MuZero.

A refuted edge (see `proofs`) is as one that is not allowed: it is never chosen, and neither its
visits nor its value count. At a lost node, where every edge is refuted, all of them count again.

Gumbel MuZero draws moves of the root without replacement, with sequential halving among them;
docs/design.md gives the formulas. Sources: cAlphaZero (Agarwal et al.), equation 1; Danihelka,
Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel", ICLR 2022, sections 3
and 4, Algorithm 2 (halving) and appendix D (the mixed value).
"""

from __future__ import annotations

import numpy as np

from sudoku_agents.calphazero.search.config import GUMBEL, borrowed_params
from sudoku_agents.calphazero.search.tree import (
    add_visited_child,
    all_edges,
    borrowed_trees,
    is_eligible,
    move_best_unvisited_first,
    qvalue,
    visited_edges,
)
from sudoku_gym.compiler.jit import inlined, njit

# mypy: disable-error-code="no-untyped-def"

# columns of `Trees.root_halving`: how many visits the next move has had so far; how many moves are
# left in this round; how many rounds in this phase; how many moves take part; how many did at first
NUM_VISITS, MOVES_LEFT, ROUNDS_LEFT, CONSIDERED, FIRST_CONSIDERED = range(5)

SMALLEST_PRIOR = np.float32(np.finfo(np.float32).tiny)  # a prior of 0 has no logit


@inlined
def select_edge(trees, game, node, selection):
    """Return the edge to take, which counts as visited from now on, or -1."""
    if selection.rule != GUMBEL:
        edge = select_puct(trees, game, node, selection)
    elif node == 0:
        edge = select_gumbel_root(trees, game, selection)
    else:
        edge = select_gumbel(trees, game, node, selection)
    if edge == visited_edges(trees, game, node).stop:
        add_visited_child(trees, game, node, edge)
        if node > 0 or selection.rule != GUMBEL:  # Gumbel's roots are sorted by `start_halving`
            move_best_unvisited_first(trees, game, node)
    return edge


@inlined
def select_puct(trees, game, node, selection):
    """Return the edge with the highest upper confidence bound (cAlphaZero, equation 1), or -1.

    The first visit takes sqrt(1) for the sum of visits, so that the prior decides it.
    """
    visited, visits = visited_edges(trees, game, node), 0
    for edge in visited:
        if is_eligible(trees, game, node, edge):
            visits += trees.children_visits[game, edge]
    exploration = selection.c_puct * np.sqrt(max(visits, 1))
    best, best_score = -1, -np.inf
    for edge in visited:
        if is_eligible(trees, game, node, edge):
            share = exploration * trees.children_priors[game, edge]
            score = share / (1 + trees.children_visits[game, edge])
            score += qvalue(trees, game, edge)
            if score > best_score:
                best, best_score = edge, score
    unvisited = visited.stop
    if unvisited < all_edges(trees, game, node).stop:
        score = exploration * trees.children_priors[game, unvisited] + selection.unvisited_bonus
        if score > best_score:
            best = unvisited
    return best


@njit(cache=True)
def start_halving(trees, params, games, noise):
    """Sort the edges of some roots by g + logits, and begin the sequential halving among them.

    `noise` float64 `[n, N**3]` holds the Gumbel variables g of the games int64 `[n]`.
    """
    trees, params = borrowed_trees(trees), borrowed_params(params)
    for i in range(len(games)):
        game = games[i]
        edges = all_edges(trees, game, 0)
        first, count = edges.start, len(edges)
        actions = trees.children_actions[game, first : edges.stop].copy()
        priors = np.maximum(trees.children_priors[game, first : edges.stop], SMALLEST_PRIOR)
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
    visited, halving = visited_edges(trees, game, 0), trees.root_halving
    has_unvisited = visited.stop < all_edges(trees, game, 0).stop
    _, _, scale, _, most = completed_values(trees, game, 0, selection)
    if most == 0 and not has_unvisited:
        return -1
    while True:
        if halving[game, MOVES_LEFT] == 0:
            _next_round(trees, game, selection)
        # where all that took part are refuted, those that fell out or were not considered go on
        halving[game, NUM_VISITS] = min(halving[game, NUM_VISITS], most)
        level, best, best_score = halving[game, NUM_VISITS], -1, -np.inf
        for edge in visited:
            if is_eligible(trees, game, 0, edge) and trees.children_visits[game, edge] == level:
                score = trees.root_scores[game, edge - visited.start]
                score += scale * qvalue(trees, game, edge)
                if score > best_score:
                    best, best_score = edge, score
        if level == 0 and has_unvisited:
            best = visited.stop
        if best >= 0:
            halving[game, MOVES_LEFT] -= 1
            return best
        halving[game, MOVES_LEFT] = 0


@inlined
def write_gumbel_weights(trees, game, selection, priors, solved, refuted, weights, scores):
    """Write the improved policy, not yet divided by its sum, and what the move is chosen by.

    A move can be chosen if no other one was simulated more often (Algorithm 2), or if it wins.
    """
    visited = visited_edges(trees, game, 0)
    mixed, top, scale, _, most = completed_values(trees, game, 0, selection)
    if selection.one_constraint:  # the moves of the others were not visited either
        for action in range(len(priors)):
            if not refuted[action]:
                weights[action] = priors[action] * np.exp(scale * (mixed - top))
    for edge in all_edges(trees, game, 0):
        value, visits = mixed, 0
        if edge < visited.stop:
            if not is_eligible(trees, game, 0, edge):
                continue
            value, visits = qvalue(trees, game, edge), trees.children_visits[game, edge]
        action = trees.children_actions[game, edge]
        weights[action] = priors[action] * np.exp(scale * (value - top))
        if visits == most or solved[action]:
            scores[action] = trees.root_scores[game, edge - visited.start] + scale * value


@inlined
def completed_values(trees, game, node, selection):
    """Return the value of unvisited edges, the highest, sigma's factor, and all and most visits.

    The first is the mixed value (Danihelka et al., equation 33).
    """
    visits, most, mass, weighted, top = 0, 0, 0.0, 0.0, -np.inf
    for edge in visited_edges(trees, game, node):
        if is_eligible(trees, game, node, edge):
            value = qvalue(trees, game, edge)
            visits += trees.children_visits[game, edge]
            most = max(most, trees.children_visits[game, edge])
            mass += trees.children_priors[game, edge]
            weighted += trees.children_priors[game, edge] * value
            top = max(top, value)
    mixed = np.float64(trees.node_raw_values[game, node])
    if mass > 0:
        mixed = (mixed + visits * (weighted / mass)) / (1 + visits)
    scale = (selection.c_visit + most) * selection.c_scale
    return mixed, max(mixed, top), scale, visits, most


@inlined
def select_gumbel(trees, game, node, selection):
    """Return the edge whose share of visits lags most behind the improved policy, or -1.

    The rule for nodes below the root (Danihelka et al., equation 14): the improved policy is the
    softmax of logits + sigma(completed Q), and the edge has the highest pi(a) - N(a) / (1 + sum N).
    """
    visited = visited_edges(trees, game, node)
    mixed, top, scale, visits, _ = completed_values(trees, game, node, selection)
    unvisited_mass = np.float64(trees.node_prior_sums[game, node])
    for edge in visited:
        unvisited_mass -= trees.children_priors[game, edge]
    weight = np.exp(scale * (mixed - top))
    total = max(unvisited_mass, 0.0) * weight
    for edge in visited:
        if is_eligible(trees, game, node, edge):
            value = qvalue(trees, game, edge)
            total += trees.children_priors[game, edge] * np.exp(scale * (value - top))
    total = max(total, 1e-300)
    best, best_score = -1, -np.inf
    for edge in visited:
        if is_eligible(trees, game, node, edge):
            value = qvalue(trees, game, edge)
            score = trees.children_priors[game, edge] * np.exp(scale * (value - top)) / total
            score -= trees.children_visits[game, edge] / (1 + visits)
            if score > best_score:
                best, best_score = edge, score
    if visited.stop < all_edges(trees, game, node).stop:
        if trees.children_priors[game, visited.stop] * weight / total > best_score:
            best = visited.stop
    return best
