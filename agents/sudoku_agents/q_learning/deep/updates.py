"""The updates of the network: batches from the replay, and the loss that they lower."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from sudoku_agents.q_learning.deep.agent import HEAD
from sudoku_agents.q_learning.deep.config import DQNConfig
from sudoku_agents.q_learning.deep.replay import Replay
from sudoku_agents.q_learning.deep.targets import Targets, as_values, targets_of
from sudoku_agents.q_learning.deep.thinking import Thinking
from sudoku_gym.geometry import Geometry
from sudoku_learning.networks import Network
from sudoku_learning.networks.factor_graph import RecurrentState
from sudoku_learning.training import Optimiser


@dataclass(frozen=True)
class Losses:
    """Means over an iteration's updates.

    Attributes:
        loss: what is minimised.
        error: the difference between values and targets, absolute, of placements with a target.
        value: the values of the moves that were played.
        told: share of the boards with a target for every placement.
    """

    loss: float
    error: float
    value: float
    told: float


def update(
    network: Network,
    target_network: Network,
    optimiser: Optimiser,
    replay: Replay,
    count: int,
    importance: float,
    geometry: Geometry,
    config: DQNConfig,
    rng: np.random.Generator,
) -> Losses:
    """Update the network on batches from the replay; the loss counts at every round of the body.

    Args:
        network: with the head `q`.
        target_network: follows it.
        optimiser: of the network's parameters.
        replay: what was played.
        count: updates, at least 1.
        importance: beta, see `Replay.sample`.
        geometry: the boards' units.
        config: batch size, targets and weights.
        rng: draws the batches.

    Returns:
        Means over the updates.
    """
    network.train()
    sums, thinking = np.zeros(4), Thinking(config, geometry)
    for _ in range(count):
        rows = thinking.vacant
        if len(rows):
            batch = replay.sample(len(rows), importance, rng)
            targets = targets_of(batch.moves, network, target_network, geometry, config)
            thinking.begin(rows, batch, targets)
        found, states = _every_round(network, thinking, geometry)
        loss = loss_of(found, thinking.targets, thinking.weights, config)
        optimiser.step(loss)
        follow(target_network, network, config.targets.polyak)
        values = as_values(found[-1].detach(), config).numpy()
        errors = thinking.advance(values, states, rng)
        replay.set_errors(thinking.index, errors.max(1))
        of_moves = values[np.arange(len(values)), thinking.actions].mean()
        mean_error = errors.sum() / thinking.targets.known.sum()
        sums += [loss.item(), mean_error, of_moves, thinking.targets.is_told.mean()]
    network.eval()
    return Losses(*(sums / count).tolist())


def _every_round(
    network: Network, thinking: Thinking, geometry: Geometry
) -> tuple[Tensor, list[RecurrentState]]:
    """Return what the network says after each round, `[R, B, N**3]`, and where it stopped."""
    boards, masks = torch.from_numpy(thinking.boards), torch.from_numpy(thinking.masks)
    if not thinking.goes_on:
        return network.forward_all_rounds(boards, masks, geometry)[HEAD], []
    features = network.body(
        boards, masks, geometry, all_rounds=True, recurrent_states=thinking.recurrent_states
    )
    return network.heads[HEAD](features), features.recurrent_states


def loss_of(
    found: Tensor, wanted: Targets, weights: NDArray[np.float32], config: DQNConfig
) -> Tensor:
    """Return the loss, averaged over rounds and boards.

    Args:
        found: float32 `[R, B, N**3]`, what the network says after each round.
        wanted: the targets.
        weights: float32 `[B]`.
        config: `values` decides between cross entropy (`solvable`) and Huber's loss (`plain`).

    Returns:
        The sum over the placements with a target, weighed, a tensor of one number.
    """
    known, targets = torch.from_numpy(wanted.known), torch.from_numpy(wanted.values)
    # What the network says of illegal placements, -1e9, is no part of it.
    given = torch.where(known, found, 0.0), targets.expand_as(found)
    if config.values == "solvable":
        each = functional.binary_cross_entropy_with_logits(*given, reduction="none")
    else:
        each = functional.smooth_l1_loss(*given, reduction="none")
    return ((each * known).sum(-1) * torch.from_numpy(weights)).mean()


def follow(target_network: Network, network: Network, share: float) -> None:
    """Move the weights of the target network towards the network's by a share of the way."""
    with torch.no_grad():
        pairs = zip(target_network.parameters(), network.parameters(), strict=True)
        for behind, ahead in pairs:
            behind.lerp_(ahead, share)
