"""Exact sums over all states of a small board: flows and a policy's terminating distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sudoku_agents.gflownet.flows import FlowNetwork
from sudoku_agents.gflownet.orders import ForwardMasks, Order, forward_masks
from sudoku_gym import board
from sudoku_gym.geometry import Geometry


@dataclass(frozen=True)
class Layer:
    """The S states at one depth (number of placements), and the E edges to the next layer."""

    boards: NDArray[np.int8]  # int8 `[S, N, N]`, each once
    masks: ForwardMasks  # nothing is allowed where a trajectory ends
    parents: NDArray[np.int64]  # int64 `[E]`, the state at which an edge starts
    actions: NDArray[np.int64]  # int64 `[E]`, the placement of an edge
    children: NDArray[np.int64]  # int64 `[E]`, the state of the next layer

    @property
    def is_terminal(self) -> NDArray[np.bool_]:
        """Whether trajectories end at a state, bool `[S]`."""
        return self.masks.num_allowed == 0


class StateGraph:
    """All states that can be reached from a puzzle, as `layers`.

    Args:
        puzzle: int8 `[N, N]`.
        geometry: the geometry of the puzzle.
        order: the order in which blanks are filled.
        limit: the largest number of states of a layer.

    Raises:
        ValueError: if a layer has more states than the limit.
    """

    def __init__(
        self, puzzle: NDArray[np.int8], geometry: Geometry, order: Order, limit: int = 1_000_000
    ) -> None:
        self.geometry = geometry
        self.order: Order = order
        self.layers: list[Layer] = []
        boards = np.ascontiguousarray(puzzle, np.int8)[None]
        while len(boards):
            if len(boards) > limit:
                raise ValueError(
                    f"more than {limit:,} states after {len(self.layers)} placements: take a board "
                    "with fewer blanks, or order='rows' or 'constrained'"
                )
            masks = forward_masks(boards, geometry, order)
            parents, actions = np.nonzero(masks.allowed)
            cells, digits = np.divmod(actions, geometry.size)
            after = boards[parents]
            after[np.arange(len(after)), *np.divmod(cells, geometry.size)] = digits + 1
            next_boards, children = np.unique(after, axis=0, return_inverse=True)
            self.layers.append(Layer(boards, masks, parents, actions, children.reshape(-1)))
            boards = next_boards

    def terminal_boards(self) -> NDArray[np.int8]:
        """Return all boards at which trajectories end, layer by layer: int8 `[M, N, N]`."""
        return np.concatenate([layer.boards[layer.is_terminal] for layer in self.layers])

    def log_flows(self, min_log_reward: float) -> list[NDArray[np.float64]]:
        """Return the exact log F of each state of each layer; that of the puzzle is log Z.

        F(s) is the sum of F(s') P_B(s | s') over the next states, and the reward at the end: of a
        solved board 1, of a dead end exp(`min_log_reward`).
        """
        flows: list[NDArray[np.float64]] = []
        for depth in range(len(self.layers) - 1, -1, -1):
            layer = self.layers[depth]
            is_solved = board.is_solved(layer.boards, self.geometry)
            flow = np.where(is_solved, 1.0, np.exp(min_log_reward)) * layer.is_terminal
            if flows:
                backward = 1 / (depth + 1) if self.order == "any" else 1.0
                inflow = np.exp(flows[-1])[layer.children] * backward
                flow += np.bincount(layer.parents, inflow, len(flow))
            flows.append(np.log(flow))
        return flows[::-1]

    def log_policies(self, network: FlowNetwork) -> list[NDArray[np.float32]]:
        """Return a network's log P_F of each edge of each layer."""
        return [
            network.log_policy(layer.boards, layer.masks, self.geometry)[
                layer.parents, layer.actions
            ]
            for layer in self.layers
        ]

    def terminating_distribution(
        self, log_policies: Sequence[NDArray[np.floating]]
    ) -> NDArray[np.float64]:
        """Return the probability that a policy ends at each of `terminal_boards`, float64 `[M]`.

        `log_policies` holds log P_F of each edge of each layer.
        """
        reached: NDArray[np.float64] = np.ones(1)
        ended = []
        for layer, log_pf in zip(self.layers, log_policies, strict=True):
            ended.append(reached[layer.is_terminal])
            edge_probs = reached[layer.parents] * np.exp(log_pf.astype(np.float64))
            reached = np.bincount(layer.children, edge_probs).astype(np.float64)
        return np.concatenate(ended)


def total_variation(p: NDArray[np.floating], q: NDArray[np.floating]) -> float:
    """Return half the sum of |p - q| of two distributions over the same outcomes."""
    return float(np.abs(p - q).sum() / 2)
