"""Which edge of a node a simulation follows: PUCT, or the rule of Gumbel MuZero.

A refuted edge (see `proofs`) is as one that is not allowed: it is never chosen, and neither its
visits nor its value count. At a lost node, where every edge is refuted, all of them count again.

Sources: cAlphaZero (Agarwal et al.), equation 1; Danihelka, Guez, Schrittwieser and Silver,
"Policy improvement by planning with Gumbel", ICLR 2022.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sudoku_agents.alphazero.search.proofs import LOST
from sudoku_gym.compiler.jit import inlined

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


class Scoring(NamedTuple):
    """What the kernels know of a `SearchConfig`.

    Attributes:
        gumbel: whether the root, and so the whole tree, follows Gumbel MuZero.
        takes_best: whether an edge is worth the best value below it, not the mean.
        simulations: at a root.
        c_puct: see `SearchConfig`, as what follows.
        unvisited_bonus: likewise.
        considered: likewise.
        c_visit: likewise.
        c_scale: likewise.
    """

    gumbel: bool
    takes_best: bool
    simulations: int
    c_puct: float
    unvisited_bonus: float
    considered: int
    c_visit: float
    c_scale: float


@inlined
def counts_at(trees, game, node, edge):
    """Return whether a tried edge is not refuted, or its node is lost anyway."""
    return (trees.status[game, edge] != LOST) | trees.lost[game, node]


@inlined
def value_of(trees, game, edge, scoring):
    """Return what a tried edge is worth."""
    if scoring.takes_best:
        return np.float64(trees.total[game, edge])
    return trees.total[game, edge] / trees.visits[game, edge]


@inlined
def best_value(trees, game, node):
    """Return the best value of a node's edges where each holds the best below it.

    A node none of whose tried edges counts is worth what the network says.
    """
    if not np.isnan(trees.end_value[game, node]):
        return trees.end_value[game, node]
    first, best = trees.first_edge[game, node], np.float32(-np.inf)
    for edge in range(first, first + trees.num_tried[game, node]):
        if counts_at(trees, game, node, edge):
            best = max(best, trees.total[game, edge])
    return best if best > -np.inf else trees.value[game, node]


@inlined
def select_puct(trees, game, node, scoring):
    """Return the edge with the highest upper confidence bound (cAlphaZero, equation 1), or -1.

    The first visit takes sqrt(1) for the sum of visits, so that the prior decides it.
    """
    first, tried = trees.first_edge[game, node], trees.num_tried[game, node]
    visits = 0
    for edge in range(first, first + tried):
        if counts_at(trees, game, node, edge):
            visits += trees.visits[game, edge]
    exploration = scoring.c_puct * np.sqrt(max(visits, 1))
    best, best_score = -1, -np.inf
    for edge in range(first, first + tried):
        if counts_at(trees, game, node, edge):
            score = exploration * trees.prior[game, edge] / (1 + trees.visits[game, edge])
            score += value_of(trees, game, edge, scoring)
            if score > best_score:
                best, best_score = edge, score
    if tried < trees.num_edges[game, node]:
        score = exploration * trees.prior[game, first + tried] + scoring.unvisited_bonus
        if score > best_score:
            best = first + tried
    return best


@inlined
def mixed_value(trees, game, node, scoring):
    """Return what untried edges are taken to be worth (Danihelka et al., equation 33).

    Returns:
        the value, the sum of all visits, and the most visits of an edge.
    """
    first = trees.first_edge[game, node]
    visits, most, mass, weighted = 0, 0, 0.0, 0.0
    for edge in range(first, first + trees.num_tried[game, node]):
        if counts_at(trees, game, node, edge):
            visits += trees.visits[game, edge]
            most = max(most, trees.visits[game, edge])
            mass += trees.prior[game, edge]
            weighted += trees.prior[game, edge] * value_of(trees, game, edge, scoring)
    value = np.float64(trees.value[game, node])
    if mass > 0:
        value = (value + visits * (weighted / mass)) / (1 + visits)
    return value, visits, most


@inlined
def select_gumbel(trees, game, node, scoring):
    """Return the edge whose share of visits lags most behind the improved policy, or -1.

    The rule for nodes below the root (Danihelka et al., equation 14): the improved policy is the
    softmax of logits + sigma(completed Q), and the edge has the highest pi(a) - N(a) / (1 + sum N).
    """
    first, tried = trees.first_edge[game, node], trees.num_tried[game, node]
    mixed, visits, most = mixed_value(trees, game, node, scoring)
    scale = (scoring.c_visit + most) * scoring.c_scale
    top, untried = mixed, np.float64(trees.mass[game, node])
    for edge in range(first, first + tried):
        untried -= trees.prior[game, edge]
        if counts_at(trees, game, node, edge):
            top = max(top, value_of(trees, game, edge, scoring))
    weight = np.exp(scale * (mixed - top))
    total = max(untried, 0.0) * weight
    for edge in range(first, first + tried):
        if counts_at(trees, game, node, edge):
            value = value_of(trees, game, edge, scoring)
            total += trees.prior[game, edge] * np.exp(scale * (value - top))
    total = max(total, 1e-300)
    best, best_score = -1, -np.inf
    for edge in range(first, first + tried):
        if counts_at(trees, game, node, edge):
            value = value_of(trees, game, edge, scoring)
            score = trees.prior[game, edge] * np.exp(scale * (value - top)) / total
            score -= trees.visits[game, edge] / (1 + visits)
            if score > best_score:
                best, best_score = edge, score
    if tried < trees.num_edges[game, node]:
        if trees.prior[game, first + tried] * weight / total > best_score:
            best = first + tried
    return best
