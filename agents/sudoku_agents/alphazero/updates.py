"""The updates of the network: batches from the replay, and the loss that they lower."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.alphazero.config import LossConfig
from sudoku_agents.alphazero.losses import losses
from sudoku_agents.alphazero.replay import Positions
from sudoku_gym.board.actions import Actions, legal_placements
from sudoku_gym.geometry import Geometry, symmetry
from sudoku_learning.networks import Network
from sudoku_learning.training import Optimiser


@dataclass(frozen=True)
class Losses:
    """Means over an iteration's updates.

    Attributes:
        policy: cross entropy of the network's policy against the search's, nats.
        value: squared error of the value.
        entropy: entropy of the network's policy, nats.
        accuracy: share of positions where the network's first choice is the search's, or one of
            several that share the first place: the alpha of Algorithm 1.
        positions: how many positions were trained on, with repeats.
    """

    policy: float
    value: float
    entropy: float
    accuracy: float
    positions: int


def update(
    network: Network,
    optimiser: Optimiser,
    positions: Positions,
    num_new: int,
    geometry: Geometry,
    config: LossConfig,
    rng: np.random.Generator,
    augment: bool = True,
    actions: Actions = "legal",
) -> Losses:
    """Update the network on batches drawn with replacement; the loss counts at every round.

    Args:
        network: with the heads `policy` and `value`.
        optimiser: of the network's parameters.
        positions: the replay.
        num_new: how many positions the latest self-play added; sets the number of updates.
        geometry: the boards' units.
        config: weights of the loss, batch size, passes.
        rng: draws the batches and the symmetries.
        augment: move each position by a random symmetry.
        actions: which placements the games allow.

    Returns:
        Means over the updates.
    """
    network.train()
    updates = ceil(config.passes * num_new / config.batch_size)
    sums = np.zeros(4)
    for _ in range(updates):
        batch = positions[rng.integers(len(positions), size=config.batch_size)]
        boards, policies = batch.boards, batch.policies.dense(geometry.num_placements)
        if augment:
            moved_by = symmetry.sample(geometry, len(batch), rng)
            boards, policies = moved_by.apply(boards), moved_by.apply_to_policy(policies)
        masks = legal_placements(boards, geometry, actions)
        masks |= config.every_action
        found = network.forward_all_rounds(
            torch.from_numpy(boards), torch.from_numpy(masks), geometry
        )
        value_loss, policy_loss, entropy = losses(
            found["policy"],
            found["value"],
            torch.from_numpy(policies),
            torch.from_numpy(batch.returns),
        )
        loss = config.value_weight * value_loss + policy_loss - config.entropy_weight * entropy
        optimiser.step(loss)
        accuracy = _first_choice_agrees(found["policy"][-1], policies)
        sums += [policy_loss.item(), value_loss.item(), entropy.item(), accuracy]
    network.eval()
    policy_mean, value_mean, entropy_mean, accuracy = (sums / updates).tolist()
    return Losses(policy_mean, value_mean, entropy_mean, accuracy, updates * config.batch_size)


def _first_choice_agrees(logits: Tensor, policies: NDArray[np.float32]) -> float:
    choice = logits.detach().argmax(1).numpy()
    return float((policies[np.arange(len(policies)), choice] == policies.max(1)).mean())
