"""The search trees of G games as arrays named as in mctx: `node_*`, `children_*`, `root_*`.

Unlike in mctx, where a node has a slot for each action (`[G, M, A]`), the edges of all nodes of a
game share one flat axis, `[G, E]`.

Node 0 is the root; a node has a higher number than its parent. An edge is one placement that is
allowed at its node. The edges of a node lie next to each other: the visited ones in the order of
their first visits, then the unvisited one with the highest prior, then the rest. Under every
selection rule that one is the only unvisited candidate, so choosing an edge looks at the visited
ones and one more. (The root of Gumbel MuZero has its edges by score instead, see `selection`.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.calphazero.search.config import SearchConfig
from sudoku_agents.calphazero.search.proofs import LOST, UNPROVEN
from sudoku_gym.compiler.intrinsics import borrowed
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.geometry import Geometry
from sudoku_gym.kernels.layout import BoardState, new_state

# mypy: disable-error-code="no-untyped-def,call-arg"

NUM_NODES, NUM_EDGES = range(2)  # columns of `Trees.tree_size`


class Trees(NamedTuple):
    """The trees of G games of M nodes and E edges each; handed to the kernels as a plain tuple.

    Before an edge is visited, only its action and its prior are written.
    """

    # The positions, a `BoardState`: node m of game g has row `g * M + m`.
    node_states: tuple[NDArray[np.int8], NDArray[np.uint64], NDArray[np.int64]]
    # Candidates that are not refuted, `[G * M, K]`, in the K words of a board's candidates; without
    # proofs there are no rows.
    node_unrefuted: NDArray[np.uint64]
    node_first_edge: NDArray[np.int32]  # [G, M]
    node_num_edges: NDArray[np.int32]  # [G, M], 0 for a node that is not expanded
    node_num_visited: NDArray[np.int32]  # [G, M], edges that were visited, or are about to be
    # The reward at the end, `[G, M]`; 0 for a proven-lost node under sparse reward; else NaN.
    node_exact_values: NDArray[np.float32]
    node_raw_values: NDArray[np.float32]  # [G, M], the network's, of an expanded node
    node_prior_sums: NDArray[np.float32]  # [G, M], over the edges
    node_is_lost: NDArray[np.bool_]  # [G, M], whether the node is proven lost
    children_actions: NDArray[np.int32]  # [G, E], the placement
    children_priors: NDArray[np.float32]  # [G, E]
    children_visits: NDArray[np.int32]  # [G, E]
    children_values: NDArray[np.float32]  # [G, E], summed over the simulations (AlphaZero's W)
    children_index: NDArray[np.int32]  # [G, E], the node behind the edge, or -1
    children_outcomes: NDArray[np.int8]  # [G, E], UNPROVEN, WON or LOST
    tree_size: NDArray[np.int32]  # [G, 2], nodes and edges in use; none before the first search
    path_edges: NDArray[np.int32]  # [G, N**2 + 1], those of the simulation under way
    path_length: NDArray[np.int32]  # [G], 0 if there is no simulation under way
    root_simulations_left: NDArray[np.int32]  # [G]
    root_outcomes: NDArray[np.int8]  # [G], UNPROVEN, WON or LOST
    root_solutions: NDArray[np.int8]  # [G, N**2], the solved board that was met, if it is WON
    # g + logits of each edge, `[G, R]`, see `selection`; R is their largest number.
    root_scores: NDArray[np.float32]
    # Sequential halving, `[G, 5]`: NUM_VISITS, MOVES_LEFT, ROUNDS_LEFT, CONSIDERED and
    # FIRST_CONSIDERED of `selection`.
    root_halving: NDArray[np.int32]


def new_trees(games: int, geometry: Geometry, config: SearchConfig, max_legal: int) -> Trees:
    """Allocate empty trees for G games, whose roots have at most `max_legal` placements.

    A simulation adds at most one node, and a node never has more placements than the root, so the
    arrays are large enough for all simulations of a move.
    """
    nodes, edges = config.simulations + 1, (config.simulations + 1) * max_legal
    state = new_state(games * nodes, geometry, counted=config.actions == "blank")
    rows = games * nodes if config.proofs else 0
    return Trees(
        node_states=(state.rows, state.candidates, state.counts),
        node_unrefuted=np.empty((rows, state.candidates.shape[1]), np.uint64),
        node_first_edge=np.empty((games, nodes), np.int32),
        node_num_edges=np.empty((games, nodes), np.int32),
        node_num_visited=np.empty((games, nodes), np.int32),
        node_exact_values=np.empty((games, nodes), np.float32),
        node_raw_values=np.empty((games, nodes), np.float32),
        node_prior_sums=np.empty((games, nodes), np.float32),
        node_is_lost=np.empty((games, nodes), np.bool_),
        children_actions=np.empty((games, edges), np.int32),
        children_priors=np.empty((games, edges), np.float32),
        children_visits=np.empty((games, edges), np.int32),
        children_values=np.empty((games, edges), np.float32),
        children_index=np.empty((games, edges), np.int32),
        children_outcomes=np.empty((games, edges), np.int8),
        tree_size=np.zeros((games, 2), np.int32),
        path_edges=np.empty((games, geometry.num_cells + 1), np.int32),
        path_length=np.zeros(games, np.int32),
        root_simulations_left=np.zeros(games, np.int32),
        root_outcomes=np.zeros(games, np.int8),
        root_solutions=np.zeros((games, geometry.num_cells), np.int8),
        root_scores=np.empty((games, max_legal), np.float32),
        root_halving=np.empty((games, 5), np.int32),
    )


@njit(cache=True, inline="always")
def borrowed_trees(trees):
    """Return `Trees` without counts of references; the caller must hold the originals."""
    return Trees(BoardState(*borrowed(trees[0])), *borrowed(trees[1:]))


@inlined
def add_node(trees, game):
    """Return a node; its position, first edge, raw value and prior sum are left uninitialised."""
    node = trees.tree_size[game, NUM_NODES]
    trees.tree_size[game, NUM_NODES] = node + 1
    trees.node_num_edges[game, node] = 0
    trees.node_num_visited[game, node] = 0
    trees.node_exact_values[game, node] = np.nan
    trees.node_is_lost[game, node] = False
    return node


@inlined
def add_visited_child(trees, game, node, edge):
    """Initialise the statistics of the next unvisited edge of a node."""
    trees.children_visits[game, edge] = 0
    trees.children_values[game, edge] = 0.0
    trees.children_index[game, edge] = -1
    trees.children_outcomes[game, edge] = UNPROVEN
    trees.node_num_visited[game, node] += 1


@inlined
def move_best_unvisited_first(trees, game, node):
    """Move the unvisited edge with the highest prior before the others, which keep their order."""
    start = visited_edges(trees, game, node).stop
    best, best_prior = start, np.float32(-np.inf)
    for edge in range(start, all_edges(trees, game, node).stop):
        if trees.children_priors[game, edge] > best_prior:
            best, best_prior = edge, trees.children_priors[game, edge]
    if best == start:
        return
    action = trees.children_actions[game, best]
    for edge in range(best, start, -1):
        trees.children_actions[game, edge] = trees.children_actions[game, edge - 1]
        trees.children_priors[game, edge] = trees.children_priors[game, edge - 1]
    trees.children_actions[game, start], trees.children_priors[game, start] = action, best_prior


@inlined
def visited_edges(trees, game, node):
    """Return the range of a node's edges that were visited."""
    first = trees.node_first_edge[game, node]
    return range(first, first + trees.node_num_visited[game, node])


@inlined
def all_edges(trees, game, node):
    """Return the range of a node's edges."""
    first = trees.node_first_edge[game, node]
    return range(first, first + trees.node_num_edges[game, node])


@inlined
def is_eligible(trees, game, node, edge):
    """Return whether a visited edge is not refuted, or its node is lost anyway."""
    return (trees.children_outcomes[game, edge] != LOST) | trees.node_is_lost[game, node]


@inlined
def qvalue(trees, game, edge):
    """Return the mean value of the simulations through a visited edge."""
    return trees.children_values[game, edge] / trees.children_visits[game, edge]
