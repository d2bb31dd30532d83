"""The updates of the network on labelled boards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from sudoku_gym import board
from sudoku_gym.geometry import Geometry
from sudoku_gym.storage.configs import registered
from sudoku_learning.networks import Network
from sudoku_learning.networks.factor_graph import FactorGraphFeatures
from sudoku_learning.recurrent.boards import Thinking
from sudoku_learning.training import Optimiser
from sudoku_learning.training.optimiser import falling_rate

SPOILED = 6  # one board in so many is spoiled for the value to tell


@registered("thinking/updates")
@registered("expert-iteration/updates")  # the tag in files of the first release
@dataclass(frozen=True)
class UpdatesConfig:
    """The updates of an iteration."""

    count: int = 100
    """updates an iteration"""
    boards: int = 48
    """boards of 81 cells trained at once; more of smaller ones, fewer of larger ones"""
    segments: int = 16
    """how often the network may go on thinking about a board, so many rounds each time, before
    the board moves on without it"""
    linger: float = 0.5
    """chance that a board which is read right is thought about for another segment all the same:
    without it the network never learns to stay with what it has found"""
    learning_rate: float = 4e-3
    """of Adam, until `constant_share` of the iterations are done; from there it falls to 0"""
    constant_share: float = 0.4
    """share of the iterations before the learning rate begins to fall"""
    policy_weight: float = 0.4
    """weight of the policy's loss beside that of the single placements"""
    max_gradient_norm: float = 1.0
    """gradients longer than this are shortened to it"""

    def __post_init__(self) -> None:
        """Check the values."""
        for name in ("count", "boards", "segments"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("learning_rate", "max_gradient_norm"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")
        if not 0 <= self.linger <= 1:
            raise ValueError(f"linger must lie in [0, 1], not {self.linger}")
        if not 0 <= self.constant_share < 1:
            raise ValueError(f"constant_share must lie in [0, 1), not {self.constant_share}")
        if self.policy_weight < 0:
            raise ValueError(f"policy_weight must not be negative, but is {self.policy_weight}")

    def learning_rate_at(self, done: float) -> float:
        """Return the learning rate when a share `done` of the run is over, in [0, 1]."""
        return self.learning_rate * falling_rate(done, self.constant_share)


@dataclass(frozen=True)
class Losses:
    """Means over an iteration's updates.

    Attributes:
        placements: binary cross entropy of the legal placements, nats a board, divided by 100.
        policy: cross entropy of the policy, nats.
        value: squared error of the value; 0 where the network has no such head.
        read: share of the boards that were read right as a whole after a segment.
        boards: how many boards were trained, each segment counted.
    """

    placements: float
    policy: float
    value: float
    read: float
    boards: int


class Stream(NamedTuple):
    """The boards of an environment under training, and its share of the updates."""

    geometry: Geometry
    thinking: Thinking
    share: float


def update(
    network: Network,
    optimiser: Optimiser,
    streams: Sequence[Stream],
    config: UpdatesConfig,
    rng: np.random.Generator,
) -> Losses:
    """Update the network, on one environment's boards at a time.

    Args:
        network: with a factor-graph body, the head `policy`, and perhaps `value`.
        optimiser: of the network's parameters.
        streams: the boards of each environment.
        config: how many updates, and the weights of the loss.
        rng: draws the environments.

    Returns:
        Means over the updates.
    """
    network.train()
    shares = np.array([stream.share for stream in streams])
    sums, boards = np.zeros(4), 0
    for which in rng.choice(len(streams), config.count, p=shares / shares.sum()):
        stream = streams[which]
        sums += _update_once(network, optimiser, stream, config, rng)
        boards += len(stream.thinking.boards)
    network.eval()
    placements, policy, value, read = (sums / config.count).tolist()
    return Losses(placements, policy, value, read, boards)


def _update_once(
    network: Network,
    optimiser: Optimiser,
    stream: Stream,
    config: UpdatesConfig,
    rng: np.random.Generator,
) -> tuple[float, float, float, float]:
    geometry, thinking = stream.geometry, stream.thinking
    boards, masks = torch.from_numpy(thinking.boards), torch.from_numpy(thinking.masks)
    features = network.body(
        boards, masks, geometry, all_rounds=True, recurrent_states=thinking.recurrent_states
    )
    logits: Tensor = network.heads["policy"](features)
    right = torch.from_numpy(thinking.right)
    placements, policy = placement_losses(logits, masks, right)
    value = torch.zeros(())
    if "value" in network.heads:
        value = _value_loss(network, geometry, thinking, features, rng)
    optimiser.step(placements + config.policy_weight * policy + value)
    last = logits[-1].detach().numpy()
    read = thinking.advance(last, features.recurrent_states)
    return placements.item(), policy.item(), value.item(), read


def placement_losses(logits: Tensor, masks: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Return the two parts of the loss, averaged over rounds and boards.

    Args:
        logits: float32 `[R, B, N**3]`, far below the others where illegal.
        masks: bool `[B, N**3]`, the legal placements.
        right: bool `[B, N**3]`, those of the solution; at least one a board.

    Returns:
        The binary cross entropy of the legal placements, summed over a board and divided by 100,
        and the cross entropy of the policy, minus the log of the softmax mass on right placements.
    """
    single = functional.binary_cross_entropy_with_logits(
        logits, right.to(logits.dtype).expand_as(logits), reduction="none"
    )
    single = (single * masks).sum(-1) / 100
    mass = torch.logsumexp(logits.masked_fill(~right, -torch.inf), -1)
    policy = torch.logsumexp(logits, -1) - mass
    return single.mean(), policy.mean()


def _value_loss(
    network: Network,
    geometry: Geometry,
    thinking: Thinking,
    features: FactorGraphFeatures,
    rng: np.random.Generator,
) -> Tensor:
    """The squared error of the value: 1 for boards under training, 0 for spoiled ones.

    The value only looks on: no derivative goes back into the body.
    """
    head = network.heads["value"]
    good = (1 - head(_last_round(features))).square().mean()
    boards = spoiled(thinking, max(1, len(thinking.boards) // SPOILED), rng)
    if not len(boards):
        return good
    masks = board.candidates(boards, geometry).reshape(len(boards), -1)
    with torch.no_grad():
        lost = network.body(torch.from_numpy(boards), torch.from_numpy(masks), geometry)
    return (good + head(_last_round(lost)).square().mean()) / 2


def spoiled(thinking: Thinking, count: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """Return some of the boards with a wrong digit, which has cost them their solution.

    Returns:
        int8 `[count, N, N]`; none, where no board has a wrong placement that is legal.
    """
    wrong = thinking.masks & ~thinking.right
    rows = np.flatnonzero(wrong.any(1))
    if not len(rows):
        return thinking.boards[:0]
    rows = rng.choice(rows, count)
    placements = (rng.random(wrong[rows].shape) * wrong[rows]).argmax(1)
    boards = thinking.boards[rows]
    size = boards.shape[1]
    boards.reshape(count, -1)[np.arange(count), placements // size] = placements % size + 1
    return boards


def _last_round(features: FactorGraphFeatures) -> FactorGraphFeatures:
    """Return the features of the last round alone, detached."""
    return replace(
        features,
        placements=features.placements[-1:].detach(),
        constraints=features.constraints[-1:].detach(),
    )
