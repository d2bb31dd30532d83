"""cAlphaZero as a learner: self-play with tree search, and updates from its replay.

Source: cAlphaZero (Agarwal et al.), Algorithm 1.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import ceil

from sudoku_agents.calphazero.batch import SelfPlayBatch
from sudoku_agents.calphazero.config import CAlphaZeroConfig
from sudoku_agents.calphazero.policy import CAlphaZeroPolicy
from sudoku_agents.calphazero.self_play import PositionReplay, SelfPlayer, SelfPlayGames
from sudoku_curricula import curves
from sudoku_gym.puzzles.sources import Blanks
from sudoku_learning.networks import POLICY_AND_VALUE, Network
from sudoku_learning.networks.network import seeded
from sudoku_learning.networks.policy import PLAY_THRESHOLD
from sudoku_learning.recurrent import run_updates
from sudoku_learning.training import Optimizer, Progress, Report, RunGenerators, train_cli
from sudoku_learning.training.environments import geometry_of_env
from sudoku_learning.training.learner import LearnerState
from sudoku_learning.training.optimizer import EMA
from sudoku_learning.training.sampling import SamplingLearner, make_sampler, split_games


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
        self._kept: Optimizer | EMA[Network] = self.optimizer
        if config.average:
            self._kept = EMA(self.network, self.optimizer, config.average)
        self.replay = PositionReplay(config.replay_iterations)
        self.sampler = make_sampler(partial(SelfPlayer, config), config.ray)

    def learn(self, blanks: Blanks, random: RunGenerators, progress: Progress) -> Report:
        """Play games with the given numbers of blanks, and update the network."""
        config = self.config
        tasks = split_games(config.games, blanks, config.ray, random.numpy)
        games = SelfPlayGames.concatenate(self.sampler.sample(self.played.state_dict(), tasks))
        self.replay.add(games.positions)
        self.optimizer.schedule(progress.share)
        batch_size, positions = config.optimizer.batch_size, self.replay.all()
        updates = config.updates or ceil(config.loss.passes * len(games.positions) / batch_size)
        batch = SelfPlayBatch(self.network, positions, self._geometry, config, random.numpy)
        means = run_updates(self.network, self.optimizer, [batch] * updates)
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

    @property
    def played(self) -> Network:
        """The network that searches and plays: the average of the weights, if there is one."""
        return self._kept.network if isinstance(self._kept, EMA) else self.network

    def state(self) -> LearnerState:
        """Return weights, optimizer and replay."""
        return replace(self._kept.state(), arrays=self.replay.arrays())

    def restore(self, state: LearnerState) -> None:
        """Restore the state of a learner with the same configuration."""
        self._kept.restore(state)
        self.replay.restore(state.arrays)

    def policy(self) -> CAlphaZeroPolicy:
        """Return the policy without search."""
        threshold = PLAY_THRESHOLD if self.network.can_converge else None
        return CAlphaZeroPolicy(self.played, threshold=threshold)


main = partial(train_cli, CAlphaZeroConfig, CAlphaZeroLearner, "calphazero")
"""Trains from the command line, see `train_cli`."""
