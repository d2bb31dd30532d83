"""Flow matching: log Z of a puzzle from the flow head, evaluated some placements later.

F(s) is the sum of F(s') P_B(s | s') over the next states s', which are easier to predict.
Source: Bengio et al., "Flow network based generative models for non-iterative diverse candidate
generation" (2021), the flow-matching condition.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from sudoku_agents.gflownet.config import RewardConfig
from sudoku_agents.gflownet.flows import FLOW_CHUNK_SIZE, FlowNetwork, log_num_subsets
from sudoku_agents.gflownet.orders import Order, forward_masks, successors
from sudoku_agents.gflownet.rewards import log_rewards
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import chunks


def log_z_by_flow_matching(
    network: FlowNetwork,
    puzzles: NDArray[np.int8],
    geometry: Geometry,
    order: Order,
    reward: RewardConfig,
    steps: int = 1,
) -> NDArray[np.float64]:
    """Return log Z of puzzles by the flow head, evaluated `steps` placements later: float64 `[B]`.

    Args:
        network: a network in evaluation mode, trained with `order` by `sub-trajectory-balance` or
            `detailed-balance`, or by `trajectory-balance`, which learns the flows of puzzles only.
        puzzles: int8 `[B, N, N]`.
        geometry: the puzzles' geometry.
        order: the order in which blanks are filled; with "any" there are many next boards.
        reward: the reward of dead ends.
        steps: number of placements; 0 evaluates the puzzles themselves.

    Raises:
        ValueError: if `steps` is negative.
    """
    if steps < 0:
        raise ValueError(f"steps must be at least 0, not {steps}")
    blanks = (puzzles == 0).sum((1, 2), dtype=np.int64)

    def log_flows(
        boards: NDArray[np.int8], owners: NDArray[np.int64], made: int
    ) -> NDArray[np.float64]:
        """Return log F of boards after the given number of placements."""
        masks = forward_masks(boards, geometry, order)
        flows = log_rewards(boards, geometry, reward.exponent, reward.min_log_reward).astype(
            np.float64
        )
        on = np.flatnonzero(masks.num_allowed)
        boards, owners, masks = boards[on], owners[on], masks.take(on)
        if made == steps:
            for part in chunks(len(on), FLOW_CHUNK_SIZE):
                with torch.inference_mode():
                    output = network.evaluate_states(
                        boards[part], masks.take(part), geometry
                    ).log_flow[-1]
                shares = log_num_subsets(blanks[owners[part]], np.full(len(output), made), order)
                flows[on[part]] = (output - shares).numpy()
        elif len(on):
            parents, _, after = successors(boards, masks)
            into = owners[parents]
            if order == "any":  # several boards lead to the same; P_B is uniform
                keys = np.column_stack([into, after.reshape(len(after), -1)])
                _, index, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
                next_flows = log_flows(after[index], into[index], made + 1)
                arriving = next_flows[inverse.reshape(-1)] - np.log(made + 1)
            else:
                arriving = log_flows(after, into, made + 1)
            first = np.flatnonzero(np.diff(parents, prepend=-1))
            flows[on] = np.logaddexp.reduceat(arriving, first)
        return flows

    return log_flows(puzzles, np.arange(len(puzzles)), 0)
