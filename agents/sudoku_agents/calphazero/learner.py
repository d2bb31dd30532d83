"""cAlphaZero as a learner: self-play with tree search, and updates from its replay.

Source: cAlphaZero (Agarwal et al.), Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.calphazero.config import CAlphaZeroConfig
from sudoku_agents.calphazero.policy import CAlphaZeroPolicy
from sudoku_agents.calphazero.replay import PositionReplay, Positions
from sudoku_agents.calphazero.self_play import SelfPlayer, SelfPlayGames
from sudoku_curricula import curves
from sudoku_gym.board.actions import legal_placements
from sudoku_gym.geometry import Geometry, symmetry
from sudoku_gym.puzzles.sources import Blanks
from sudoku_learning.networks import POLICY_AND_VALUE, Network
from sudoku_learning.networks.network import seeded
from sudoku_learning.training import (
    LearnerState,
    Optimizer,
    Progress,
    Report,
    RunGenerators,
    train_cli,
)
from sudoku_learning.training.environments import geometry_of_env
from sudoku_learning.training.sampling import SamplingLearner, make_sampler, split_games


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


class CAlphaZeroLearner(SamplingLearner):
    """Learns from its own games."""

    metrics = ("policy_accuracy",)

    def __init__(self, config: CAlphaZeroConfig, random: RunGenerators) -> None:
        self.config = config
        self._geometry = geometry_of_env(config.env)
        make = partial(Network, config.network, POLICY_AND_VALUE, self._geometry)
        self.network = seeded(int(random.numpy.integers(2**32)), make).eval()
        self.optimizer = Optimizer(self.network, config.optimizer)
        self.replay = PositionReplay(config.replay_iterations)
        self.sampler = make_sampler(partial(SelfPlayer, config), config.ray)

    def learn(self, blanks: Blanks, random: RunGenerators, progress: Progress) -> Report:
        """Play games with the given numbers of blanks, and update the network."""
        config = self.config
        tasks = split_games(config.games, blanks, config.ray, random.numpy)
        games = SelfPlayGames.concatenate(self.sampler.sample(self.network.state_dict(), tasks))
        self.replay.add(games.positions)
        self.optimizer.schedule(progress.share)
        means = update_network(
            self.network,
            self.optimizer,
            self.replay.all(),
            len(games.positions),
            self._geometry,
            config,
            random.numpy,
        )
        return Report(
            steps=int(games.lengths.sum()),
            curves={
                curves.POLICY_ACCURACY: means.accuracy,
                curves.EPISODIC_RETURN: float(games.returns.mean()),
                curves.EPISODIC_LENGTH: float(games.lengths.mean()),
                curves.POLICY_LOSS: means.policy,
                curves.VALUE_LOSS: means.value,
                curves.ENTROPY: means.entropy,
                curves.LEARNING_RATE: self.optimizer.learning_rate,
            },
            columns={
                "policy": f"{means.policy:.3f}",
                "value": f"{means.value:.4f}",
                "sampled": f"{games.solved.mean():.1%}",
            },
            metrics={"policy_accuracy": (round(means.accuracy * means.positions), means.positions)},
        )

    def policy(self) -> CAlphaZeroPolicy:
        """Return the policy without search."""
        return CAlphaZeroPolicy(self.network)

    def state(self) -> LearnerState:
        """Return weights, optimizer and replay."""
        return replace(self.optimizer.state(), arrays=self.replay.arrays())

    def restore(self, state: LearnerState) -> None:
        """Restore the state of a learner with the same configuration."""
        self.optimizer.restore(state)
        self.replay.restore(state.arrays)


def main(argv: Sequence[str] | None = None) -> int:
    """Train from the command line, see `CAlphaZeroConfig`; return 0, for the shell."""
    return train_cli(CAlphaZeroConfig, CAlphaZeroLearner, "calphazero", argv)
