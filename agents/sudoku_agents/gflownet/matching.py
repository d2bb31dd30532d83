"""Flow matching: log Z from what the head of the flow says some placements on.

What flows through a state flows on through the next ones. So the flow of a puzzle is, by the head,
the flow that the head gives the states one placement on, or two. Each placement leaves less to
guess, and breaks the symmetry of boards that look the same everywhere.

Source: Bengio et al., "Flow network based generative models for non-iterative diverse candidate
generation" (2021), the flow-matching condition.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from sudoku_agents.gflownet.config import RewardConfig
from sudoku_agents.gflownet.flows import FLOW_CHUNK_SIZE, FlowNetwork, log_shares
from sudoku_agents.gflownet.orders import Order, choices, next_boards
from sudoku_agents.gflownet.rewards import log_rewards
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import chunks


def log_z_ahead(
    network: FlowNetwork,
    puzzles: NDArray[np.int8],
    geometry: Geometry,
    order: Order,
    reward: RewardConfig,
    steps: int = 1,
) -> NDArray[np.float64]:
    """Return log Z of puzzles by the head of the flow, asked so many placements on.

    Args:
        network: evaluating; trained in that order by `sub-trajectory-balance` or
            `detailed-balance`, which teach it the flows of boards on the way too, or by
            `trajectory-balance`, which teaches it those of puzzles. Two of the other losses learn
            no flow, and `forward-looking` only what is left of it beside a guess.
        puzzles: int8 `[B, N, N]`.
        geometry: their units.
        order: in which blanks are filled. Without one there are many next boards.
        reward: of dead ends.
        steps: 0 asks about the puzzles themselves.

    Returns:
        float64 `[B]`.

    Raises:
        ValueError: if `steps` is negative.
    """
    if steps < 0:
        raise ValueError(f"steps must be at least 0, not {steps}")
    blanks = (puzzles == 0).sum((1, 2), dtype=np.int64)

    def log_flows(
        boards: NDArray[np.int8], owners: NDArray[np.int64], made: int
    ) -> NDArray[np.float64]:
        """Return log F of boards that are so many placements away from their puzzles."""
        found = choices(boards, geometry, order)
        flows = log_rewards(boards, geometry, reward.exponent, reward.floor).astype(np.float64)
        on = np.flatnonzero(found.num_allowed)
        boards, owners, found = boards[on], owners[on], found.of(on)
        if made == steps:
            for part in chunks(len(on), FLOW_CHUNK_SIZE):
                with torch.inference_mode():
                    said = network.answer(boards[part], found.of(part), geometry).log_flow[-1]
                shares = log_shares(blanks[owners[part]], np.full(len(said), made), order)
                flows[on[part]] = (said - shares).numpy()
        elif len(on):
            parents, _, after = next_boards(boards, found)
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
