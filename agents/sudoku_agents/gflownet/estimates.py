"""What each state of a trajectory says of log Z: the numbers that all losses compare."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from sudoku_agents.gflownet import losses
from sudoku_agents.gflownet.config import BalanceConfig, Kind, RewardConfig
from sudoku_agents.gflownet.flows import Answers, FlowNetwork, distinct, log_shares
from sudoku_agents.gflownet.orders import Choices, Order, choices
from sudoku_agents.gflownet.rewards import log_candidates, log_rewards
from sudoku_agents.gflownet.trajectories import Trajectories
from sudoku_gym.geometry import Geometry


class Estimates(NamedTuple):
    """Of G trajectories of at most T steps, after R of the body's rounds; see `losses`.

    Attributes:
        values: float32 `[R, G, T + 1]`, u_t.
        energies: float32 `[G, T + 1]`, minus the log of what each state looks worth; 0 at the end.
        lengths: int64 `[G]`.
    """

    values: Tensor
    energies: Tensor
    lengths: Tensor

    def log_z(self, kind: Kind) -> Tensor:
        """Return log Z of each trajectory's puzzle, `[R, G]`, of a network with that loss."""
        first = self.values[..., 0]
        return first - self.energies[:, 0] if kind == "forward-looking" else first


def log_backward(trajectories: Trajectories, order: Order) -> NDArray[np.float32]:
    """Return log P_B of each step, float32 `[G, T]`: 0 in a tree, else -log(t + 1); 0 after it."""
    is_step = trajectories.actions >= 0
    if order != "any":
        return np.zeros(is_step.shape, np.float32)
    made = np.arange(1, is_step.shape[1] + 1, dtype=np.float32)
    return np.where(is_step, -np.log(made), np.float32(0))


def estimate(
    network: FlowNetwork,
    trajectories: Trajectories,
    geometry: Geometry,
    order: Order,
    reward: RewardConfig,
    inner_flows: bool = True,
) -> Estimates:
    """Ask the network about the states of trajectories, each of a step at least.

    Args:
        network: with gradients.
        trajectories: G of them.
        geometry: the boards' units.
        order: in which blanks were filled.
        reward: of dead ends.
        inner_flows: False if nobody looks at the estimates between the first state and the end;
            then the network is not asked where there was nothing to choose.
    """
    boards, owners, steps = trajectories.states()
    found = choices(boards, geometry, order)
    asked = np.flatnonzero(inner_flows | (steps == 0) | (found.num_allowed > 1))
    index, inverse = distinct(boards[asked])
    once = asked[index]
    begins = np.bincount(inverse, steps[asked] == 0) > 0
    said = _ask(network, boards[once], found.of(once), geometry, inner_flows | begins)
    owner, step = owners[asked], steps[asked]
    chosen = torch.from_numpy(trajectories.actions[owner, step].astype(np.int64))
    shares = log_shares(trajectories.blanks[owner], step, order)

    count, longest = trajectories.actions.shape
    taken = said.log_pf.new_zeros(len(said.log_pf), count, longest)
    taken[:, owner, step] = said.log_pf[:, torch.from_numpy(inverse), chosen]
    flows = said.log_flow.new_zeros(len(said.log_flow), count, longest + 1)
    flows[:, owner, step] = said.log_flow[:, torch.from_numpy(inverse)] - shares
    rewards = log_rewards(trajectories.ends, geometry, reward.exponent, reward.floor)
    flows[:, np.arange(count), trajectories.lengths] = torch.from_numpy(rewards)

    passed = torch.from_numpy(log_backward(trajectories, order)) - taken
    values = flows + functional.pad(passed.cumsum(-1), (1, 0))
    energies = torch.zeros(count, longest + 1)
    energies[owners, steps] = -torch.from_numpy(log_candidates(found.candidates, geometry.size))
    return Estimates(values, energies, torch.from_numpy(trajectories.lengths))


def _ask(
    network: FlowNetwork,
    boards: NDArray[np.int8],
    found: Choices,
    geometry: Geometry,
    with_flow: NDArray[np.bool_],
) -> Answers:
    """Ask about boards after every round; those `with_flow` about their flow too."""
    if with_flow.all():
        return network.answer(boards, found, geometry, all_rounds=True)
    parts = np.flatnonzero(with_flow), np.flatnonzero(~with_flow)
    said = [
        network.answer(boards[part], found.of(part), geometry, all_rounds=True, flows=flows)
        for part, flows in zip(parts, (True, False), strict=True)
    ]
    back = torch.from_numpy(np.concatenate(parts).argsort())
    return Answers(*(torch.cat(both, 1)[:, back] for both in zip(*said, strict=True)))


def balance_loss(estimates: Estimates, config: BalanceConfig, groups: Tensor) -> Tensor:
    """Return the loss that a configuration asks for.

    Args:
        estimates: of G trajectories.
        config: which loss.
        groups: int64 `[G]`, the puzzle of each, numbered from 0 without gaps.
    """
    values, energies, lengths = estimates
    values = values[-(config.rounds or len(values)) :]
    match config.kind:
        case "trajectory-balance":
            return losses.trajectory_balance(values, lengths)
        case "log-partition-variance":
            return losses.log_partition_variance(values, lengths, groups)
        case "detailed-balance":
            return losses.detailed_balance(values, lengths)
        case "sub-trajectory-balance":
            return losses.sub_trajectory_balance(values, lengths, config.decay)
        case "forward-looking":
            return losses.forward_looking_detailed_balance(values, energies, lengths)
        case "maximum-likelihood":
            raise ValueError("maximum-likelihood balances nothing along trajectories")
