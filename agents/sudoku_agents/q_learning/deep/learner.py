"""Deep Q-learning as a learner: games, a replay, updates, and a target network.

Sources: Mnih et al., "Human-level control through deep reinforcement learning" (2015); van Hasselt
et al. (2016) for `double`; Wang et al. (2016) for `dueling`; Schaul et al. (2016) for `priority`;
Hessel et al., "Rainbow" (2018), for putting them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import ceil

from sudoku_agents.q_learning.deep.agent import HEAD, make_q_network
from sudoku_agents.q_learning.deep.config import DQNConfig
from sudoku_agents.q_learning.deep.games import DQNGames, DQNPlayer
from sudoku_agents.q_learning.deep.replay import TransitionReplay
from sudoku_agents.q_learning.deep.updates import ReplayBatch
from sudoku_curricula import curves
from sudoku_gym.puzzles.sources import Blanks
from sudoku_learning.networks import NetworkPolicy
from sudoku_learning.networks.network import seeded
from sudoku_learning.recurrent import run_updates
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

Q_LOSS = "losses/q_loss"
"""Loss of the action values."""
Q_ERROR = "losses/q_error"
"""Mean absolute error of the action values."""
Q_VALUE = "losses/q_value"
"""Action values of the moves trained on, averaged."""
_TARGET = "target."


class DQNLearner(SamplingLearner):
    """Learns action values from its own games."""

    def __init__(self, config: DQNConfig, random: RunGenerators) -> None:
        self.config = config
        self._geometry = geometry_of_env(config.env)
        make = partial(make_q_network, config, self._geometry)
        seed = int(random.numpy.integers(2**32))
        self.network = seeded(seed, make).eval()
        self.target_network = seeded(seed, make).train()  # as many rounds as in training
        self.optimizer = Optimizer(self.network, config.optimizer)
        self.replay = TransitionReplay(
            config.replay.capacity, self._geometry.size, config.replay.priority
        )
        self.sampler = make_sampler(partial(DQNPlayer, config), config.ray)

    def learn(self, blanks: Blanks, random: RunGenerators, progress: Progress) -> Report:
        """Play games with the given numbers of blanks, and update the network."""
        config, rng = self.config, random.numpy
        tasks = split_games(config.games, blanks, config.ray, rng)
        games = DQNGames.concatenate(self.sampler.sample(self.network.state_dict(), tasks))
        self.replay.add(games.transitions)
        self.optimizer.schedule(progress.share)
        first, last = config.replay.importance, config.replay.last_importance
        beta = first + (last - first) * progress.share
        networks = self.network, self.target_network
        batch = ReplayBatch(*networks, self.replay, self._geometry, config, beta, rng)
        count = ceil(config.updates.passes * len(games.transitions) / config.optimizer.batch_size)
        means = run_updates(self.network, self.optimizer, [batch] * count)
        return Report(
            steps=len(games.transitions),
            curves={
                curves.EPISODIC_RETURN: float(games.returns.mean()),
                curves.EPISODIC_LENGTH: float(games.lengths.mean()),
                curves.LEARNING_RATE: self.optimizer.learning_rate,
                Q_LOSS: means["loss"],
                Q_ERROR: means["error"],
                Q_VALUE: means["value"],
            },
            columns={
                "loss": f"{means['loss']:.4f}",
                "error": f"{means['error']:.3f}",
                "hindsight": f"{means['hindsight']:.1%}",
                "sampled": f"{games.solved.mean():.1%}",
            },
        )

    def policy(self) -> NetworkPolicy:
        """Return the greedy policy."""
        return NetworkPolicy(self.network, HEAD)

    def state(self) -> LearnerState:
        """Return weights, optimizer, target network and replay."""
        own = self.optimizer.state()
        target_weights = self.target_network.state_dict()
        tensors = own.tensors | {
            f"{_TARGET}{name}": value for name, value in target_weights.items()
        }
        return replace(own, tensors=tensors, arrays=self.replay.arrays())

    def restore(self, state: LearnerState) -> None:
        """Restore the state of a learner with the same configuration."""
        own = {n: value for n, value in state.tensors.items() if not n.startswith(_TARGET)}
        target_weights = {
            n.removeprefix(_TARGET): v for n, v in state.tensors.items() if n.startswith(_TARGET)
        }
        self.optimizer.restore(replace(state, tensors=own))
        self.target_network.load_state_dict(target_weights)
        self.replay.restore(state.arrays)


def main(argv: Sequence[str] | None = None) -> int:
    """Train from the command line, see `DQNConfig`; return 0, for the shell."""
    return train_cli(DQNConfig, DQNLearner, "dqn", argv)
