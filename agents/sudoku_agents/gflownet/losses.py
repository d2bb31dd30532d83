"""The losses of GFlowNets, one function each, over estimates of log Z.

Along a trajectory s_0, ..., s_n let u_t = log F(s_t) + sum over i < t of
[log P_B(s_i | s_{i+1}) - log P_F(s_{i+1} | s_i)], where log F(s_n) is the log-reward. If the flow
is exact, every u_t is log Z; the residual of the sub-trajectory from s_i to s_j is u_i - u_j.
`estimates` float32 `[..., G, T + 1]` are the u_t of G trajectories (after the end anything finite),
`lengths` int64 `[G]` their n, at least 1. Leading axes, such as rounds, are averaged over.
"""

from __future__ import annotations

import torch
from torch import Tensor


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


def detailed_balance(estimates: Tensor, lengths: Tensor) -> Tensor:
    """Compare each state with the next: the mean of (u_t - u_{t+1})^2 over all steps.

    Source: Bengio et al., "GFlowNet foundations" (2023), section 3.2.
    """
    residuals = estimates[..., :-1] - estimates[..., 1:]
    is_step = torch.arange(residuals.shape[-1]) < lengths[:, None]
    return (residuals.square() * is_step).sum((-1, -2)).mean() / is_step.sum()


def sub_trajectory_balance(estimates: Tensor, lengths: Tensor, decay: float) -> Tensor:
    """Compare each state with each later one: SubTB(lambda), `decay` being lambda.

    The weighted mean of (u_i - u_j)^2 over i < j with weights lambda^(j - i), then the mean over
    trajectories. Towards 0 lambda makes it detailed balance; a large one trajectory balance.

    Source: Madan et al., "Learning GFlowNets from partial episodes" (2023).
    """
    steps = torch.arange(estimates.shape[-1])
    apart = steps - steps[:, None]  # [T + 1, T + 1], j - i
    weights = torch.where(apart > 0, estimates.new_tensor(decay) ** apart, 0.0)
    weights = weights * (steps <= lengths[:, None])[:, None, :]  # [G, T + 1, T + 1]
    weights = weights / weights.sum((-1, -2), keepdim=True)
    residuals = estimates[..., :, None] - estimates[..., None, :]
    return (residuals.square() * weights).sum((-1, -2)).mean()


def forward_looking_detailed_balance(
    estimates: Tensor, energies: Tensor, lengths: Tensor
) -> Tensor:
    """Detailed balance of flows that are learned as a correction of the states' energies.

    With log F(s) = log F~(s) - E(s), and E(s_n) = -log R(s_n), the network learns F~ alone.
    `estimates` have log F~ in the place of log F, except for u_n; `energies` float32 `[G, T + 1]`
    are E(s_t), 0 at the end, where the reward is included already.

    Source: Pan et al., "Better training of GFlowNets with local credit and incomplete trajectories"
    (2023).
    """
    return detailed_balance(estimates - energies, lengths)


def _last(estimates: Tensor, lengths: Tensor) -> Tensor:
    """Return u_n of each trajectory, `[..., G]`."""
    index = lengths.expand(estimates.shape[:-1])[..., None]
    return estimates.gather(-1, index)[..., 0]
