"""What a search found out, and how it is read off the roots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.alphazero.search import gumbel
from sudoku_agents.alphazero.search.proofs import LOST, WON
from sudoku_agents.alphazero.search.selection import Scoring, best_value, counts_at
from sudoku_agents.alphazero.search.tree import borrowed_trees
from sudoku_gym.compiler.jit import inlined, njit
from sudoku_gym.kernels.endings import SPARSE, Rules
from sudoku_gym.kernels.layout import Sizes

# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg"


@dataclass(frozen=True)
class SearchResult:
    """What a search found out about each root.

    Attributes:
        visit_counts: int32 `[B, N**3]`, how often each action was tried.
        values: float32 `[B]`, what the root is worth: the mean over the simulations, or the best
            value, see `SearchConfig.backup`; 1 or 0 where it is proven to be.
        solved: bool `[B, N**3]`, actions that are proven to win.
        refuted: bool `[B, N**3]`, legal actions after which the board can't be solved any more.
        solutions: int8 `[B, N, N]`, the solved board that was met, zeros where there is none.
        improved: float32 `[B, N**3]`, see `policy`.
        scores: float32 `[B, N**3]`, see `best_actions`.
    """

    visit_counts: NDArray[np.int32]
    values: NDArray[np.float32]
    solved: NDArray[np.bool_]
    refuted: NDArray[np.bool_]
    solutions: NDArray[np.int8]
    improved: NDArray[np.float32]
    scores: NDArray[np.float32]

    def policy(self) -> NDArray[np.float32]:
        """The improved policy, which a network learns: float32 `[B, N**3]`, rows sum to 1.

        PUCT: visit counts as shares. Gumbel: the softmax of logits + sigma(completed Q). Refuted
        actions have no share, and where a win is proven, or nothing that counts was tried, it is
        the network's policy among the actions that win, or are left.
        """
        return self.improved

    def best_actions(self) -> NDArray[np.int64]:
        """The actions to play, int64 `[B]`: among those known to solve, or all, the best.

        The game is deterministic and has one player, so one solved leaf settles the matter. The
        best is the one most visited (PUCT), or the winner of the sequential halving (Gumbel).
        """
        known = self.solved.any(1, keepdims=True) & ~self.solved
        return np.where(known, -np.inf, self.scores).argmax(1)


@njit(cache=True)
def read(trees, games, priors, masks, sizes, rules, scoring):
    """Read the roots of some games.

    Args:
        trees: the trees.
        games: int64 `[n]`.
        priors: float32 `[n, N**3]`, the network's at the roots, without noise.
        masks: bool `[n, N**3]`, what may be played.
        sizes: see `sudoku_gym.kernels.layout.Sizes`.
        rules: see `sudoku_gym.kernels.endings.Rules`.
        scoring: see `selection.Scoring`.

    Returns:
        The arrays of a `SearchResult`, in its order, the boards flat.
    """
    trees, sizes, rules, scoring = (
        borrowed_trees(trees),
        Sizes(*sizes),
        Rules(*rules),
        Scoring(*scoring),
    )
    count, num_actions = masks.shape
    visit_counts = np.zeros((count, num_actions), np.int32)
    values = np.zeros(count, np.float32)
    solved = np.zeros((count, num_actions), np.bool_)
    refuted = np.zeros((count, num_actions), np.bool_)
    solutions = np.zeros((count, sizes.num_cells), np.int8)
    improved = np.zeros((count, num_actions), np.float32)
    scores = np.full((count, num_actions), -np.inf, np.float32)
    for i in range(count):
        game = games[i]
        first, tried = trees.first_edge[game, 0], trees.num_tried[game, 0]
        verdict = trees.verdict[game]
        if len(trees.open) > 0:
            refuted[i] = masks[i]
        if verdict == WON:
            solutions[i] = trees.solution[game]
        for edge in range(first, first + trees.num_edges[game, 0]):
            action, is_tried = trees.action[game, edge], edge < first + tried
            if is_tried:
                visit_counts[i, action] = trees.visits[game, edge]
            if verdict == WON:
                cell, digit = divmod(action, sizes.size)
                solved[i, action] = trees.solution[game, cell] == digit + 1
            else:
                solved[i, action] = is_tried and trees.status[game, edge] == WON
            refuted[i, action] = verdict == LOST or (is_tried and trees.status[game, edge] == LOST)
        values[i] = _value(trees, game, verdict, rules, scoring)
        if scoring.gumbel:
            gumbel.read_root(trees, game, priors, i, scoring, solved, improved, scores)
        else:
            for edge in range(first, first + tried):
                if counts_at(trees, game, 0, edge):
                    improved[i, trees.action[game, edge]] = trees.visits[game, edge]
        is_settled = verdict == WON or (verdict == LOST and rules.reward == SPARSE)
        _normalise(trees, game, i, priors, is_settled, solved, refuted, improved)
        if not scoring.gumbel:
            scores[i] = improved[i]
    return visit_counts, values, solved, refuted, solutions, improved, scores


@inlined
def _value(trees, game, verdict, rules, scoring):
    if verdict == WON:
        return np.float32(1)
    if verdict == LOST and rules.reward == SPARSE:
        return np.float32(0)
    if scoring.takes_best:
        return best_value(trees, game, 0)
    first = trees.first_edge[game, 0]
    total, visits = np.float32(0), 0
    for edge in range(first, first + trees.num_tried[game, 0]):
        total += trees.total[game, edge]
        visits += trees.visits[game, edge]
    return np.float32(total / visits) if visits > 0 else trees.value[game, 0]


@inlined
def _normalise(trees, game, i, priors, is_settled, solved, refuted, improved):
    """Divide the improved policy by its sum, or take the prior among the moves that are left."""
    total = 0.0
    for action in range(improved.shape[1]):
        total += improved[i, action]
    if is_settled or total == 0:
        total = 0.0
        first = trees.first_edge[game, 0]
        improved[i] = 0
        for edge in range(first, first + trees.num_edges[game, 0]):
            action = trees.action[game, edge]
            if trees.verdict[game] == WON:
                counts = solved[i, action]
            else:
                counts = trees.verdict[game] == LOST or not refuted[i, action]
            if counts:
                improved[i, action] = max(priors[i, action], gumbel.SMALLEST)
                total += improved[i, action]
    for action in range(improved.shape[1]):
        improved[i, action] = improved[i, action] / total
