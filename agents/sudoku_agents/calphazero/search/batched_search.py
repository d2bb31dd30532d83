"""The tree search of many games in parallel: one tree a game, one network call a simulation.

The trees are flat arrays `[games, nodes, ...]` walked by compiled kernels; a node stores edges for
its legal placements only. The root follows PUCT or Gumbel MuZero. docs/design.md has an overview.

Source: cAlphaZero (Agarwal et al.), equations 1 and 2, and the bonus of section 2.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.calphazero.search.config import SearchConfig, search_params
from sudoku_agents.calphazero.search.roots import (
    SearchOutput,
    advance_root,
    mark_solved,
    root_results,
    set_simulations_left,
)
from sudoku_agents.calphazero.search.selection import start_halving
from sudoku_agents.calphazero.search.simulation import backup_values, expand, simulate
from sudoku_agents.calphazero.search.tree import new_trees
from sudoku_gym.board import is_solved
from sudoku_gym.board.actions import legal_placements
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.exact_cover import constraint_members

Evaluator = Callable[
    [NDArray[np.int8], NDArray[np.bool_]], tuple[NDArray[np.float32], NDArray[np.float32]]
]
"""Evaluates boards, int8 `[B, N, N]` with masks bool `[B, N**3]`: the priors of the moves, float32
`[B, N**3]` (0 where illegal, rows sum to 1), and the values of the boards, float32 `[B]`."""


class BatchedSearch:
    """The search trees of G games, for a search before each of their moves.

    They begin at boards int8 `[G, N, N]`; later boards of a game hold more digits.
    """

    def __init__(self, boards: NDArray[np.int8], geometry: Geometry, config: SearchConfig) -> None:
        self._config = config
        self._geometry = geometry
        self._params = search_params(geometry, config)
        self._members = constraint_members(geometry).copy()  # numba types read-only arrays apart
        legal = legal_placements(boards, geometry, config.actions)
        self.trees = new_trees(len(boards), geometry, config, int(legal.sum(1).max()))
        self._leaf_boards = np.empty(boards.shape, np.int8)
        self._leaf_masks = np.empty(legal.shape, np.bool_)

    def search(
        self,
        games: NDArray[np.int64],
        boards: NDArray[np.int8],
        masks: NDArray[np.bool_],
        evaluate: Evaluator,
        rng: np.random.Generator | None = None,
    ) -> SearchOutput:
        """Search from a board of each of some games.

        Args:
            games: int64 `[B]`, the numbers of the games, from 0 to G - 1, none twice.
            boards: int8 `[B, N, N]`, none of them finished.
            masks: bool `[B, N**3]`, which placements `config.actions` makes legal, or some of them;
                each board has at least one.
            evaluate: the network.
            rng: draws the Gumbel noise of the roots (gumbel); None plays without.
        """
        trees, params = tuple(self.trees), self._params
        flat = np.ascontiguousarray(boards).reshape(len(boards), -1)
        advance_root(trees, params, games, flat, masks)
        set_simulations_left(trees, params, games)
        roots = np.zeros(len(games), np.int32)
        priors, _ = self._evaluate(evaluate, games, roots, boards, masks)
        if self._config.root == "gumbel":
            noise = np.zeros(masks.shape) if rng is None else rng.gumbel(size=masks.shape)
            start_halving(trees, params, games, noise)
        while self.trees.root_simulations_left.any():
            self._run_simulation(evaluate)
        found = SearchOutput(*root_results(trees, params, games, priors, masks))
        return replace(found, solutions=found.solutions.reshape(boards.shape))

    def _run_simulation(self, evaluate: Evaluator) -> None:
        """Run a simulation in every tree that has some left."""
        trees, params = tuple(self.trees), self._params
        boards, masks = self._leaf_boards, self._leaf_masks
        leaves, values, is_open = simulate(
            trees, params, boards.reshape(len(boards), -1), masks.view(np.int8)
        )
        if is_open.any():
            games = np.flatnonzero(is_open)
            if len(games) < len(boards):
                boards, masks = boards[games], masks[games]
            _, values[games] = self._evaluate(evaluate, games, leaves[games], boards, masks)
        backup_values(trees, values)

    def _evaluate(
        self,
        evaluate: Evaluator,
        games: NDArray[np.int64],
        nodes: NDArray[np.integer],
        boards: NDArray[np.int8],
        masks: NDArray[np.bool_],
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Evaluate nodes, expand them, and check what is read off them; see `Evaluator`."""
        trees, params = tuple(self.trees), self._params
        priors, values = evaluate(boards, masks)
        weight = priors.sum(1, where=masks)
        if not (np.isfinite(values) & (weight > 0) & (weight < np.inf)).all():
            raise ValueError("an evaluator's values, or its priors of legal moves, are damaged")
        expand(trees, params, games, nodes, priors, values, masks, self._members)
        if self._config.rollouts and self._config.proofs:
            digits = priors.reshape(*boards.shape, -1).argmax(3) + 1
            filled = np.where(boards > 0, boards, digits).astype(np.int8)
            solved = is_solved(filled, self._geometry)
            values = np.where(solved, np.float32(1), values)
            mark_solved(trees, games[solved], filled.reshape(len(boards), -1)[solved])
        return priors, values


def tree_search(
    boards: NDArray[np.int8],
    masks: NDArray[np.bool_],
    geometry: Geometry,
    evaluate: Evaluator,
    config: SearchConfig,
    rng: np.random.Generator | None = None,
) -> SearchOutput:
    """Search from B boards at once, each in a new tree; see `BatchedSearch.search`."""
    trees = BatchedSearch(boards, geometry, config)
    return trees.search(np.arange(len(boards)), boards, masks, evaluate, rng)
