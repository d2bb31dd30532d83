"""cAlphaZero as a learner: self-play with tree search, and updates from its replay.

Source: cAlphaZero (Agarwal et al.), Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from sudoku_agents.calphazero.config import CAlphaZeroConfig
from sudoku_agents.calphazero.policy import CAlphaZeroPolicy
from sudoku_agents.calphazero.replay import PositionReplay
from sudoku_agents.calphazero.self_play import SelfPlayer, SelfPlayGames
from sudoku_agents.calphazero.updates import update_network
from sudoku_curricula import curves
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
