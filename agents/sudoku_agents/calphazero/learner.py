"""cAlphaZero as a learner: self-play with tree search, and updates from its replay.

Source: cAlphaZero (Agarwal et al.), Algorithm 1.
"""

from __future__ import annotations

from functools import partial
from math import ceil

import numpy as np
import torch
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
from sudoku_learning.training import Optimizer, Progress, Report, RunGenerators, train_cli
from sudoku_learning.training.environments import geometry_of_env
from sudoku_learning.training.sampling import SamplingLearner, make_sampler


def update_network(
    network: Network,
    optimizer: Optimizer,
    positions: Positions,
    updates: int,
    geometry: Geometry,
    config: CAlphaZeroConfig,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Update the network on batches drawn with replacement; the loss counts at every round.

    `rng` draws the batches and the symmetries. Returns means over the updates: `policy`, the cross
    entropy of the network's policy against the search's, and its `entropy`, in nats; the squared
    error of the `value`; and `accuracy`, the share of first choices that are (among) the search's,
    Algorithm 1's alpha.
    """
    weights = config.loss
    network.train()
    sums = np.zeros(4)
    for _ in range(updates):
        batch = positions[rng.integers(len(positions), size=config.optimizer.batch_size)]
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
        choices = found["policy"][-1].detach().argmax(1).numpy()
        agrees = policies[np.arange(len(policies)), choices] == policies.max(1)
        sums += [policy_loss.item(), value_loss.item(), entropy.item(), agrees.mean()]
    network.eval()
    return dict(
        zip(("policy", "value", "entropy", "accuracy"), (sums / updates).tolist(), strict=True)
    )


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


class CAlphaZeroLearner(SamplingLearner):
    """Learns from its own games."""

    metrics = ("policy_accuracy",)

    def __init__(self, config: CAlphaZeroConfig, random: RunGenerators) -> None:
        self.config = config
        self.actions = config.search.actions
        self._geometry = geometry_of_env(config.env)
        make = partial(Network, config.network, POLICY_AND_VALUE, self._geometry)
        self.network = seeded(int(random.numpy.integers(2**32)), make).eval()
        self.optimizer = Optimizer(self.network, config.optimizer)
        self.replay = PositionReplay(config.replay_iterations)
        self.sampler = make_sampler(partial(SelfPlayer, config), config.ray)

    def learn(self, blanks: Blanks, random: RunGenerators, progress: Progress) -> Report:
        """Play games with the given numbers of blanks, and update the network."""
        config = self.config
        games: SelfPlayGames = self.sample(config.games, blanks, config.ray, random.numpy)
        self.replay.add(games.positions)
        self.optimizer.schedule(progress.share)
        batch_size, positions = config.optimizer.batch_size, self.replay.all()
        updates = ceil(config.loss.passes * len(games.positions) / batch_size)
        network, geometry, rng = self.network, self._geometry, random.numpy
        means = update_network(network, self.optimizer, positions, updates, geometry, config, rng)
        trained = updates * batch_size
        return Report(
            steps=int(games.lengths.sum()),
            curves={
                curves.POLICY_ACCURACY: means["accuracy"],
                curves.EPISODIC_RETURN: float(games.returns.mean()),
                curves.EPISODIC_LENGTH: float(games.lengths.mean()),
                curves.POLICY_LOSS: means["policy"],
                curves.VALUE_LOSS: means["value"],
                curves.ENTROPY: means["entropy"],
                curves.LEARNING_RATE: self.optimizer.learning_rate,
            },
            columns={
                "policy": f"{means['policy']:.3f}",
                "value": f"{means['value']:.4f}",
                "sampled": f"{games.solved.mean():.1%}",
            },
            metrics={"policy_accuracy": (round(means["accuracy"] * trained), trained)},
        )

    def policy(self) -> CAlphaZeroPolicy:
        """Return the policy without search."""
        return CAlphaZeroPolicy(self.network)


main = partial(train_cli, CAlphaZeroConfig, CAlphaZeroLearner, "calphazero")
"""Trains from the command line, see `train_cli`."""
