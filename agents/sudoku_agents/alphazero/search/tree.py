"""Search trees of many games as flat arrays, and the compiled kernels that make them grow.

G games hold M nodes and E edges each. Node 0 is the root; a node has a higher number than the node
above it. Edge e of a game is one placement that is allowed at its node; the edges of a node lie
next to each other, those that were tried first, in the order in which they were tried for the first
time, and then the best of the rest by its prior. Whatever the rule, no other untried edge can be
the next: so choosing an edge looks at the tried ones and one more, not at all that are allowed.

Named tuples go to the kernels as plain ones, see `sudoku_gym.kernels.layout`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.alphazero.search.proofs import UNDECIDED
from sudoku_agents.alphazero.search.selection import Scoring, best_value
from sudoku_gym.compiler.intrinsics import borrowed, lowest_bit
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.geometry import Geometry
from sudoku_gym.kernels.layout import Sizes, borrowed_state, new_state

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,var-annotated"

NODES, EDGES = 0, 1


class Trees(NamedTuple):
    """The trees of G games.

    Attributes:
        state: the positions of all nodes, a `State`; node m of game g has row `g * M + m`.
        open: uint64 `[G * M, K]`, the candidates of each position that are not refuted, in the
            layout of `State.candidates`; without proofs there are no rows.
        first_edge: int32 `[G, M]`.
        num_edges: int32 `[G, M]`, 0 for a node that is not expanded.
        num_tried: int32 `[G, M]`, how many of them were tried.
        end_value: float32 `[G, M]`, what the node is worth where that is settled: the reward where
            the game is over, 0 where the reward is sparse and the node is lost; else NaN.
        value: float32 `[G, M]`, what the network says, of an expanded node.
        mass: float32 `[G, M]`, the sum of the priors of a node's edges.
        lost: bool `[G, M]`, whether the node is proven lost.
        action: int32 `[G, E]`, the placement.
        prior: float32 `[G, E]`.
        visits: int32 `[G, E]`; this array and the next three hold nothing before the edge is tried.
        total: float32 `[G, E]`, the sum of the values of all simulations through the edge, or the
            best value below it, see `SearchConfig.backup`.
        child: int32 `[G, E]`, the node behind the edge, or -1.
        status: int8 `[G, E]`, UNDECIDED, WON or LOST, see `proofs`.
        used: int32 `[G, 2]`, nodes and edges in use; no nodes before the first search.
        path: int32 `[G, N**2 + 1]`, the edges of the simulation under way.
        depth: int32 `[G]`, how many of them; 0 if there is no simulation under way.
        left: int32 `[G]`, how many simulations are left.
        verdict: int8 `[G]`, the status of the root.
        solution: int8 `[G, N**2]`, the solved board that was met, where the verdict is WON.
        root_score: float32 `[G, R]`, of the root's edges, see `gumbel`; R is their largest number.
        halving: int32 `[G, 5]`, how far the sequential halving is, see `gumbel`.
    """

    state: tuple[NDArray[np.int8], NDArray[np.uint64], NDArray[np.int64]]
    open: NDArray[np.uint64]
    first_edge: NDArray[np.int32]
    num_edges: NDArray[np.int32]
    num_tried: NDArray[np.int32]
    end_value: NDArray[np.float32]
    value: NDArray[np.float32]
    mass: NDArray[np.float32]
    lost: NDArray[np.bool_]
    action: NDArray[np.int32]
    prior: NDArray[np.float32]
    visits: NDArray[np.int32]
    total: NDArray[np.float32]
    child: NDArray[np.int32]
    status: NDArray[np.int8]
    used: NDArray[np.int32]
    path: NDArray[np.int32]
    depth: NDArray[np.int32]
    left: NDArray[np.int32]
    verdict: NDArray[np.int8]
    solution: NDArray[np.int8]
    root_score: NDArray[np.float32]
    halving: NDArray[np.int32]


def new_trees(
    games: int,
    geometry: Geometry,
    any_digit: bool,
    proofs: bool,
    simulations: int,
    max_legal: int,
) -> Trees:
    """Allocate trees that hold nothing yet.

    A simulation adds at most one node, and a node never has more placements than the root, so the
    arrays are large enough for `simulations` of them.

    Args:
        games: G.
        geometry: the boards' units.
        any_digit: whether any digit may be placed in any blank cell, so that digits may clash.
        proofs: whether to keep what is refuted.
        simulations: how many there will be at a root.
        max_legal: the most placements that are legal at a root.
    """
    nodes, edges = simulations + 1, (simulations + 1) * max_legal
    state = new_state(games * nodes, geometry, counted=any_digit)
    return Trees(
        state=(state.rows, state.candidates, state.counts),
        open=np.empty((games * nodes if proofs else 0, state.candidates.shape[1]), np.uint64),
        first_edge=np.empty((games, nodes), np.int32),
        num_edges=np.empty((games, nodes), np.int32),
        num_tried=np.empty((games, nodes), np.int32),
        end_value=np.empty((games, nodes), np.float32),
        value=np.empty((games, nodes), np.float32),
        mass=np.empty((games, nodes), np.float32),
        lost=np.empty((games, nodes), np.bool_),
        action=np.empty((games, edges), np.int32),
        prior=np.empty((games, edges), np.float32),
        visits=np.empty((games, edges), np.int32),
        total=np.empty((games, edges), np.float32),
        child=np.empty((games, edges), np.int32),
        status=np.empty((games, edges), np.int8),
        used=np.zeros((games, 2), np.int32),
        path=np.empty((games, geometry.num_cells + 1), np.int32),
        depth=np.zeros(games, np.int32),
        left=np.zeros(games, np.int32),
        verdict=np.zeros(games, np.int8),
        solution=np.zeros((games, geometry.num_cells), np.int8),
        root_score=np.empty((games, max_legal), np.float32),
        halving=np.empty((games, 5), np.int32),
    )


@njit(cache=True, inline="always")
def borrowed_trees(trees):
    """Return `Trees` without counts of references; the caller must hold the originals."""
    trees = Trees(*trees)
    return Trees(
        borrowed_state(trees.state),
        borrowed(trees.open),
        borrowed(trees.first_edge),
        borrowed(trees.num_edges),
        borrowed(trees.num_tried),
        borrowed(trees.end_value),
        borrowed(trees.value),
        borrowed(trees.mass),
        borrowed(trees.lost),
        borrowed(trees.action),
        borrowed(trees.prior),
        borrowed(trees.visits),
        borrowed(trees.total),
        borrowed(trees.child),
        borrowed(trees.status),
        borrowed(trees.used),
        borrowed(trees.path),
        borrowed(trees.depth),
        borrowed(trees.left),
        borrowed(trees.verdict),
        borrowed(trees.solution),
        borrowed(trees.root_score),
        borrowed(trees.halving),
    )


@inlined
def new_node(trees, game):
    """Return a node that is not expanded; the caller fills in its position."""
    node = trees.used[game, NODES]
    trees.used[game, NODES] = node + 1
    trees.num_edges[game, node] = 0
    trees.num_tried[game, node] = 0
    trees.end_value[game, node] = np.nan
    trees.lost[game, node] = False
    return node


@njit(cache=True)
def expand(trees, games, nodes, priors, values, masks, sizes, any_digit):
    """Give node `nodes[i]` of game `games[i]` its edges.

    Those are the placements of `masks[i]` that are not refuted, or all of them at a lost node.

    Args:
        trees: the trees.
        games: int64 `[n]`.
        nodes: int32 `[n]`.
        priors: float32 `[n, N**3]`.
        values: float32 `[n]`.
        masks: bool `[n, N**3]`.
        sizes: see `sudoku_gym.kernels.layout.Sizes`.
        any_digit: whether any digit may be placed in any blank cell.
    """
    trees, sizes = borrowed_trees(trees), Sizes(*sizes)
    step = sizes.cells_a_word * sizes.size
    for i in range(len(games)):
        game, node = games[i], nodes[i]
        edge = first = trees.used[game, EDGES]
        mass = np.float32(0)
        b = np.uint64(game * trees.end_value.shape[1] + node)
        for k in range(trees.state[1].shape[1]):
            if len(trees.open) > 0 and not trees.lost[game, node]:
                word = trees.open[b, k]
            elif any_digit:
                word = _blank_cells(trees.state[0], b, k, sizes)
            else:
                word = trees.state[1][b, k]
            while word != 0:
                action = k * step + np.int64(lowest_bit(word))
                word &= word - np.uint64(1)
                if masks[i, action]:
                    trees.action[game, edge] = action
                    trees.prior[game, edge] = priors[i, action]
                    mass += priors[i, action]
                    edge += 1
        trees.first_edge[game, node] = first
        trees.num_edges[game, node] = edge - first
        trees.used[game, EDGES] = edge
        trees.value[game, node] = values[i]
        trees.mass[game, node] = mass
        bring_next(trees, game, node)


@inlined
def _blank_cells(rows, b, k, sizes):
    """Return the placements of any digits into the blank cells of word k, one bit each."""
    word, digits = np.uint64(0), (np.uint64(1) << np.uint64(sizes.size)) - np.uint64(1)
    for i in range(min(sizes.cells_a_word, sizes.num_cells - k * sizes.cells_a_word)):
        if rows[b, k * sizes.cells_a_word + i] == 0:
            word |= digits << np.uint64(i * sizes.size)
    return word


@inlined
def bring_next(trees, game, node):
    """Bring the untried edge with the highest prior before the others, which keep their order."""
    start = trees.first_edge[game, node] + trees.num_tried[game, node]
    end = trees.first_edge[game, node] + trees.num_edges[game, node]
    best, best_prior = start, np.float32(-np.inf)
    for edge in range(start, end):
        if trees.prior[game, edge] > best_prior:
            best, best_prior = edge, trees.prior[game, edge]
    if best == start:
        return
    action = trees.action[game, best]
    for edge in range(best, start, -1):
        trees.action[game, edge] = trees.action[game, edge - 1]
        trees.prior[game, edge] = trees.prior[game, edge - 1]
    trees.action[game, start], trees.prior[game, start] = action, best_prior


@inlined
def try_edge(trees, game, node, edge):
    """Note that the first untried edge of a node is tried."""
    trees.visits[game, edge] = 0
    trees.total[game, edge] = 0.0
    trees.child[game, edge] = -1
    trees.status[game, edge] = UNDECIDED
    trees.num_tried[game, node] += 1


@njit(cache=True)
def back_up(trees, values, scoring):
    """Bring the value of each game's leaf, float32 `[G]`, to every edge of its path."""
    trees, scoring = borrowed_trees(trees), Scoring(*scoring)
    for game in range(len(values)):
        value = values[game]
        for step in range(trees.depth[game] - 1, -1, -1):
            edge = trees.path[game, step]
            trees.visits[game, edge] += 1
            if scoring.takes_best:
                trees.total[game, edge] = value
                node = trees.child[game, trees.path[game, step - 1]] if step > 0 else 0
                value = best_value(trees, game, node)
            else:
                trees.total[game, edge] += value
