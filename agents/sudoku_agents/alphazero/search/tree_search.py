"""Batched tree search: many games in lock step, one tree a game, one network call a simulation.

The trees are flat arrays `[games, nodes, ...]` walked by compiled kernels; a node stores edges for
its legal placements only. A simulation descends every tree to a new leaf (`descent`), the network
evaluates all leaves in one batch, and the values go back up (`tree`). The root follows PUCT, which
`selection` describes, or Gumbel MuZero (`gumbel`); `proofs` says what is known for certain, and
`roots` what one move's search leaves to the next.

Source: cAlphaZero (Agarwal et al.), equations 1 and 2, and the bonus of section 2.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.alphazero.search import descent, gumbel, results, roots, tree
from sudoku_agents.alphazero.search.results import SearchResult
from sudoku_agents.alphazero.search.selection import Scoring
from sudoku_gym.board.placements import Actions, legal_placements
from sudoku_gym.geometry import Geometry
from sudoku_gym.kernels.endings import SPARSE, TERMINAL, Rules
from sudoku_gym.kernels.layout import sizes_of, unit_tables

Evaluator = Callable[
    [NDArray[np.int8], NDArray[np.bool_]], tuple[NDArray[np.float32], NDArray[np.float32]]
]
"""Says what it thinks of boards, int8 `[B, N, N]` with masks bool `[B, A]`: priors of the moves,
float32 `[B, A]`, and the values of the boards, float32 `[B]`."""


@dataclass(frozen=True)
class SearchConfig:
    """Settings of the search."""

    simulations: int = 200
    """simulations a move; those kept from the search before count"""
    root: Literal["puct", "gumbel"] = "puct"
    """how a root chooses: `puct`, by upper confidence bounds; `gumbel`, by sequential halving among
    moves drawn from the policy, which improves on it with as few as 8 simulations"""
    c_puct: float = 1.0
    """weight of the prior in equation 1 (puct)"""
    unvisited_bonus: float = 0.5
    """added to the score of actions that were not tried yet, section 2.1 (puct)"""
    considered: int = 16
    """how many moves a root considers at most (gumbel)"""
    c_visit: float = 50.0
    """sigma(q) = (c_visit + most visits) * c_scale * q (gumbel)"""
    c_scale: float = 0.1
    """see `c_visit` (gumbel)"""
    backup: Literal["mean", "max"] = "mean"
    """what a move is worth: the `mean` of the simulations through it, or the `max` over what can
    follow it, since nothing is left to chance"""
    proofs: bool = True
    """never try what is proven lost again, and end a search whose root is proven"""
    reuse: bool = True
    """start from what the search before the last move left: its subtree (puct), its proofs"""
    end_at_dead_end: bool = True
    """a blank cell without candidates ends the game at once, not only when no move is left"""
    reward: Literal["terminal", "sparse"] = "terminal"
    """what a finished game is worth: `terminal`, its constraint fraction (equation 4); `sparse`,
    1 if it is solved, else 0"""
    actions: Actions = "legal"
    """what may be placed in a blank cell: `legal`, its candidates; `blank`, any digit"""

    def __post_init__(self) -> None:
        if self.simulations < 1:
            raise ValueError(f"simulations must be at least 1, not {self.simulations}")
        if self.simulations >= 2**16:
            raise ValueError(f"simulations must be below {2**16}, not {self.simulations}")
        if self.considered < 1:
            raise ValueError(f"considered must be at least 1, not {self.considered}")
        for name in ("c_puct", "c_visit", "c_scale"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be at least 0 and finite, not {getattr(self, name)}")
        choices = {
            "root": ("puct", "gumbel"),
            "backup": ("mean", "max"),
            "reward": ("terminal", "sparse"),
            "actions": ("legal", "blank"),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"{name} must be {allowed[0]!r} or {allowed[1]!r}, not {getattr(self, name)!r}"
                )

    @property
    def rules(self) -> Rules:
        """The rules of the games that the search looks ahead in."""
        return Rules(
            reward=TERMINAL if self.reward == "terminal" else SPARSE,
            any_digit=self.actions == "blank",
            end_at_dead_end=self.end_at_dead_end,
        )

    @property
    def scoring(self) -> Scoring:
        """How the kernels choose, and what a move is worth to them."""
        return Scoring(
            gumbel=self.root == "gumbel",
            takes_best=self.backup == "max",
            simulations=self.simulations,
            c_puct=self.c_puct,
            unvisited_bonus=self.unvisited_bonus,
            considered=self.considered,
            c_visit=self.c_visit,
            c_scale=self.c_scale,
        )


class Forest:
    """The trees of G games, for a search before each of their moves.

    Args:
        boards: int8 `[G, N, N]`, the first ones; later boards of a game hold more digits.
        geometry: the boards' units.
        config: settings of the search.
    """

    def __init__(self, boards: NDArray[np.int8], geometry: Geometry, config: SearchConfig) -> None:
        self._config = config
        rules = config.rules
        self._geometry = tuple(sizes_of(geometry)), tuple(unit_tables(geometry))
        self._rules, self._scoring = tuple(rules), tuple(config.scoring)
        legal = legal_placements(boards, geometry, config.actions)
        self._trees = tree.new_trees(
            len(boards),
            geometry,
            rules.any_digit,
            config.proofs,
            config.simulations,
            int(legal.sum(1).max()),
        )
        self._leaf_boards = np.empty(boards.shape, np.int8)
        self._leaf_masks = np.empty(legal.shape, np.bool_)

    def search(
        self,
        games: NDArray[np.int64],
        boards: NDArray[np.int8],
        masks: NDArray[np.bool_],
        evaluate: Evaluator,
        root_noise: tuple[float, float, np.random.Generator] | None = None,
        rng: np.random.Generator | None = None,
    ) -> SearchResult:
        """Search from a board of each of some games; see `search`.

        Args:
            games: int64 `[B]`, the numbers of the games, from 0 to G - 1, none twice.
            boards: int8 `[B, N, N]`; with `config.reuse` the tree of the last search goes on if the
                board is one move below its root.
            masks: bool `[B, N**3]`.
            evaluate: see `search`.
            root_noise: see `search`.
            rng: see `search`.

        Returns:
            A `SearchResult` for the B boards.
        """
        config, trees = self._config, tuple(self._trees)
        priors = self._plant(games, boards, masks, evaluate)
        if config.root == "gumbel":
            noise = np.zeros(masks.shape) if rng is None else rng.gumbel(size=masks.shape)
            gumbel.start(trees, games, noise, self._scoring)
        elif root_noise is not None:
            roots.set_priors(trees, games, _with_noise(priors, masks, *root_noise))
        roots.set_budgets(trees, games, self._rules, self._scoring)
        while self._trees.left.any():
            self._simulate(evaluate)
        found = results.read(
            trees, games, priors, masks, self._geometry[0], self._rules, self._scoring
        )
        visit_counts, values, solved, refuted, solutions, improved, scores = found
        solutions = solutions.reshape(boards.shape)
        return SearchResult(visit_counts, values, solved, refuted, solutions, improved, scores)

    def _plant(
        self,
        games: NDArray[np.int64],
        boards: NDArray[np.int8],
        masks: NDArray[np.bool_],
        evaluate: Evaluator,
    ) -> NDArray[np.float32]:
        """Make the boards the roots; return the network's priors at them, float32 `[B, N**3]`."""
        config, trees = self._config, tuple(self._trees)
        sizes, tables = self._geometry
        fresh = roots.follow(
            trees,
            games,
            np.ascontiguousarray(boards).reshape(len(boards), -1),
            masks,
            sizes,
            tables,
            self._rules,
            config.reuse and config.root == "puct",
            config.reuse and config.proofs,
        )
        if fresh.any():
            priors, values = evaluate(boards[fresh], masks[fresh])
            self._expand(
                games[fresh], np.zeros(len(values), np.int32), priors, values, masks[fresh]
            )
        return roots.priors_of(trees, games, masks.shape[1])

    def _simulate(self, evaluate: Evaluator) -> None:
        """Run a simulation in every tree that has some left."""
        trees = tuple(self._trees)
        boards, masks = self._leaf_boards, self._leaf_masks
        leaves, values, is_open = descent.descend(
            trees,
            *self._geometry,
            self._rules,
            self._scoring,
            boards.reshape(len(boards), -1),
            masks.view(np.int8),
        )
        if is_open.any():
            games = np.flatnonzero(is_open)
            if len(games) < len(boards):
                boards, masks = boards[games], masks[games]
            priors, values[games] = evaluate(boards, masks)
            self._expand(games, leaves[games], priors, values[games], masks)
        tree.back_up(trees, values, self._scoring)

    def _expand(
        self,
        games: NDArray[np.int64],
        nodes: NDArray[np.int32],
        priors: NDArray[np.float32],
        values: NDArray[np.float32],
        masks: NDArray[np.bool_],
    ) -> None:
        any_digit = self._config.actions == "blank"
        tree.expand(
            tuple(self._trees), games, nodes, priors, values, masks, self._geometry[0], any_digit
        )


def search(
    boards: NDArray[np.int8],
    masks: NDArray[np.bool_],
    geometry: Geometry,
    evaluate: Evaluator,
    config: SearchConfig,
    root_noise: tuple[float, float, np.random.Generator] | None = None,
    rng: np.random.Generator | None = None,
) -> SearchResult:
    """Search from B boards at once.

    Args:
        boards: int8 `[B, N, N]`, none of them finished.
        masks: bool `[B, N**3]`, which placements `config.actions` makes legal, or some of them;
            each board has at least one.
        geometry: the boards' units.
        evaluate: maps boards and masks to priors float32 `[B, N**3]` (0 where illegal, rows sum
            to 1) and values float32 `[B]`.
        config: settings of the search.
        root_noise: `(alpha, fraction, rng)` mixes Dirichlet noise into the priors of the roots
            (puct).
        rng: draws the Gumbel noise of the roots (gumbel); None plays without.

    Returns:
        A `SearchResult` for the B roots.
    """
    forest = Forest(boards, geometry, config)
    return forest.search(np.arange(len(boards)), boards, masks, evaluate, root_noise, rng)


def _with_noise(
    priors: NDArray[np.float32],
    masks: NDArray[np.bool_],
    alpha: float,
    fraction: float,
    rng: np.random.Generator,
) -> NDArray[np.float32]:
    """Mix Dirichlet noise over the legal actions into the priors (AlphaZero)."""
    noise = np.where(masks, rng.standard_gamma(alpha, masks.shape), 0) + 1e-12 * masks
    noise /= noise.sum(1, keepdims=True)
    return ((1 - fraction) * priors + fraction * noise).astype(np.float32)
