"""The losses of GFlowNets, one function each, over estimates of log Z.

Along a trajectory s_0, ..., s_n let u_t = log F(s_t) + sum over i < t of
[log P_B(s_i | s_{i+1}) - log P_F(s_{i+1} | s_i)], where log F(s_n) is the log-reward. If the flow
is exact, every u_t is log Z; the residual of the sub-trajectory from s_i to s_j is u_i - u_j.
`estimates` float32 `[..., G, T + 1]` are the u_t of G trajectories (after the end anything finite),
`lengths` int64 `[G]` their n, at least 1. Leading axes, such as rounds, are averaged over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from sudoku_agents.gflownet.config import BalanceConfig
from sudoku_agents.gflownet.flows import FlowNetwork, log_num_subsets, unique_boards
from sudoku_agents.gflownet.orders import Order, forward_masks
from sudoku_agents.gflownet.trajectories import Trajectories
from sudoku_gym.geometry import Geometry

TerminalReward: TypeAlias = Callable[[NDArray[np.int8]], NDArray[np.floating]]
"""The rewards `[G]` of boards int8 `[G, N, N]` at which trajectories end."""


class LogZEstimates(NamedTuple):
    """Of G trajectories of at most T steps, after R rounds of the body."""

    values: Tensor  # float32 `[R, G, T + 1]`, u_t
    lengths: Tensor  # int64 `[G]`


def log_pb(trajectories: Trajectories, order: Order) -> NDArray[np.float32]:
    """Return log P_B of each step, float32 `[G, T]`: 0 in a tree, else -log(t + 1); 0 after it."""
    is_step = trajectories.actions >= 0
    if order != "any":
        return np.zeros(is_step.shape, np.float32)
    made = np.arange(1, is_step.shape[1] + 1, dtype=np.float32)
    return np.where(is_step, -np.log(made), np.float32(0))


def log_rewards(
    trajectories: Trajectories, least: float, reward: TerminalReward | None
) -> NDArray[np.float32]:
    """Return log R of the ends of G trajectories, float32 `[G]`, none below `least`.

    ValueError unless `reward` returns `[G]` numbers, none nan or infinite; 0 and less are `least`.
    """
    if reward is None:
        return np.where(trajectories.solved, np.float32(0), np.float32(least))
    rewards = np.asarray(reward(trajectories.terminal_boards), np.float64)
    if rewards.shape != trajectories.lengths.shape or not (rewards < np.inf).all():
        raise ValueError("the reward function must return one finite number a board")
    return np.maximum(np.log(np.maximum(rewards, 1e-300)), least).astype(np.float32)


def log_z_estimates(
    network: FlowNetwork,
    trajectories: Trajectories,
    geometry: Geometry,
    order: Order,
    min_log_reward: float,
    inner_flows: bool = True,
    reward: TerminalReward | None = None,
) -> LogZEstimates:
    """Estimate log Z from each state of trajectories of at least one step.

    The reward of a solved board is 1, that of a dead end exp(`min_log_reward`), without `reward`.
    Without `inner_flows` only the estimates of the first state and the end are needed, and states
    with a single allowed placement are not evaluated.
    """
    boards, owners, steps = trajectories.states()
    masks = forward_masks(boards, geometry, order)
    needed = np.flatnonzero(inner_flows | (steps == 0) | (masks.num_allowed > 1))
    index, inverse = unique_boards(boards[needed])
    once = needed[index]
    output = network.evaluate_states(boards[once], masks.take(once), geometry, all_rounds=True)
    owner, step = owners[needed], steps[needed]
    chosen = torch.from_numpy(trajectories.actions[owner, step].astype(np.int64))
    shares = log_num_subsets(trajectories.blanks[owner], step, order)

    count, longest = trajectories.actions.shape
    log_pf = output.log_pf.new_zeros(len(output.log_pf), count, longest)
    log_pf[:, owner, step] = output.log_pf[:, torch.from_numpy(inverse), chosen]
    flows = output.log_flow.new_zeros(len(output.log_flow), count, longest + 1)
    flows[:, owner, step] = output.log_flow[:, torch.from_numpy(inverse)] - shares
    rewards = log_rewards(trajectories, min_log_reward, reward)
    flows[:, np.arange(count), trajectories.lengths] = torch.from_numpy(rewards)

    log_ratios = torch.from_numpy(log_pb(trajectories, order)) - log_pf
    values = flows + functional.pad(log_ratios.cumsum(-1), (1, 0))
    return LogZEstimates(values, torch.from_numpy(trajectories.lengths))


def balance_loss(estimates: LogZEstimates, config: BalanceConfig, groups: Tensor) -> Tensor:
    """Return the loss that a configuration asks for.

    `groups` int64 `[G]` numbers the puzzle of each trajectory, from 0 without gaps.
    """
    values, lengths = estimates
    match config.kind:
        case "trajectory-balance":
            return trajectory_balance(values, lengths)
        case "log-partition-variance":
            return log_partition_variance(values, lengths, groups)
        case "sub-trajectory-balance":
            return sub_trajectory_balance(values, lengths, config.decay)
        case "maximum-likelihood":
            raise ValueError("maximum-likelihood balances nothing along trajectories")


def trajectory_balance(estimates: Tensor, lengths: Tensor) -> Tensor:
    """Compare the first state of a trajectory with its end: the mean of (u_0 - u_n)^2.

    Source: Malkin et al., "Trajectory balance" (2022), equation 14.
    """
    return (estimates[..., 0] - _last(estimates, lengths)).square().mean()


def log_partition_variance(estimates: Tensor, lengths: Tensor, groups: Tensor) -> Tensor:
    """Compare the ends of a puzzle's trajectories: the variance of u_n (VarGrad).

    No flow is learned; the mean of a puzzle's u_n stands for its log Z. `groups` int64 `[G]`
    numbers the puzzle of each trajectory, from 0 without gaps.

    Source: Zhang et al., "Robust scheduling with GFlowNets" (2023); Richter et al., "VarGrad"
    (2020).
    """
    last = _last(estimates, lengths)
    counts = torch.bincount(groups).to(last.dtype)
    sums = last.new_zeros(*last.shape[:-1], len(counts)).index_add(-1, groups, last)
    return (last - (sums / counts)[..., groups]).square().mean()


def sub_trajectory_balance(estimates: Tensor, lengths: Tensor, decay: float) -> Tensor:
    """Compare each state with each later one: SubTB(lambda), `decay` being lambda.

    The weighted mean of (u_i - u_j)^2 over i < j with weights lambda^(j - i), then the mean over
    trajectories. With lambda 0 only neighbours are compared, which is detailed balance; a large one
    makes it trajectory balance.

    Sources: Madan et al., "Learning GFlowNets from partial episodes" (2023); Bengio et al.,
    "GFlowNet foundations" (2023), section 3.2.
    """
    steps = torch.arange(estimates.shape[-1])
    apart = steps - steps[:, None]  # [T + 1, T + 1], j - i
    weights = torch.where(apart > 0, estimates.new_tensor(decay) ** (apart - 1), 0.0)
    weights = weights * (steps <= lengths[:, None])[:, None, :]  # [G, T + 1, T + 1]
    weights = weights / weights.sum((-1, -2), keepdim=True)
    residuals = estimates[..., :, None] - estimates[..., None, :]
    return (residuals.square() * weights).sum((-1, -2)).mean()


def _last(estimates: Tensor, lengths: Tensor) -> Tensor:
    """Return u_n of each trajectory, `[..., G]`."""
    index = lengths.expand(estimates.shape[:-1])[..., None]
    return estimates.gather(-1, index)[..., 0]
