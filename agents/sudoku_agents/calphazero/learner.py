"""cAlphaZero as a learner: self-play with tree search, and updates from its replay.

Source: cAlphaZero (Agarwal et al.), Algorithm 1.
"""

from __future__ import annotations

from functools import partial
from math import ceil

from sudoku_agents.calphazero.batch import SelfPlayBatch
from sudoku_agents.calphazero.config import CAlphaZeroConfig
from sudoku_agents.calphazero.policy import CAlphaZeroPolicy, make_policy
from sudoku_agents.calphazero.self_play import PositionReplay, SelfPlayer
from sudoku_curricula import curves
from sudoku_gym.puzzles.sources import Blanks
from sudoku_learning.networks import POLICY_AND_VALUE, Network
from sudoku_learning.networks.network import seeded
from sudoku_learning.recurrent import run_updates
from sudoku_learning.training import Optimizer, Progress, Report, RunGenerators, train_cli
from sudoku_learning.training.environments import geometry_of_env
from sudoku_learning.training.optimizer import EMA
from sudoku_learning.training.sampling import SamplingLearner, make_sampler


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
        if config.average:
            self.average = EMA(self.network, self.optimizer, config.average)
        self.replay = PositionReplay(config.replay_iterations)
        self.sampler = make_sampler(partial(SelfPlayer, config), config.ray)

    def learn(self, blanks: Blanks, random: RunGenerators, progress: Progress) -> Report:
        """Play games with the given numbers of blanks, and update the network."""
        config = self.config
        games = self.sample(config.games, blanks, config.ray, random.numpy)
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
                "policy loss": f"{means['policy']:.3f}",
                "value loss": f"{means['value']:.4f}",
                "games solved": f"{games.solved.mean():.1%}",
            },
            metrics={"policy_accuracy": (round(means["accuracy"] * trained), trained)},
        )

    def policy(self) -> CAlphaZeroPolicy:
        """Return the policy without search or restarts."""
        return make_policy(self.played, None, None, None, 0, None)


main = partial(train_cli, CAlphaZeroConfig, CAlphaZeroLearner, "calphazero")
"""Trains from the command line, see `train_cli`."""
