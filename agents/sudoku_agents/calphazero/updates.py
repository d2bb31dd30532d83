"""The updates of the network on batches from the replay."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.calphazero.config import CAlphaZeroConfig
from sudoku_agents.calphazero.replay import Positions
from sudoku_gym.board.actions import legal_placements
from sudoku_gym.geometry import Geometry, symmetry
from sudoku_learning.networks import Network
from sudoku_learning.training import Optimizer


@dataclass(frozen=True)
class CAlphaZeroLosses:
    """Means over an iteration's updates."""

    policy: float  # cross entropy of the network's policy against the search's, nats
    value: float  # squared error of the value
    entropy: float  # entropy of the network's policy, nats
    accuracy: float  # share of first choices that are (among) the search's: Algorithm 1's alpha
    positions: int  # how many were trained on, with repeats


def update_network(
    network: Network,
    optimizer: Optimizer,
    positions: Positions,
    num_new: int,
    geometry: Geometry,
    config: CAlphaZeroConfig,
    rng: np.random.Generator,
) -> CAlphaZeroLosses:
    """Update the network on batches drawn with replacement; the loss counts at every round.

    `num_new` is how many positions the latest self-play added; it sets the number of updates. `rng`
    draws the batches and the symmetries.
    """
    weights, batch_size = config.loss, config.optimizer.batch_size
    network.train()
    updates = ceil(weights.passes * num_new / batch_size)
    sums = np.zeros(4)
    for _ in range(updates):
        batch = positions[rng.integers(len(positions), size=batch_size)]
        boards, policies = batch.boards, batch.policies.dense(geometry.num_placements)
        if config.augment:
            moved_by = symmetry.sample(geometry, len(batch), rng)
            boards, policies = moved_by.apply(boards), moved_by.apply_to_policy(policies)
        masks = legal_placements(boards, geometry, config.search.actions)
        masks |= weights.every_action
        found = network.forward_all_rounds(
            torch.from_numpy(boards), torch.from_numpy(masks), geometry
        )
        value_loss, policy_loss, entropy = losses(
            found["policy"],
            found["value"],
            torch.from_numpy(policies),
            torch.from_numpy(batch.returns),
        )
        loss = weights.value_weight * value_loss + policy_loss - weights.entropy_weight * entropy
        optimizer.step(loss)
        accuracy = _first_choice_agrees(found["policy"][-1], policies)
        sums += [policy_loss.item(), value_loss.item(), entropy.item(), accuracy]
    network.eval()
    policy_mean, value_mean, entropy_mean, accuracy = (sums / updates).tolist()
    return CAlphaZeroLosses(policy_mean, value_mean, entropy_mean, accuracy, updates * batch_size)


def losses(
    logits: Tensor, values: Tensor, search_policy: Tensor, returns: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    r"""Return the three terms of the loss: squared error, cross entropy, and entropy of pi_s.

    $$\ell = \lambda (r - v_s)^2 - p_s^\top \log \pi_s + \xi\, \pi_s^\top \log \pi_s$$

    All are averaged over the batch and over any axes before it, such as rounds; the caller weights
    and adds them. Source: cAlphaZero (Agarwal et al.), equation 5.

    Args:
        logits: float32 `[..., B, A]`, of pi_s; far below the others where illegal.
        values: float32 `[..., B]`, v_s.
        search_policy: float32 `[B, A]`, p_s.
        returns: float32 `[B]`, r.
    """
    log_policy = torch.log_softmax(logits, -1)
    value_loss = (returns - values).square().mean()
    policy_loss = -(search_policy * log_policy).sum(-1).mean()
    entropy = -(log_policy.exp() * log_policy).sum(-1).mean()
    return value_loss, policy_loss, entropy


def _first_choice_agrees(logits: Tensor, policies: NDArray[np.float32]) -> float:
    choice = logits.detach().argmax(1).numpy()
    return float((policies[np.arange(len(policies)), choice] == policies.max(1)).mean())
