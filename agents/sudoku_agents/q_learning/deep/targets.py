r"""Targets of action values; docs/results/q-learning.md derives them.

$y = \sum_{i < n} \gamma^i r_i + \gamma^n V(s_n)$, where V(s) is $\max_a Q(s, a)$ with
`backup="max"`, and the minimum over open constraints c of $\max_{a \in c} Q(s, a)$ with
`"constraint"`. Source of `double`: van Hasselt, Guez and Silver, "Deep reinforcement learning with
double Q-learning" (2016).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.q_learning.deep.agent import HEAD
from sudoku_agents.q_learning.deep.config import DQNConfig
from sudoku_agents.q_learning.deep.replay import Transitions
from sudoku_gym.board.actions import legal_placements
from sudoku_gym.geometry import Geometry
from sudoku_gym.geometry.exact_cover import constraint_members
from sudoku_learning.networks import Network


@dataclass(frozen=True)
class Targets:
    """Targets of the action values of B boards."""

    values: NDArray[np.float32]  # float32 `[B, N**3]`
    known: NDArray[np.bool_]  # bool `[B, N**3]`: the action played, or every legal placement
    all_known: NDArray[np.bool_]  # bool `[B]`: hindsight gave a target to every placement


def compute_targets(
    transitions: Transitions,
    network: Network,
    target_network: Network,
    geometry: Geometry,
    config: DQNConfig,
) -> Targets:
    """Return the targets of a batch of transitions.

    With `double` the network under training chooses the placements of later boards, and the target
    network gives their values.
    """
    count, size = len(transitions), geometry.size
    known = np.zeros((count, size**3), np.bool_)
    known[np.arange(count), transitions.actions] = True
    backed_up = transitions.returns.copy()
    is_solved = transitions.solutions.reshape(count, -1)[:, 0] > 0
    all_known = is_solved & config.targets.hindsight
    bootstrapped = np.flatnonzero(~all_known & (transitions.discounts > 0))
    if len(bootstrapped):
        values = board_values(
            transitions.next_boards[bootstrapped], network, target_network, geometry, config
        )
        backed_up[bootstrapped] += transitions.discounts[bootstrapped] * values
    targets = np.where(known, backed_up[:, None], np.float32(0))
    if all_known.any():
        digits = np.arange(1, size + 1, dtype=np.int8)
        is_right = transitions.solutions[all_known][..., None] == digits
        targets[all_known] = is_right.reshape(-1, size**3)
        known[all_known] = legal_placements(transitions.boards[all_known], geometry, config.actions)
    return Targets(targets, known, all_known)


def board_values(
    boards: NDArray[np.int8],
    network: Network,
    target_network: Network,
    geometry: Geometry,
    config: DQNConfig,
) -> NDArray[np.float32]:
    """Return the values of boards int8 `[B, N, N]`, float32 `[B]`; 0 where none can be solved."""
    masks = legal_placements(boards, geometry, config.actions)
    inputs = torch.from_numpy(boards), torch.from_numpy(masks), geometry
    with torch.no_grad():
        values = as_values(target_network(*inputs)[HEAD], config).numpy()
        chosen_by = values
        if config.targets.double:
            chosen_by = as_values(network(*inputs)[HEAD], config).numpy()
    if config.targets.backup == "max":
        choice = np.where(masks, chosen_by, -np.inf).argmax(1)
        can_go_on = masks.any(1)
    else:
        choice, can_go_on = hardest_choice(boards, chosen_by, masks, geometry)
    chosen_values = values[np.arange(len(boards)), choice]
    return np.where(can_go_on, chosen_values, np.float32(0))


def hardest_choice(
    boards: NDArray[np.int8],
    values: NDArray[np.float32],
    masks: NDArray[np.bool_],
    geometry: Geometry,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Find the open constraint whose best placement has the lowest value.

    Args:
        boards: int8 `[B, N, N]`.
        values: float32 `[B, N**3]`.
        masks: bool `[B, N**3]`, the legal placements.
        geometry: the boards' geometry.

    Returns:
        The best placement of that constraint, int64 `[B]`, and whether every open constraint has
        one, bool `[B]`.
    """
    members = constraint_members(geometry)
    digits = np.arange(1, geometry.size + 1, dtype=np.int8)
    is_placed = (boards[..., None] == digits).reshape(len(boards), -1)
    is_open = ~is_placed[:, members].any(2)  # [B, C]
    of_members = np.where(masks, values, -np.inf)[:, members]  # [B, C, N]
    best = np.where(is_open, of_members.max(2), np.inf)
    rows, hardest = np.arange(len(boards)), best.argmin(1)
    choice = members[hardest, of_members[rows, hardest].argmax(1)]
    return choice, best[rows, hardest] > -np.inf


def as_values(numbers: Tensor, config: DQNConfig) -> Tensor:
    """Turn the network's outputs into action values."""
    return torch.sigmoid(numbers) if config.values == "solvable" else numbers
