"""Search trees of many games as flat arrays, and the compiled kernels that walk them.

G games hold M nodes and E edges each. Edge e of a game is one legal placement of its node; the
edges of a node lie next to each other. Node 0 is the root. Named tuples go to the kernels as plain
ones, see `sudoku_gym.kernels.layout`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sudoku_gym.geometry import Geometry
from sudoku_gym.kernels.compiler import njit
from sudoku_gym.kernels.endings import Rules, end_value, is_over
from sudoku_gym.kernels.intrinsics import borrowed
from sudoku_gym.kernels.layout import (
    Sizes,
    UnitTables,
    borrowed_state,
    borrowed_tables,
    new_state,
)
from sudoku_gym.kernels.masks import write_mask
from sudoku_gym.kernels.positions import copy_position, copy_row, place, set_up

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,var-annotated"

NODES, EDGES = 0, 1


class Trees(NamedTuple):
    """The trees of G games.

    Attributes:
        state: the positions of all nodes, a `State`; node m of game g has row `g * M + m`.
        first_edge: int32 `[G, M]`.
        num_edges: int32 `[G, M]`, 0 for a node that is not expanded.
        end_value: float32 `[G, M]`, the reward where the game is over, else NaN.
        action: int32 `[G, E]`, the placement.
        prior: float32 `[G, E]`.
        visits: int32 `[G, E]`.
        total: float32 `[G, E]`, sum of the values of all simulations through the edge.
        solved: bool `[G, E]`, whether a simulation below the edge met a solved board.
        child: int32 `[G, E]`, the node behind the edge, or -1.
        used: int32 `[G, 2]`, nodes and edges in use.
        path: int32 `[G, N**2 + 1]`, the edges of the simulation under way.
        depth: int32 `[G]`, how many of them.
    """

    state: tuple[NDArray[np.int8], NDArray[np.uint64], NDArray[np.int64]]
    first_edge: NDArray[np.int32]
    num_edges: NDArray[np.int32]
    end_value: NDArray[np.float32]
    action: NDArray[np.int32]
    prior: NDArray[np.float32]
    visits: NDArray[np.int32]
    total: NDArray[np.float32]
    solved: NDArray[np.bool_]
    child: NDArray[np.int32]
    used: NDArray[np.int32]
    path: NDArray[np.int32]
    depth: NDArray[np.int32]


def new_trees(
    boards: NDArray[np.int8],
    geometry: Geometry,
    sizes: Sizes,
    tables: UnitTables,
    any_digit: bool,
    simulations: int,
    max_legal: int,
) -> Trees:
    """Allocate trees with the roots `boards` int8 `[G, N**2]`, to be expanded by the caller.

    A simulation adds one node, and a node never has more legal placements than the root
    (`max_legal`), so the arrays are large enough for `simulations` of them.

    Args:
        boards: int8 `[G, N**2]`; with `any_digit` digits may clash.
        geometry: the boards' units.
        sizes: of that geometry.
        tables: of that geometry.
        any_digit: whether any digit may be placed in any blank cell.
        simulations: how many there will be.
        max_legal: the most legal placements that a root has.
    """
    games, cells = boards.shape
    nodes, edges = simulations + 1, (simulations + 1) * max_legal
    state = new_state(games * nodes, geometry, counted=any_digit)
    state.rows[::nodes, :cells] = boards
    _set_up_roots(state, nodes, sizes, tables)
    trees = Trees(
        state=(state.rows, state.candidates, state.counts),
        first_edge=np.empty((games, nodes), np.int32),
        num_edges=np.zeros((games, nodes), np.int32),
        end_value=np.full((games, nodes), np.nan, np.float32),
        action=np.empty((games, edges), np.int32),
        prior=np.empty((games, edges), np.float32),
        visits=np.empty((games, edges), np.int32),
        total=np.empty((games, edges), np.float32),
        solved=np.empty((games, edges), np.bool_),
        child=np.empty((games, edges), np.int32),
        used=np.zeros((games, 2), np.int32),
        path=np.empty((games, cells + 1), np.int32),
        depth=np.zeros(games, np.int32),
    )
    trees.used[:, NODES] = 1
    return trees


@njit(cache=True)
def _set_up_roots(state, nodes, sizes, tables):
    """Fill in what follows from the board of every `nodes`-th position."""
    order, used = np.empty(sizes.num_cells, np.int32), np.empty(sizes.num_units + 1, np.uint64)
    state, tables = borrowed_state(state), borrowed_tables(tables)
    scratch = borrowed(order), borrowed(used)
    for b in range(0, len(state.rows), nodes):
        set_up(state, b, sizes, tables, scratch)


@njit(cache=True)
def expand(trees, games, nodes, priors, masks):
    """Give node `nodes[i]` of game `games[i]` an edge for each legal placement in `masks[i]`."""
    trees = Trees(*trees)
    for i in range(len(games)):
        game, node = games[i], nodes[i]
        first = trees.used[game, EDGES]
        edge = first
        for action in range(masks.shape[1]):
            if masks[i, action]:
                trees.action[game, edge] = action
                trees.prior[game, edge] = priors[i, action]
                trees.visits[game, edge] = 0
                trees.total[game, edge] = 0.0
                trees.solved[game, edge] = False
                trees.child[game, edge] = -1
                edge += 1
        trees.first_edge[game, node] = first
        trees.num_edges[game, node] = edge - first
        trees.used[game, EDGES] = edge


@njit(cache=True)
def descend(trees, sizes, tables, rules, scoring, leaf_boards, leaf_masks):
    """Walk each tree down to a node that is over or new; write new ones as leaves.

    Args:
        trees: the trees; `path` and `depth` are written, and new nodes are added.
        sizes: see `sudoku_gym.kernels.layout.Sizes`.
        tables: see `sudoku_gym.kernels.layout.UnitTables`.
        rules: see `sudoku_gym.kernels.endings.Rules`.
        scoring: `(c_puct, unvisited_bonus)`.
        leaf_boards: int8 `[G, N**2]`, written where the leaf must be evaluated.
        leaf_masks: int8 `[G, N**3]`, likewise.

    Returns:
        leaves int32 `[G]`, values float32 `[G]` (where the game is over), is_open bool `[G]`.
    """
    trees, sizes, rules = Trees(*trees), Sizes(*sizes), Rules(*rules)
    c_puct, unvisited_bonus = scoring
    games, nodes = trees.end_value.shape
    leaves = np.empty(games, np.int32)
    values = np.zeros(games, np.float32)
    is_open = np.zeros(games, np.bool_)
    state, tables = borrowed_state(trees.state), borrowed_tables(tables)
    boards, masks = borrowed(leaf_boards), borrowed(leaf_masks)
    for game in range(games):
        node, depth = 0, 0
        while np.isnan(trees.end_value[game, node]):
            edge = _select(trees, game, node, c_puct, unvisited_bonus)
            trees.path[game, depth] = edge
            depth += 1
            child = trees.child[game, edge]
            if child < 0:
                child = trees.used[game, NODES]
                trees.used[game, NODES] += 1
                trees.child[game, edge] = child
                b = np.uint64(game * nodes + child)
                copy_position(state, game * nodes + node, b)
                cell, digit = divmod(trees.action[game, edge], sizes.size)
                place(state, b, cell, digit + 1, sizes, tables)
                if is_over(state.counts, b, sizes.num_units, rules):
                    value = end_value(state.counts, b, sizes.num_units, rules.reward)
                    trees.end_value[game, child] = value
                else:
                    copy_row(state.rows, b, sizes.num_cells, boards, game)
                    write_mask(state, b, rules.any_digit, sizes, masks, game)
                    is_open[game] = True
                    node = child
                    break
            node = child
        leaves[game] = node
        trees.depth[game] = depth
        if not is_open[game]:
            values[game] = trees.end_value[game, node]
    return leaves, values, is_open


@njit(cache=True)
def _select(trees, game, node, c_puct, unvisited_bonus):
    """Return the edge with the highest upper confidence bound (cAlphaZero, equation 1).

    The first visit takes sqrt(1) for the sum of visits, so that the prior decides it.
    """
    first = trees.first_edge[game, node]
    last = first + trees.num_edges[game, node]
    visits = 0
    for edge in range(first, last):
        visits += trees.visits[game, edge]
    exploration = c_puct * np.sqrt(max(visits, 1))
    best, best_score = first, -np.inf
    for edge in range(first, last):
        count = trees.visits[game, edge]
        score = exploration * trees.prior[game, edge] / (1 + count)
        if count > 0:
            score += trees.total[game, edge] / count
        else:
            score += unvisited_bonus
        if score > best_score:
            best, best_score = edge, score
    return best


@njit(cache=True)
def back_up(trees, values):
    """Add the value of each game's leaf, float32 `[G]`, to every edge of its path."""
    trees = Trees(*trees)
    for game in range(len(values)):
        for step in range(trees.depth[game]):
            edge = trees.path[game, step]
            trees.visits[game, edge] += 1
            trees.total[game, edge] += values[game]
            if values[game] == 1.0:
                trees.solved[game, edge] = True


@njit(cache=True)
def root_statistics(trees, num_actions):
    """Spread the roots' edges over all actions.

    Returns:
        visit counts int32 `[G, A]`, mean values float32 `[G]`, solved bool `[G, A]`.
    """
    trees = Trees(*trees)
    games = len(trees.depth)
    visit_counts = np.zeros((games, num_actions), np.int32)
    values = np.zeros(games, np.float32)
    solved = np.zeros((games, num_actions), np.bool_)
    for game in range(games):
        total, visits = np.float32(0), 0
        for edge in range(trees.num_edges[game, 0]):
            action = trees.action[game, edge]
            visit_counts[game, action] = trees.visits[game, edge]
            solved[game, action] = trees.solved[game, edge]
            total += trees.total[game, edge]
            visits += trees.visits[game, edge]
        values[game] = total / max(visits, 1)
    return visit_counts, values, solved
