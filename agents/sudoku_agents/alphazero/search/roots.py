"""The roots of the trees: where a search begins, and what it starts from after a move.

What a search found out below the move that was played stays true: its subtree, moved to the front
of the arrays, is the new tree. Where there is none, what is refuted above a board still is refuted
at it, and a solved board that it agrees with can still be reached.
"""

from __future__ import annotations

import numpy as np

from sudoku_agents.alphazero.search.proofs import LOST, UNDECIDED, WON, is_refuted, settle_lost
from sudoku_agents.alphazero.search.selection import Scoring
from sudoku_agents.alphazero.search.tree import EDGES, NODES, borrowed_trees, bring_next, new_node
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.kernels.endings import SPARSE, Rules
from sudoku_gym.kernels.layout import Sizes, UnitTables
from sudoku_gym.kernels.positions import copy_position, copy_row, set_up

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,var-annotated"


@njit(cache=True)
def follow(trees, games, boards, masks, sizes, tables, rules, keeps_trees, keeps_proofs):
    """Make `boards[i]` the root of the tree of game `games[i]`.

    Args:
        trees: the trees.
        games: int64 `[n]`.
        boards: int8 `[n, N**2]`.
        masks: bool `[n, N**3]`, what may be played.
        sizes: see `sudoku_gym.kernels.layout.Sizes`.
        tables: see `sudoku_gym.kernels.layout.UnitTables`.
        rules: see `sudoku_gym.kernels.endings.Rules`.
        keeps_trees: keep the subtree of a board one move below the last root.
        keeps_proofs: keep what was proven for a board that holds all of the last root's digits.

    Returns:
        bool `[n]`, whether the root must be evaluated and expanded.
    """
    trees, sizes, rules, tables = (
        borrowed_trees(trees),
        Sizes(*sizes),
        Rules(*rules),
        UnitTables(*tables),
    )
    nodes, words = trees.end_value.shape[1], trees.state[1].shape[1]
    is_fresh = np.ones(len(games), np.bool_)
    above = np.empty(words, np.uint64)
    scratch = np.empty(sizes.num_cells, np.int32), np.empty(sizes.num_units + 1, np.uint64)
    proves = len(trees.open) > 0
    for i in range(len(games)):
        game = games[i]
        root = game * nodes
        moves, action = _moves_since(trees, game, boards, i, sizes)
        goes_on = moves >= 0 and proves and keeps_proofs
        if goes_on:
            above[:] = trees.open[root]
            if trees.verdict[game] == LOST and is_refuted(trees, root, sizes, tables):
                above[:] = 0  # what is below is lost, whichever cell was played
        if not goes_on or trees.verdict[game] == LOST:
            trees.verdict[game] = UNDECIDED
        elif trees.verdict[game] == WON and not _may_win(trees, game, boards, masks, i, sizes):
            trees.verdict[game] = UNDECIDED
        child = _child_of(trees, game, action) if keeps_trees and moves == 1 else -1
        if child >= 0 and trees.num_edges[game, child] > 0:
            _keep(trees, game, child)
            is_fresh[i] = False
        else:
            trees.used[game, NODES] = trees.used[game, EDGES] = 0
            new_node(trees, game)
            copy_row(boards, i, sizes.num_cells, trees.state[0], root)
            set_up(trees.state, root, sizes, tables, scratch)
            if proves:
                trees.open[root] = trees.state[1][root]
        if goes_on:
            for k in range(words):
                trees.open[root, k] &= above[k]
        if proves:
            if trees.lost[game, 0] or is_refuted(trees, root, sizes, tables):
                trees.open[root] = 0
                settle_lost(trees, game, 0, rules.reward == SPARSE)
            elif not _leaves_a_move(trees, root, masks, i, sizes):
                settle_lost(trees, game, 0, rules.reward == SPARSE)
        if not is_fresh[i]:
            _drop_edges(trees, game, masks, i, sizes)
            if trees.num_edges[game, 0] == 0:  # they were dropped when the root was thought better
                is_fresh[i] = True
                trees.used[game, NODES], trees.used[game, EDGES] = 1, 0
    return is_fresh


@inlined
def _moves_since(trees, game, boards, i, sizes):
    """Return how many placements lead from the last root to a board (-1: none do), and the last."""
    if trees.used[game, NODES] == 0:
        return -1, -1
    rows, root = trees.state[0], game * trees.end_value.shape[1]
    moves, action = 0, -1
    for cell in range(sizes.num_cells):
        if rows[root, cell] != boards[i, cell]:
            if rows[root, cell] != 0:
                return -1, -1
            moves += 1
            action = cell * sizes.size + boards[i, cell] - 1
    return moves, action


@inlined
def _may_win(trees, game, boards, masks, i, sizes):
    """Return whether a board agrees with the solved one, and a move to it may be played."""
    may = False
    for cell in range(sizes.num_cells):
        digit = trees.solution[game, cell]
        if boards[i, cell] == 0:
            may |= masks[i, cell * sizes.size + digit - 1]
        elif boards[i, cell] != digit:
            return False
    return may


@inlined
def _child_of(trees, game, action):
    """Return the node that a move from the root leads to, or -1."""
    first = trees.first_edge[game, 0]
    for edge in range(first, first + trees.num_tried[game, 0]):
        if trees.action[game, edge] == action:
            return trees.child[game, edge]
    return -1


@inlined
def _keep(trees, game, root):
    """Move the subtree of a node to the front; nodes and edges keep their order."""
    nodes = trees.end_value.shape[1]
    count = trees.used[game, NODES]
    place_of_node = np.full(count, -1, np.int32)
    place_of_node[root] = 0
    num_kept = 1
    for node in range(root, count):
        if place_of_node[node] >= 0:
            place_of_node[node] = num_kept if node > root else 0
            num_kept += node > root
            first = trees.first_edge[game, node]
            for edge in range(first, first + trees.num_tried[game, node]):
                if trees.child[game, edge] >= 0:
                    place_of_node[trees.child[game, edge]] = 0
    new_edge = 0
    for node in range(root, count):
        place = place_of_node[node]
        if place < 0:
            continue
        b, t = game * nodes + node, game * nodes + place
        if b != t:
            copy_position(trees.state, b, t)
            if len(trees.open) > 0:
                trees.open[t] = trees.open[b]
        first, tried = trees.first_edge[game, node], trees.num_tried[game, node]
        num_edges = trees.num_edges[game, node]
        trees.first_edge[game, place] = new_edge
        trees.num_edges[game, place] = num_edges
        trees.num_tried[game, place] = tried
        trees.end_value[game, place] = trees.end_value[game, node]
        trees.value[game, place] = trees.value[game, node]
        trees.mass[game, place] = trees.mass[game, node]
        trees.lost[game, place] = trees.lost[game, node]
        for edge in range(first, first + num_edges):
            _copy_edge(trees, game, edge, new_edge, edge < first + tried)
            if edge < first + tried:
                trees.child[game, new_edge] = place_of_node[trees.child[game, edge]]
            new_edge += 1
    trees.used[game, NODES] = num_kept
    trees.used[game, EDGES] = new_edge


@inlined
def _copy_edge(trees, game, edge, target, is_tried):
    trees.action[game, target] = trees.action[game, edge]
    trees.prior[game, target] = trees.prior[game, edge]
    if is_tried:
        trees.visits[game, target] = trees.visits[game, edge]
        trees.total[game, target] = trees.total[game, edge]
        trees.child[game, target] = trees.child[game, edge]
        trees.status[game, target] = trees.status[game, edge]


@inlined
def _is_open(trees, b, action, sizes):
    step = sizes.cells_a_word * sizes.size
    word = trees.open[b, action // step]
    return (word >> np.uint64(action % step)) & np.uint64(1) != 0


@inlined
def _leaves_a_move(trees, b, masks, i, sizes):
    """Return whether a move that may be played is not refuted."""
    for action in range(sizes.size**3):
        if masks[i, action] and _is_open(trees, b, action, sizes):
            return True
    return False


@inlined
def _drop_edges(trees, game, masks, i, sizes):
    """Drop edges of a kept root that may not be played, and untried ones that are refuted."""
    first, tried = trees.first_edge[game, 0], trees.num_tried[game, 0]
    root = game * trees.end_value.shape[1]
    kept = first
    num_tried, mass = 0, np.float32(0)
    for edge in range(first, first + trees.num_edges[game, 0]):
        action, is_tried = trees.action[game, edge], edge < first + tried
        if not masks[i, action]:
            continue
        if len(trees.open) > 0 and not trees.lost[game, 0]:
            if not _is_open(trees, root, action, sizes):
                if not is_tried:
                    continue
                trees.status[game, edge] = LOST
        _copy_edge(trees, game, edge, kept, is_tried)
        num_tried += is_tried
        mass += trees.prior[game, kept]
        kept += 1
    trees.num_edges[game, 0] = kept - first
    trees.num_tried[game, 0] = num_tried
    trees.mass[game, 0] = mass
    bring_next(trees, game, 0)


@njit(cache=True)
def priors_of(trees, games, num_actions):
    """Return the priors of the roots' edges, float32 `[n, A]`, 0 where there is no edge."""
    trees = borrowed_trees(trees)
    priors = np.zeros((len(games), num_actions), np.float32)
    for i in range(len(games)):
        game = games[i]
        first = trees.first_edge[game, 0]
        for edge in range(first, first + trees.num_edges[game, 0]):
            priors[i, trees.action[game, edge]] = trees.prior[game, edge]
    return priors


@njit(cache=True)
def set_priors(trees, games, priors):
    """Give the roots' edges the priors float32 `[n, A]`, such as those with noise."""
    trees = borrowed_trees(trees)
    for i in range(len(games)):
        game = games[i]
        first = trees.first_edge[game, 0]
        for edge in range(first, first + trees.num_edges[game, 0]):
            trees.prior[game, edge] = priors[i, trees.action[game, edge]]
        bring_next(trees, game, 0)


@njit(cache=True)
def set_budgets(trees, games, rules, scoring):
    """Give some games the simulations that their roots lack, unless a proof settles them."""
    trees, rules, scoring = borrowed_trees(trees), Rules(*rules), Scoring(*scoring)
    trees.left[:] = 0
    for game in games:
        verdict, visits = trees.verdict[game], 0
        if verdict == WON or (verdict == LOST and rules.reward == SPARSE):
            continue
        first = trees.first_edge[game, 0]
        for edge in range(first, first + trees.num_tried[game, 0]):
            visits += trees.visits[game, edge]
        trees.left[game] = max(scoring.simulations - visits, 0)
