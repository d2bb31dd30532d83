"""Batched PUCT search: many games in lock step, one tree a game, one network call a simulation.

The trees are flat arrays `[games, nodes, ...]` walked by compiled kernels; a node stores edges for
its legal placements only. A simulation descends every tree to a new leaf, the network evaluates
all leaves in one batch, and the values go back up.

Source: cAlphaZero (Agarwal et al.), equations 1 and 2, and the bonus of section 2.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.alphazero import tree
from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.kernels.endings import SPARSE, TERMINAL, Rules
from sudoku_gym.kernels.layout import sizes_of, unit_tables

Evaluator = Callable[
    [NDArray[np.int8], NDArray[np.bool_]], tuple[NDArray[np.float32], NDArray[np.float32]]
]

Actions = Literal["legal", "blank"]


@dataclass(frozen=True)
class SearchConfig:
    """Settings of the search."""

    simulations: int = 200
    """simulations a move"""
    c_puct: float = 1.0
    """weight of the prior in equation 1"""
    unvisited_bonus: float = 0.5
    """added to the score of actions that were not tried yet (section 2.1)"""
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
        if self.reward not in ("terminal", "sparse"):
            raise ValueError(f"reward must be 'terminal' or 'sparse', not {self.reward!r}")
        if self.actions not in ("legal", "blank"):
            raise ValueError(f"actions must be 'legal' or 'blank', not {self.actions!r}")

    @property
    def rules(self) -> Rules:
        """The rules of the games that the search looks ahead in."""
        return Rules(
            reward=TERMINAL if self.reward == "terminal" else SPARSE,
            any_digit=self.actions == "blank",
            end_at_dead_end=self.end_at_dead_end,
        )


@dataclass(frozen=True)
class SearchResult:
    """What a search found out about each root.

    Attributes:
        visit_counts: int32 `[B, N**3]`, how often each action was tried.
        values: float32 `[B]`, mean value over the simulations.
        solved: bool `[B, N**3]`, actions below which the search met a solved board.
    """

    visit_counts: NDArray[np.int32]
    values: NDArray[np.float32]
    solved: NDArray[np.bool_]

    def policy(self) -> NDArray[np.float32]:
        """The improved policy: visit counts as shares, float32 `[B, N**3]`."""
        total = self.visit_counts.sum(1, keepdims=True, dtype=np.float32)
        return self.visit_counts / np.maximum(total, 1)

    def best_actions(self) -> NDArray[np.int64]:
        """The actions to play, int64 `[B]`: one that is known to solve, else the most visited.

        The game is deterministic and has one player, so one solved leaf settles the matter.
        """
        counts = np.where(self.solved.any(1, keepdims=True) & ~self.solved, -1, self.visit_counts)
        return counts.argmax(1)


def search(
    boards: NDArray[np.int8],
    masks: NDArray[np.bool_],
    geometry: Geometry,
    evaluate: Evaluator,
    config: SearchConfig,
    root_noise: tuple[float, float, np.random.Generator] | None = None,
) -> SearchResult:
    """Search from B boards at once.

    Args:
        boards: int8 `[B, N, N]`, none of them finished.
        masks: bool `[B, N**3]`, which placements `config.actions` makes legal; each board has at
            least one.
        geometry: the boards' units.
        evaluate: maps boards and masks to priors float32 `[B, N**3]` (0 where illegal, rows sum
            to 1) and values float32 `[B]`.
        config: settings of the search.
        root_noise: `(alpha, fraction, rng)` mixes Dirichlet noise into the priors of the roots.

    Returns:
        A `SearchResult` for the B roots.
    """
    batch, size, rules = len(boards), geometry.size, config.rules
    sizes, tables = sizes_of(geometry), unit_tables(geometry)
    trees = tuple(
        tree.new_trees(
            boards.reshape(batch, -1),
            geometry,
            sizes,
            tables,
            rules.any_digit,
            config.simulations,
            int(masks.sum(1).max()),
        )
    )
    priors, _ = evaluate(boards, masks)
    if root_noise is not None:
        priors = _with_noise(priors, masks, *root_noise)
    games = np.arange(batch)
    tree.expand(trees, games, np.zeros(batch, np.int32), priors, masks)

    position_rules = tuple(sizes), tuple(tables), tuple(rules)
    scoring = (config.c_puct, config.unvisited_bonus)
    leaf_boards = np.empty((batch, size, size), np.int8)
    leaf_masks = np.empty((batch, size**3), np.bool_)
    for _ in range(config.simulations):
        leaves, values, is_open = tree.descend(
            trees,
            *position_rules,
            scoring,
            leaf_boards.reshape(batch, -1),
            leaf_masks.view(np.int8),
        )
        if is_open.any():
            priors, values[is_open] = evaluate(leaf_boards[is_open], leaf_masks[is_open])
            tree.expand(trees, games[is_open], leaves[is_open], priors, leaf_masks[is_open])
        tree.back_up(trees, values)
    return SearchResult(*tree.root_statistics(trees, size**3))


def legal_placements(
    boards: NDArray[np.int8], geometry: Geometry, actions: Actions
) -> NDArray[np.bool_]:
    """Return which placements `SearchConfig.actions` makes legal: bool `[B, N**3]`."""
    if actions == "blank":
        return np.repeat(boards.reshape(len(boards), -1) == 0, geometry.size, axis=1)
    return board.candidates(boards, geometry).reshape(len(boards), -1)


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
