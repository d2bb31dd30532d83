"""Exact sums over all states of a small board: true flows, and what a policy ends at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.gflownet.flows import FlowNetwork
from sudoku_agents.gflownet.orders import ForwardMasks, Order, forward_masks, successors
from sudoku_agents.gflownet.rewards import log_rewards
from sudoku_gym.geometry import Geometry, symmetry


@dataclass(frozen=True)
class Level:
    """The S states after a number of placements, and the E steps from them to the next level."""

    boards: NDArray[np.int8]  # int8 `[S, N, N]`, each once
    masks: ForwardMasks  # nothing is allowed where a trajectory ends
    parents: NDArray[np.int64]  # int64 `[E]`, the state in which each step begins
    actions: NDArray[np.int64]  # int64 `[E]`, its placement
    children: NDArray[np.int64]  # int64 `[E]`, the state of the next level

    @property
    def is_terminal(self) -> NDArray[np.bool_]:
        """Where trajectories end: bool `[S]`."""
        return self.masks.num_allowed == 0


class StateGraph:
    """All states that can be reached from a puzzle, as `levels`.

    Args:
        puzzle: int8 `[N, N]`.
        geometry: its units.
        order: in which blanks are filled.
        limit: most states of a level.
        symmetric: merge the boards of an orbit into one state, which one of them represents. Exact
            for the true flow and for equivariant networks. Only for the order `any`.

    Raises:
        ValueError: if a level has more states than the limit, or `symmetric` is asked of a tree.
    """

    def __init__(
        self,
        puzzle: NDArray[np.int8],
        geometry: Geometry,
        order: Order,
        limit: int = 1_000_000,
        symmetric: bool = False,
    ) -> None:
        if symmetric and order != "any":
            raise ValueError(f"orbits are no states of the order {order!r}, only of 'any'")
        self.geometry = geometry
        self.order: Order = order
        self.levels: list[Level] = []
        boards = np.ascontiguousarray(puzzle, np.int8)[None]
        while len(boards):
            if len(boards) > limit:
                raise ValueError(
                    f"more than {limit:,} states after {len(self.levels)} placements: take a board "
                    "with fewer blanks, a tree, or states up to symmetry (symmetric=True)"
                )
            masks = forward_masks(boards, geometry, order)
            parents, actions, after = successors(boards, masks)
            if symmetric and len(after):
                after = symmetry.canonical_form(after, geometry)
            following, children = np.unique(after, axis=0, return_inverse=True)
            self.levels.append(Level(boards, masks, parents, actions, children.reshape(-1)))
            boards = following

    def terminal_boards(self) -> NDArray[np.int8]:
        """Return all boards at which trajectories end, level by level: int8 `[M, N, N]`."""
        return np.concatenate([level.boards[level.is_terminal] for level in self.levels])

    def log_flows(self, exponent: float | None, min_log_reward: float) -> list[NDArray[np.float64]]:
        """Return the exact log F of each state of each level; that of the puzzle is log Z.

        F(s) is the sum of F(s') P_B(s | s') over the next states, and the reward at the end.
        """
        flows: list[NDArray[np.float64]] = []
        for made in range(len(self.levels) - 1, -1, -1):
            level = self.levels[made]
            rewards = log_rewards(level.boards, self.geometry, exponent, min_log_reward)
            flow = np.where(level.is_terminal, np.exp(rewards.astype(np.float64)), 0.0)
            if flows:
                backward = 1 / (made + 1) if self.order == "any" else 1.0
                arriving = np.exp(flows[-1])[level.children] * backward
                flow += np.bincount(level.parents, arriving, len(flow))
            flows.append(np.log(flow))
        return flows[::-1]

    def log_policies(self, network: FlowNetwork) -> list[NDArray[np.float32]]:
        """Return a network's log P_F of each step of each level."""
        return [
            network.log_policy(level.boards, level.masks, self.geometry)[
                level.parents, level.actions
            ]
            for level in self.levels
        ]

    def terminating_distribution(
        self, log_policies: Sequence[NDArray[np.floating]]
    ) -> NDArray[np.float64]:
        """Return how likely a policy ends at each of `terminal_boards`, float64 `[M]`.

        `log_policies` holds log P_F of each step of each level.
        """
        reached: NDArray[np.float64] = np.ones(1)
        ended = []
        for level, log_pf in zip(self.levels, log_policies, strict=True):
            ended.append(reached[level.is_terminal])
            moved = reached[level.parents] * np.exp(log_pf.astype(np.float64))
            reached = np.bincount(level.children, moved).astype(np.float64)
        return np.concatenate(ended)


def total_variation(chances: NDArray[np.floating], others: NDArray[np.floating]) -> float:
    """Return half the sum of the differences of two distributions over the same things."""
    return float(np.abs(chances - others).sum() / 2)
