"""Selection of the edge that a simulation takes, by the rule of `SearchConfig.root`.

A refuted edge (see `proofs`) is as one that is not allowed: it is never chosen, and neither its
visits nor its value count. At a lost node, where every edge is refuted, all of them count again.
"""

from __future__ import annotations

import numpy as np

from sudoku_agents.calphazero.search.config import GUMBEL
from sudoku_agents.calphazero.search.gumbel import select_gumbel, select_gumbel_root
from sudoku_agents.calphazero.search.tree import (
    add_visited_child,
    all_edges,
    is_eligible,
    move_best_unvisited_first,
    qvalue,
    visited_edges,
)
from sudoku_gym.compiler.jit import inlined

# mypy: disable-error-code="no-untyped-def"


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
