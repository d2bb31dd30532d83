"""Deep Q-learning as a learner: games, a replay, updates, and a target network.

Sources: Mnih et al., "Human-level control through deep reinforcement learning" (2015); van Hasselt
et al. (2016) for double targets; Schaul et al. (2016) for `priority`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import ceil

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from sudoku_agents.dqn.agent import HEAD, make_q_network, play_threshold
from sudoku_agents.dqn.config import DQNConfig
from sudoku_agents.dqn.replay import TransitionReplay, Transitions
from sudoku_agents.dqn.updates import ReplayBatch
from sudoku_curricula import curves
from sudoku_gym.board.actions import sample_actions
from sudoku_gym.envs.vector import SudokuVectorEnv
from sudoku_gym.puzzles.sources import Blanks
from sudoku_learning.networks import FactorGraphBody, NetworkPolicy, Restarts
from sudoku_learning.networks.network import seeded
from sudoku_learning.recurrent import run_updates
from sudoku_learning.training import EMA, Optimizer, Progress, Report, RunGenerators, train_cli
from sudoku_learning.training.environments import geometry_of_env, training_envs
from sudoku_learning.training.sampling import Batch, SamplingLearner, SamplingTask, make_sampler


@dataclass(frozen=True)
class DQNGames(Batch):
    """G games."""

    transitions: Transitions  # of all games
    solved: NDArray[np.bool_]  # bool `[G]`
    returns: NDArray[np.float32]  # float32 `[G]`, the sums of rewards
    lengths: NDArray[np.int64]  # int64 `[G]`, moves


class DQNPlayer:
    """Plays tasks with a network of its own; a `sudoku_learning.training.sampling.Worker`."""

    def __init__(self, config: DQNConfig) -> None:
        self._config = config
        geometry = geometry_of_env(config.env)
        network, restarts = make_q_network(config, geometry), Restarts(config.sampling_restarts)
        self._policy = NetworkPolicy(network, HEAD, play_threshold(config), restarts)
        body = self._policy.network.body
        if isinstance(body, FactorGraphBody) and config.sampling_rounds is not None:
            body.rounds = min(config.sampling_rounds, body.rounds)

    def sample(self, weights: Mapping[str, Tensor], task: SamplingTask) -> DQNGames:
        """Play a task's games in parallel with these weights."""
        config = self._config
        self._policy.network.load_state_dict(dict(weights))
        envs = training_envs(
            config.env,
            task.games,
            reward=config.reward,
            end_at_dead_end=config.end_at_dead_end,
            actions=config.actions,
        )
        envs.set_blanks(task.blanks)
        return play_games(self._policy, envs, config, np.random.default_rng(task.seed))


def play_games(
    policy: NetworkPolicy, envs: SudokuVectorEnv, config: DQNConfig, rng: np.random.Generator
) -> DQNGames:
    """Play one new game on each of G boards, epsilon-greedily.

    `rng` seeds the puzzles and draws the random moves.
    """
    count = envs.num_envs
    boards, info = envs.reset(seed=int(rng.integers(2**32)))
    policy.reset(boards, envs.geometry, rng)
    epsilon = np.minimum(1.0, config.random_moves / info["blanks"])
    running, solved = info["action_mask"].any(1), np.zeros(count, np.bool_)
    board_history, action_history, reward_history, kept_history = [boards], [], [], []
    while running.any():
        masks = info["action_mask"].astype(np.bool_) & running[:, None]
        explores = rng.random(count) < epsilon
        actions = sample_actions(masks, rng)
        greedy = policy.act(boards, masks & ~explores[:, None])
        actions = np.where(explores | ~running, actions, greedy)
        latest = policy.last_convergence
        was_read = latest.rounds > 0 if latest else np.full(count, not policy.network.can_converge)
        kept_history.append([rng.random(count) < config.replay.kept, was_read])
        boards, rewards, terminated, truncated, info = envs.step(actions)
        board_history.append(boards)
        action_history.append(np.where(running, actions, -1))
        reward_history.append(np.where(running, rewards, 0))
        solved[running] = info["is_success"][running]
        running = running & ~(terminated | truncated)
    played, all_rewards = np.array(action_history), np.array(reward_history, np.float32)  # [T, G]
    lengths = (played >= 0).sum(0)
    transitions = transitions_of(
        np.array(board_history), played, all_rewards, lengths, solved, config.targets.discount
    )
    drawn, was_read = np.array(kept_history).swapaxes(0, 1)  # bool [T, G] each
    is_kept = (drawn | was_read & solved)[played >= 0]
    return DQNGames(transitions[is_kept], solved, all_rewards.sum(0), lengths)


def transitions_of(
    boards: NDArray[np.int8],
    actions: NDArray[np.int64],
    rewards: NDArray[np.float32],
    lengths: NDArray[np.int64],
    solved: NDArray[np.bool_],
    discount: float,
) -> Transitions:
    """Return the transitions of G games, move by move.

    Args:
        boards: int8 `[T + 1, G, N, N]`, before each move and after the last; boards after the
            end of a game are ignored.
        actions: int64 `[T, G]`, -1 after the end.
        rewards: float32 `[T, G]`.
        lengths: int64 `[G]`, numbers of moves.
        solved: bool `[G]`, games that ended solved.
        discount: gamma.
    """
    time, game = np.nonzero(actions >= 0)
    ends = np.where(solved[:, None, None], boards[lengths, np.arange(len(lengths))], np.int8(0))
    return Transitions(
        boards[time, game],
        actions[time, game],
        rewards[time, game],
        boards[time + 1, game],
        np.where(time + 1 == lengths[game], 0, discount).astype(np.float32),
        ends[game],
    )


Q_LOSS = "losses/q_loss"
"""Loss of the action values."""
Q_ERROR = "losses/q_error"
"""Mean absolute error of the action values."""
Q_VALUE = "losses/q_value"
"""Action values of the moves trained on, averaged."""


class DQNLearner(SamplingLearner):
    """Learns action values from its own games."""

    def __init__(self, config: DQNConfig, random: RunGenerators) -> None:
        self.config, self.actions = config, config.actions
        self._geometry = geometry_of_env(config.env)
        make = partial(make_q_network, config, self._geometry)
        self.network = seeded(int(random.numpy.integers(2**32)), make).eval()
        self.optimizer = Optimizer(self.network, config.optimizer)
        self.average = EMA(self.network, self.optimizer, 1 - config.targets.tau)
        self.replay = TransitionReplay(
            config.replay.capacity, self._geometry.size, config.replay.priority
        )
        self.sampler = make_sampler(partial(DQNPlayer, config), config.ray)

    def learn(self, blanks: Blanks, random: RunGenerators, progress: Progress) -> Report:
        """Play games with the given numbers of blanks, and update the network."""
        config, rng = self.config, random.numpy
        games: DQNGames = self.sample(config.games, blanks, config.ray, rng)
        self.replay.add(games.transitions)
        self.optimizer.schedule(progress.share)
        networks = self.network, self.played.train()  # the target network, with as many rounds
        batch = ReplayBatch(*networks, self.replay, self._geometry, config, rng)
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
                "games solved": f"{games.solved.mean():.1%}",
            },
        )

    def policy(self) -> NetworkPolicy:
        """Return the greedy policy."""
        return NetworkPolicy(self.played, HEAD, play_threshold(self.config))


main = partial(train_cli, DQNConfig, DQNLearner, "dqn")
"""Trains from the command line, see `train_cli`."""
