"""Gumbel MuZero at the root: moves drawn without replacement, and sequential halving among them.

A root draws a Gumbel variable g for each move and considers the `considered` moves with the largest
g + logits: a sample without replacement from the network's policy. Sequential halving then shares
the simulations: in each of log2(considered) phases all moves considered are simulated equally
often, and the better half by g + logits + sigma(q) goes on. With as few as two simulations the move
that is found improves on the policy in expectation. Without a generator all g are 0.

    sigma(q) = (c_visit + most visits of a move) * c_scale * q

Values lie in [0, 1] as they are, so nothing is rescaled. A move that was not simulated takes the
mixed value of equation 33 for its q, the *completed* Q; the policy to learn is the softmax of
logits + sigma(completed Q). A move that is refuted (see `proofs`) is dropped, and if all that were
considered are, the next ones take their place.

Source: Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel",
ICLR 2022, sections 3 and 4, Algorithm 2 (halving) and appendix D (the mixed value).
"""

from __future__ import annotations

import numpy as np

from sudoku_agents.alphazero.search.selection import Scoring, counts_at, mixed_value, value_of
from sudoku_agents.alphazero.search.tree import borrowed_trees
from sudoku_gym.compiler.jit import inlined, njit

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

# columns of `Trees.halving`: how many visits the next move shall have so far; how many moves are
# left in this round; how many rounds in this phase; how many moves take part; how many did at first
LEVEL, PICKS, ROUNDS, CONSIDERED, FIRST = range(5)

SMALLEST = np.float32(np.finfo(np.float32).tiny)


@inlined
def start_halving(trees, game, noise, i, scoring):
    """Put the root's edges in the order of g + logits, with g in `noise[i]`, and begin to halve."""
    first, count = trees.first_edge[game, 0], trees.num_edges[game, 0]
    for edge in range(first, first + count):  # there are priors of 0, and no logits of theirs
        trees.prior[game, edge] = max(trees.prior[game, edge], SMALLEST)
    actions = trees.action[game, first : first + count].copy()
    priors = trees.prior[game, first : first + count].copy()
    scores = np.empty(count, np.float64)
    for j in range(count):
        scores[j] = noise[i, actions[j]] + np.log(np.float64(priors[j]))
    order = np.argsort(-scores, kind="mergesort")
    for j in range(count):
        trees.action[game, first + j] = actions[order[j]]
        trees.prior[game, first + j] = priors[order[j]]
        trees.root_score[game, j] = scores[order[j]]
    considered = min(scoring.considered, count)
    trees.halving[game, FIRST] = considered
    trees.halving[game, CONSIDERED] = considered
    trees.halving[game, LEVEL] = 0
    trees.halving[game, PICKS] = considered
    trees.halving[game, ROUNDS] = _rounds(considered, considered, scoring)


@inlined
def _rounds(considered, first, scoring):
    """Return how often each move is simulated in a phase (Danihelka et al., Algorithm 2)."""
    phases, reached = 0, 1
    while reached < first:
        phases, reached = phases + 1, 2 * reached
    return max(1, scoring.simulations // max(1, phases * considered))


@inlined
def _next_round(trees, game, scoring):
    halving = trees.halving
    halving[game, LEVEL] += 1
    halving[game, ROUNDS] -= 1
    if halving[game, ROUNDS] == 0:
        first = halving[game, FIRST]
        halving[game, CONSIDERED] = max(min(2, first), halving[game, CONSIDERED] // 2)
        halving[game, ROUNDS] = _rounds(halving[game, CONSIDERED], first, scoring)
    halving[game, PICKS] = halving[game, CONSIDERED]


@inlined
def select_at_root(trees, game, scoring):
    """Return the root's edge that sequential halving tries next, or -1 if all are refuted.

    The moves that take part in a round are those with the highest scores among all that have had
    as many simulations as the round before gave, so no list of them is kept.
    """
    first, tried = trees.first_edge[game, 0], trees.num_tried[game, 0]
    _, _, most = mixed_value(trees, game, 0, scoring)
    if most == 0 and tried == trees.num_edges[game, 0]:
        return -1
    scale = (scoring.c_visit + most) * scoring.c_scale
    # where all that took part are refuted, those that fell out or were not considered go on
    trees.halving[game, LEVEL] = min(trees.halving[game, LEVEL], most)
    while True:
        if trees.halving[game, PICKS] == 0:
            _next_round(trees, game, scoring)
        level, best, best_score = trees.halving[game, LEVEL], -1, -np.inf
        for edge in range(first, first + tried):
            if counts_at(trees, game, 0, edge) and trees.visits[game, edge] == level:
                score = trees.root_score[game, edge - first]
                score += scale * value_of(trees, game, edge, scoring)
                if score > best_score:
                    best, best_score = edge, score
        if level == 0 and tried < trees.num_edges[game, 0]:
            best = first + tried
        if best >= 0:
            trees.halving[game, PICKS] -= 1
            return best
        trees.halving[game, PICKS] = 0


@inlined
def read_root(trees, game, priors, i, scoring, solved, improved, scores):
    """Write the improved policy, not yet divided by its sum, and what the move is chosen by.

    A move can be chosen if no other one was simulated more often (Algorithm 2), or if it wins.
    """
    first, tried = trees.first_edge[game, 0], trees.num_tried[game, 0]
    mixed, _, most = mixed_value(trees, game, 0, scoring)
    scale = (scoring.c_visit + most) * scoring.c_scale
    top = mixed
    for edge in range(first, first + tried):
        if counts_at(trees, game, 0, edge):
            top = max(top, value_of(trees, game, edge, scoring))
    for j in range(trees.num_edges[game, 0]):
        edge, value, visits = first + j, mixed, 0
        if j < tried:
            if not counts_at(trees, game, 0, edge):
                continue
            value, visits = value_of(trees, game, edge, scoring), trees.visits[game, edge]
        action = trees.action[game, edge]
        improved[i, action] = priors[i, action] * np.exp(scale * (value - top))
        if visits == most or solved[i, action]:
            scores[i, action] = trees.root_score[game, j] + scale * value


@njit(cache=True)
def start(trees, games, noise, scoring):
    """Begin a search at the roots of some games.

    Args:
        trees: the trees.
        games: int64 `[n]`.
        noise: float64 `[n, N**3]`, the Gumbel variables.
        scoring: see `selection.Scoring`.
    """
    trees, scoring = borrowed_trees(trees), Scoring(*scoring)
    for i in range(len(games)):
        start_halving(trees, games[i], noise, i, scoring)
