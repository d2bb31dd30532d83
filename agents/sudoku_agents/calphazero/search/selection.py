"""Selection of an edge at a node: PUCT, or the rule of Gumbel MuZero.

A refuted edge (see `proofs`) is as one that is not allowed: it is never chosen, and neither its
visits nor its value count. At a lost node, where every edge is refuted, all of them count again.

Sources: cAlphaZero (Agarwal et al.), equation 1; Danihelka, Guez, Schrittwieser and Silver,
"Policy improvement by planning with Gumbel", ICLR 2022.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from sudoku_agents.calphazero.search.proofs import LOST
from sudoku_gym.compiler.jit import inlined

# mypy: disable-error-code="no-untyped-def"

Rule: TypeAlias = Literal["puct", "gumbel"]
"""How an edge is chosen; `simulation.select_edge` has a branch for each."""
RULES: tuple[Rule, ...] = get_args(Rule)
GUMBEL = RULES.index("gumbel")


@inlined
def is_eligible(trees, game, node, edge):
    """Return whether a visited edge is not refuted, or its node is lost anyway."""
    return (trees.children_outcomes[game, edge] != LOST) | trees.node_is_lost[game, node]


@inlined
def qvalue(trees, game, edge, selection):
    """Return what a visited edge is worth."""
    if selection.takes_best:
        return np.float64(trees.children_values[game, edge])
    return trees.children_values[game, edge] / trees.children_visits[game, edge]


@inlined
def best_value(trees, game, node):
    """Return the best value of a node's edges where each holds the best below it.

    A node without an eligible edge is worth what the network says.
    """
    if not np.isnan(trees.node_exact_values[game, node]):
        return trees.node_exact_values[game, node]
    first, best = trees.node_first_edge[game, node], np.float32(-np.inf)
    for edge in range(first, first + trees.node_num_visited[game, node]):
        if is_eligible(trees, game, node, edge):
            best = max(best, trees.children_values[game, edge])
    return best if best > -np.inf else trees.node_raw_values[game, node]


@inlined
def select_puct(trees, game, node, selection):
    """Return the edge with the highest upper confidence bound (cAlphaZero, equation 1), or -1.

    The first visit takes sqrt(1) for the sum of visits, so that the prior decides it.
    """
    first, num_visited = (
        trees.node_first_edge[game, node],
        trees.node_num_visited[game, node],
    )
    visits = 0
    for edge in range(first, first + num_visited):
        if is_eligible(trees, game, node, edge):
            visits += trees.children_visits[game, edge]
    exploration = selection.c_puct * np.sqrt(max(visits, 1))
    best, best_score = -1, -np.inf
    for edge in range(first, first + num_visited):
        if is_eligible(trees, game, node, edge):
            score = (
                exploration
                * trees.children_priors[game, edge]
                / (1 + trees.children_visits[game, edge])
            )
            score += qvalue(trees, game, edge, selection)
            if score > best_score:
                best, best_score = edge, score
    if num_visited < trees.node_num_edges[game, node]:
        score = (
            exploration * trees.children_priors[game, first + num_visited]
            + selection.unvisited_bonus
        )
        if score > best_score:
            best = first + num_visited
    return best


@inlined
def mixed_value(trees, game, node, selection):
    """Return the worth of unvisited edges (Danihelka et al., equation 33), all and most visits."""
    first = trees.node_first_edge[game, node]
    visits, most, mass, weighted = 0, 0, 0.0, 0.0
    for edge in range(first, first + trees.node_num_visited[game, node]):
        if is_eligible(trees, game, node, edge):
            visits += trees.children_visits[game, edge]
            most = max(most, trees.children_visits[game, edge])
            mass += trees.children_priors[game, edge]
            weighted += trees.children_priors[game, edge] * qvalue(trees, game, edge, selection)
    value = np.float64(trees.node_raw_values[game, node])
    if mass > 0:
        value = (value + visits * (weighted / mass)) / (1 + visits)
    return value, visits, most


@inlined
def select_gumbel(trees, game, node, selection):
    """Return the edge whose share of visits lags most behind the improved policy, or -1.

    The rule for nodes below the root (Danihelka et al., equation 14): the improved policy is the
    softmax of logits + sigma(completed Q), and the edge has the highest pi(a) - N(a) / (1 + sum N).
    """
    first, num_visited = (
        trees.node_first_edge[game, node],
        trees.node_num_visited[game, node],
    )
    mixed, visits, most = mixed_value(trees, game, node, selection)
    scale = (selection.c_visit + most) * selection.c_scale
    top, unvisited = mixed, np.float64(trees.node_prior_sums[game, node])
    for edge in range(first, first + num_visited):
        unvisited -= trees.children_priors[game, edge]
        if is_eligible(trees, game, node, edge):
            top = max(top, qvalue(trees, game, edge, selection))
    weight = np.exp(scale * (mixed - top))
    total = max(unvisited, 0.0) * weight
    for edge in range(first, first + num_visited):
        if is_eligible(trees, game, node, edge):
            value = qvalue(trees, game, edge, selection)
            total += trees.children_priors[game, edge] * np.exp(scale * (value - top))
    total = max(total, 1e-300)
    best, best_score = -1, -np.inf
    for edge in range(first, first + num_visited):
        if is_eligible(trees, game, node, edge):
            value = qvalue(trees, game, edge, selection)
            score = trees.children_priors[game, edge] * np.exp(scale * (value - top)) / total
            score -= trees.children_visits[game, edge] / (1 + visits)
            if score > best_score:
                best, best_score = edge, score
    if num_visited < trees.node_num_edges[game, node]:
        if trees.children_priors[game, first + num_visited] * weight / total > best_score:
            best = first + num_visited
    return best
